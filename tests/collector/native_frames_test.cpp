// Stacks from our own table reader: rules compared with readelf's, walks compared with backtrace().
#include "collector/inject/native_frames.h"

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "collector/inject/frame_rules.h"
#include "collector/inject/loaded_objects.h"

#if defined(__x86_64__)

namespace hbmscope {
namespace {

using inject::FrameRule;

struct Loaded {
  std::string path;
  std::uint64_t base = 0;
};

std::vector<Loaded> list_loaded() {
  std::vector<Loaded> all;
  const auto note = [](dl_phdr_info* object, std::size_t, void* data) {
    const std::string path =
        *object->dlpi_name == 0 ? std::filesystem::read_symlink("/proc/self/exe").string() : object->dlpi_name;
    if (path.starts_with("/")) static_cast<std::vector<Loaded>*>(data)->push_back({path, object->dlpi_addr});
    return 0;
  };
  dl_iterate_phdr(note, &all);
  return all;
}

// A row of readelf's: where, and what it prints of the registers.
struct Row {
  std::uint64_t place = 0;
  std::string cfa, frame_pointer = "u", stack_pointer = "u", return_address;
  bool is_of_signal = false;
};

std::vector<Row> read_rows(const std::string& path) {
  std::vector<Row> rows;
  const std::string command = "readelf -wF " + path + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> said(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> columns;
  std::set<std::string> of_signals;
  bool is_of_signal = false;
  std::uint64_t end = 0;  // The end of the function.
  std::array<char, 1024> line;
  while (std::fgets(line.data(), line.size(), said.get()) != nullptr) {
    std::istringstream words(line.data());
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (all.empty()) {
      columns.clear();
    } else if (all.size() > 4 && all[3] == "CIE") {
      end = 0;
      if (all[4].find('S') != std::string::npos) of_signals.insert(all[0]);
    } else if (all.size() > 4 && all[3] == "FDE") {
      end = std::strtoull(all.back().c_str() + all.back().find("..") + 2, nullptr, 16);
      is_of_signal = of_signals.contains(all[4].substr(4));
    } else if (all[0] == "LOC") {
      columns = all;
    } else if (all.size() == columns.size() && std::strtoull(all[0].c_str(), nullptr, 16) < end) {
      Row row;
      row.place = std::strtoull(all[0].c_str(), nullptr, 16);
      row.is_of_signal = is_of_signal;
      for (std::size_t i = 1; i < all.size(); ++i) {
        if (columns[i] == "CFA") row.cfa = all[i];
        if (columns[i] == "rbp") row.frame_pointer = all[i];
        if (columns[i] == "rsp") row.stack_pointer = all[i];
        if (columns[i] == "ra") row.return_address = all[i];
      }
      rows.push_back(row);
    }
  }
  return rows;
}

// The expected rule; for expressions readelf does not print which.
FrameRule wanted(const Row& row) {
  FrameRule rule;
  if (row.is_of_signal) return rule;
  if (row.return_address == "u") return {FrameRule::Kind::outermost, 0, 0};
  if (row.return_address != "c-8" || row.stack_pointer != "u") return rule;
  if (row.frame_pointer.starts_with("c-"))
    rule.frame_pointer_offset = std::atoi(row.frame_pointer.c_str() + 1);
  else if (row.frame_pointer != "u" && row.frame_pointer != "s")
    return rule;
  rule.cfa_offset = row.cfa.size() > 4 ? std::atoi(row.cfa.c_str() + 4) : 0;
  if (row.cfa.starts_with("rsp+")) rule.kind = FrameRule::Kind::from_stack_pointer;
  if (row.cfa.starts_with("rbp+")) rule.kind = FrameRule::Kind::from_frame_pointer;
  return rule;
}

TEST(FrameTables, say_of_every_row_what_readelf_says) {
  if (std::system("readelf --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "binutils' readelf is not installed";
  std::size_t rows = 0, realigned = 0, left = 0;
  for (const Loaded& loaded : list_loaded()) {
    int wrong = 0;
    for (const Row& row : read_rows(loaded.path)) {
      const FrameRule rule = inject::find_frame_rule(loaded.base + row.place), should = wanted(row);
      ++rows;
      if (rule.kind == FrameRule::Kind::realigned) ++realigned;
      if (row.cfa == "exp" && rule.kind == FrameRule::Kind::realigned) continue;
      if (should.kind == FrameRule::Kind::unknown) ++left;
      const bool is_same =
          rule.kind == should.kind &&
          (rule.kind == FrameRule::Kind::unknown ||
           (rule.cfa_offset == should.cfa_offset && rule.frame_pointer_offset == should.frame_pointer_offset));
      if (!is_same && ++wrong < 10)
        ADD_FAILURE() << loaded.path << " " << std::hex << row.place << ": " << row.cfa << " " << row.frame_pointer
                      << " is " << static_cast<int>(rule.kind) << " " << std::dec << rule.cfa_offset << " "
                      << rule.frame_pointer_offset;
    }
  }
  EXPECT_GT(rows, 50'000U);
#if !defined(__clang__)  // It aligns otherwise.
  EXPECT_GT(realigned, 0U);
#endif
  EXPECT_LT(left * 20, rows) << "what compilers make of functions is left to the unwinder";
}

TEST(FrameTables, know_nothing_of_what_is_no_code) {
  int here = 0;
  for (const std::uint64_t code : {std::uint64_t{0}, std::uint64_t{4096}, reinterpret_cast<std::uint64_t>(&here),
                                   ~std::uint64_t{0}, std::uint64_t{1} << 63})
    EXPECT_EQ(inject::find_frame_rule(code).kind, FrameRule::Kind::unknown);
}

TEST(FrameRules, are_the_same_however_many_are_kept_and_whatever_was_unloaded) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
  const FrameRule rule = inject::find_frame_rule(here - 1);
  ASSERT_NE(rule.kind, FrameRule::Kind::unknown);
  const auto expect_it = [&](std::uint64_t unloads) {
    const FrameRule found = inject::FrameRules(unloads).of(here);
    EXPECT_EQ(found.kind, rule.kind);
    EXPECT_EQ(found.cfa_offset, rule.cfa_offset);
    EXPECT_EQ(found.frame_pointer_offset, rule.frame_pointer_offset);
  };
  for (const std::uint64_t unloads : {0UL, 1UL, 1UL << 17, 1UL << 33, 1UL}) expect_it(unloads);
  const inject::FrameRules rules(7);
  for (std::uint64_t address = 1 << 20; address < (1 << 20) + 300'000; ++address)
    EXPECT_EQ(rules.of(address).kind, FrameRule::Kind::unknown);
  expect_it(7);
}

// By design a rule is found as long as nothing was unloaded since: what lies there now is not looked at.
TEST(FrameRules, are_not_found_any_more_once_anything_was_unloaded) {
  void* library = dlopen(NATIVE_FRAMES_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto code = reinterpret_cast<std::uint64_t>(dlsym(library, "_ZN7library12take_at_loadEv")) + 1;
  ASSERT_NE(code, 1U);
  const auto kind_under = [&](std::uint64_t unloads) { return inject::FrameRules(unloads).of(code).kind; };
  for (const std::uint64_t unloads : {1000UL, 1000UL + (1UL << 17), 1000UL + (1UL << 20)})
    EXPECT_NE(kind_under(unloads), FrameRule::Kind::unknown);
  dlclose(library);
  ASSERT_EQ(inject::find_frame_rule(code - 1).kind, FrameRule::Kind::unknown) << "it is still there";
  EXPECT_NE(kind_under(1000), FrameRule::Kind::unknown);
  for (const std::uint64_t unloads : {1001UL, 1001UL + (1UL << 17), 1000UL + (1UL << 21)})
    EXPECT_EQ(kind_under(unloads), FrameRule::Kind::unknown);
}

// One walk by the tables, and libgcc's for comparison.
struct Seen {
  bool is_walked = false;
  std::vector<std::uint64_t> ours, theirs;
};
Seen seen;

__attribute__((noinline)) void look() {
  std::array<inject::StackFrame, 256> frames;
  inject::CodeStack stack{frames.data(), frames.size(), 3};
  seen = {};
  seen.is_walked = inject::walk_by_rules(stack);
  for (std::size_t i = 0; i < stack.count; ++i) seen.ours.push_back(frames[i].place + 1);
  std::array<void*, 256> addresses;
  const int depth = backtrace(addresses.data(), static_cast<int>(addresses.size()));
  for (int i = 0; i < depth; ++i)
    seen.theirs.push_back(reinterpret_cast<std::uint64_t>(addresses[static_cast<std::size_t>(i)]));
}

void expect_the_same(std::size_t frames_at_least) {
  ASSERT_TRUE(seen.is_walked);
  ASSERT_EQ(seen.ours.size(), seen.theirs.size());
  EXPECT_GE(seen.ours.size(), frames_at_least);
  // The innermost are two calls of one function.
  EXPECT_TRUE(std::equal(seen.ours.begin() + 1, seen.ours.end(), seen.theirs.begin() + 1));
}

volatile int after = 0;

__attribute__((noinline)) void descend(int levels) {
  if (levels > 0)
    descend(levels - 1);
  else
    look();
  after = after + 1;
}

__attribute__((noinline)) void with_room(std::size_t bytes, int levels) {
  auto* room = static_cast<volatile char*>(alloca(bytes));
  room[bytes - 1] = 1;
  if (levels > 0)
    with_room(bytes + 24, levels - 1);
  else
    look();
  after = after + room[bytes - 1];
}

#if defined(__clang__)
#define ALIGNS __attribute__((noinline))
#else
#define ALIGNS __attribute__((noinline, force_align_arg_pointer))
#endif
// Arguments on the stack, accessed through a register, because the stack is aligned below them.
ALIGNS void aligned(int levels, int a, int b, int c, int d, int e, int f, int g) {
  alignas(64) volatile char room[200];
  auto* more = static_cast<volatile char*>(alloca(static_cast<std::size_t>(100 + g)));
  room[7] = 1;
  more[f] = 1;
  if (levels > 0)
    aligned(levels - 1, b, a, d, c, f, e, g);
  else
    with_room(100, 3);
  after = after + room[7] + more[f] + a + b + c + d + e + g;
}

TEST(NativeFrames, of_functions_of_all_kinds_are_those_of_backtrace) {
  descend(40);
  expect_the_same(42);
  with_room(1000, 10);
  expect_the_same(12);
  aligned(5, 1, 2, 3, 4, 5, 6, 7);
  expect_the_same(10);
}

TEST(NativeFrames, go_through_the_c_library_handlers_and_threads) {
  std::array<int, 2> numbers{2, 1};
  std::qsort(numbers.data(), 2, sizeof(int), [](const void*, const void*) {
    descend(3);
    return 0;
  });
  expect_the_same(7);
  try {
    throw 1;
  } catch (int) {
    descend(2);
  }
  expect_the_same(4);
  std::thread([] { descend(2); }).join();
  expect_the_same(4);
  pthread_t thread;
  const auto run = [](void*) -> void* {
    aligned(1, 1, 2, 3, 4, 5, 6, 7);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, run, nullptr), 0);
  pthread_join(thread, nullptr);
  expect_the_same(6);
}

TEST(NativeFrames, of_a_signal_are_left_to_the_unwinder) {
  std::signal(SIGUSR1, [](int) { look(); });
  std::raise(SIGUSR1);
  EXPECT_FALSE(seen.is_walked);
  EXPECT_TRUE(seen.ours.empty());
  inject::UnwinderSearch unwinder;
  const auto look_into = [](dl_phdr_info* object, std::size_t, void* search) {
    static_cast<inject::UnwinderSearch*>(search)->look_into(*object, inject::file_name_of(object->dlpi_name));
    return 0;
  };
  dl_iterate_phdr(look_into, &unwinder);
  unwinder.publish();
  std::signal(SIGUSR1, [](int) {
    std::array<inject::StackFrame, 256> frames;
    inject::CodeStack stack{frames.data(), frames.size(), 3};
    inject::walk_code(stack);
    seen = {};
    for (std::size_t i = 0; i < stack.count; ++i) seen.ours.push_back(frames[i].place);
  });
  std::raise(SIGUSR1);
  EXPECT_GT(seen.ours.size(), 5U);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(NativeFrames, are_cut_where_there_is_no_room) {
  std::array<inject::StackFrame, 4> frames;
  inject::CodeStack stack{frames.data(), frames.size(), 3};
  EXPECT_TRUE(inject::walk_by_rules(stack));
  EXPECT_EQ(stack.count, 4U);
  EXPECT_TRUE(stack.is_cut);
}

}  // namespace
}  // namespace hbmscope

#endif
