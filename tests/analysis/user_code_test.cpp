#include "analysis/query/user_code.h"

#include <gtest/gtest.h>

#include "analysis/query/own_file.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/profile_from_trace.h"
#include "tests/analysis/profile_builder.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr const char* put = "device_put@/v/site-packages/jax/api.py:9;bind@/v/site-packages/jax/core.py:3";

TEST(UserCode, each_stack_counts_at_its_innermost_own_line) {
  ProfileBuilder builder;
  builder.sample(std::string("main@train.py:50;load@data.py:12;") + put, 100);
  builder.sample(std::string("main@train.py:60;") + put, 10);
  builder.sample("main@train.py:60", 1);
  builder.sample(put, 1000);
  builder.sample("", 5000);
  const std::vector<UserCodeRow> rows = compute_user_code(view_of(builder));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].frame.function, "load");
  EXPECT_EQ(rows[0].frame.line, 12);
  EXPECT_EQ(rows[0].through, "device_put") << "the outermost library function below it";
  EXPECT_EQ(rows[1].frame.line, 60);
  EXPECT_EQ(rows[1].weight.bytes, 11) << "a line is one row, whatever it calls";
  EXPECT_EQ(rows[1].through, "device_put");
  EXPECT_TRUE(rows[2].has_no_user_code()) << "last, though it is the largest";
  EXPECT_EQ(rows[2].weight.bytes, 1000);
  EXPECT_EQ(rows[2].place, UserCodeRow::Place::library_only);
  EXPECT_EQ(rows[3].place, UserCodeRow::Place::no_stack);
  EXPECT_EQ(rows[3].weight.bytes, 5000);
}

TEST(UserCode, names_what_a_line_calls_the_largest_first_and_no_native_templates) {
  ProfileBuilder builder;
  for (const auto& [name, bytes] : {std::pair("normal", 5), std::pair("full", 70), std::pair("zeros", 1)})
    builder.sample("step@train.py:9;" + std::string(name) + "@/v/site-packages/jax/api.py:9", bytes);
  builder.sample("load@train.py:3;_object* torch::TypeError_to_NotImplemented_<&f>(_object*)@??:0", 3);
  const std::vector<UserCodeRow> rows = compute_user_code(view_of(builder));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].weight.bytes, 76);
  EXPECT_EQ(rows[0].through, "full, normal and 1 more");
  EXPECT_EQ(rows[1].through, "");
}

TEST(UserCode, what_it_calls_is_not_the_interpreters_own) {
  ProfileBuilder builder;
  builder.sample("step@model.py:9;method_vectorcall@:0;THPVariable_mul@:0;empty@:0", 100);
  builder.sample("load@model.py:3;_PyEval_EvalFrameDefault@??:0", 10);
  const std::vector<UserCodeRow> rows = compute_user_code(view_of(builder));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].through, "THPVariable_mul");
  EXPECT_EQ(rows[1].through, "");
}

TEST(UserCode, adds_up_to_what_is_selected) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    for (const char* where : {"", "f3"}) {
      const ProfileView view = view_of(random_profile(seed), {.where = where});
      Weight sum;
      for (const UserCodeRow& own : compute_user_code(view)) sum += own.weight;
      EXPECT_EQ(sum, view.selected);
    }
  }
}

TEST(UserCode, of_inlined_lines_the_innermost_own_one) {
  const std::vector<UserCodeRow> rows =
      compute_user_code(view_of(ProfileBuilder().sample("main;outer@a.py:1+inner@b.py:2", 5)));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].frame.function, "inner");
}

// C++ of no known library between the person's program and the allocator, as PyTorch's snapshots with C++ frames have
// it: profiles (summary, flame graph) and traces (map, blocks) name one line.
TEST(UserCode, of_a_program_that_calls_other_code_is_the_programs_line_in_profiles_and_traces_alike) {
  TraceBuilder built;
  std::uint32_t stack = 0;
  const auto call = [&](const char* function, const char* file, std::uint32_t line) {
    stack = built.writer.define_stack(stack, built.writer.define_frame(function, file, line));
  };
  call("main", "/home/me/train.py", 20);
  call("apply", "/build/kernels/attention.cpp", 9);
  const std::uint32_t of_program = stack;
  stack = 0;
  call("start", "/build/kernels/main.cpp", 3);
  call("empty", "CUDACachingAllocator.cpp", 4);
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.alloc(heap, 0x1000, 512, of_program);
  built.alloc(heap, 0x2000, 256, stack);
  const auto view =
      make_view(std::make_shared<Profile>(profile_from_trace(built.trace, built.states_at())), ViewRequest());
  ASSERT_TRUE(view);
  const std::vector<UserCodeRow> rows = compute_user_code(*view);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].frame.file, "/home/me/train.py");
  EXPECT_EQ(rows[0].through, "apply");
  EXPECT_EQ(rows[1].frame.file, "/build/kernels/main.cpp") << "a program that is C++ has no other";
  const Definitions& definitions = built.trace.streams.front().definitions();
  EXPECT_EQ(user_code_text(definitions, of_program), "main  train.py:20");
  EXPECT_EQ(user_code_text(definitions, stack), "start  main.cpp:3");
}

constexpr const char* backward =
    "torch::autograd::python::PythonEngine::thread_init(int)@??:0;torch::autograd::Engine::thread_main(task)@??:0";

TEST(UserCode, of_backward_passes_is_the_autograd_thread) {
  const std::string started =
      std::string("__clone3@/home/builder/clone3.S:1;execute_native_thread_routine@thread48.o:0;") + backward;
  ProfileBuilder builder;
  builder.sample(started + ";at::native::mm(...)@??:0", 100);
  builder.sample(started + ";backward@/home/me/attention.py:7;at::empty(...)@??:0", 10);
  builder.sample("main@train.py:5;at::empty(...)@??:0", 1000);
  builder.sample(put, 5000);
  const std::vector<UserCodeRow> rows = compute_user_code(view_of(builder));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].frame.function, "main");
  EXPECT_EQ(rows[1].place, UserCodeRow::Place::autograd_thread) << "sorted among the lines";
  EXPECT_EQ(rows[1].label(), "(autograd thread)");
  EXPECT_EQ(rows[1].weight.bytes, 100);
  EXPECT_EQ(rows[2].frame.function, "backward") << "the person's own autograd function";
  EXPECT_EQ(rows[3].place, UserCodeRow::Place::library_only);
}

TEST(UserCode, of_a_thread_is_not_what_started_it) {
  TraceBuilder built;
  std::uint32_t starter = 0, engine = 0;
  const auto call = [&](std::uint32_t caller, const char* function, const char* file, std::uint32_t line) {
    return built.writer.define_stack(caller, built.writer.define_frame(function, file, line));
  };
  starter = call(0, "__clone3", "/home/builder/clone3.S", 81);
  starter = call(starter, "start_thread", "./nptl/pthread_create.c", 447);
  starter = call(starter, "execute_native_thread_routine", "/home/builder/src/thread.cc", 82);
  starter = call(starter, "_PyEval_EvalFrameDefault", "/home/builder/Python/ceval.c", 4000);
  engine =
      call(starter, "torch::autograd::Engine::thread_init(int, bool)", "/pytorch/torch/csrc/autograd/engine.cpp", 300);
  const std::uint32_t kernel = call(engine, "apply", "/home/me/kernels/attention.cpp", 9);
  built.heap("GPU 0", 0);
  built.writer.flush();
  const Definitions& definitions = built.trace.streams.front().definitions();
  EXPECT_EQ(user_code_text(definitions, starter), "(library code only)");
  EXPECT_EQ(user_code_text(definitions, engine), "(autograd thread)");
  EXPECT_EQ(user_code_text(definitions, kernel), "apply  attention.cpp:9");
  EXPECT_TRUE(find_own_place(definitions, engine).is_autograd_thread);
  EXPECT_FALSE(find_own_place(definitions, kernel).is_autograd_thread);
  EXPECT_FALSE(find_own_place(definitions, starter).is_autograd_thread);
}

TEST(UserCode, a_stack_without_any_file_is_no_stack) {
  const ProfileView view = view_of(ProfileBuilder()
                                       .sample("in use before the profile@<unknown>:0", 8)
                                       .sample("f@/usr/lib/python3.11/site-packages/jax/a.py:1", 4));
  const std::vector<UserCodeRow> rows = compute_user_code(view);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label(), "(library code only)");
  EXPECT_EQ(rows[0].weight.bytes, 4);
  EXPECT_EQ(rows[1].label(), "(no stack was recorded)");
  EXPECT_EQ(rows[1].weight.bytes, 8);
}

TEST(UserCode, of_native_lines_is_what_no_installed_library_has) {
  constexpr const char* program = "/home/me/train";
  EXPECT_EQ(owner_of_source("/home/me/train.cpp", program), FileOwner::code);
  EXPECT_EQ(owner_of_source("./train.cpp", program), FileOwner::code) << "built with relative paths";
  EXPECT_EQ(owner_of_source("/usr/include/c++/12/bits/vector.tcc", program), FileOwner::library);
  EXPECT_EQ(owner_of_source("/home/me/kernels.cpp", "/home/me/build/libkernels.so"), FileOwner::code);
  EXPECT_EQ(owner_of_source("./nptl/pthread_create.c", "/home/me/libc.so.6"), FileOwner::library);
  for (const char* library : {"/usr/lib/x86_64-linux-gnu/libfoo.so.1", "/lib64/libfoo.so",
                              "/home/me/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"})
    EXPECT_EQ(owner_of_source("/home/builder/foo/foo.cpp", library), FileOwner::library) << library;
}

}  // namespace
}  // namespace hbmscope
