// Folders of --xla_dump_to: the files of one module are one program.
#include "analysis/read/source/dump_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/read/source/profile_folder.h"

namespace hbmscope {
namespace {

struct NameCase {
  std::string_view name, module;
  DumpContent content;
};

constexpr NameCase names[] = {
    {"module_0042.jit_step.cpu_after_optimizations.txt", "module_0042.jit_step", DumpContent::scheduled_text},
    {"module_0042.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb.gz", "module_0042.jit_step",
     DumpContent::module_with_assignment},
    {"module_0042.jit_step.cpu_after_optimizations-buffer-assignment.txt", "module_0042.jit_step",
     DumpContent::assignment_text},
    {"module_0042.jit_step.cpu_after_optimizations-memory-usage-report.pb", "module_0042.jit_step",
     DumpContent::usage_report},
    {"1700000000.module_0042.jit_step.cpu_after_optimizations-live-range.txt", "1700000000.module_0042.jit_step",
     DumpContent::live_ranges},
    {"module_0042.jit_step.before_optimizations.txt", "module_0042.jit_step", DumpContent::unscheduled_text},
    {"module_0042.jit_step.0007.fusion.after_dce.before_cse.txt", "module_0042.jit_step",
     DumpContent::unscheduled_text},
    {"module_0042.jit_step.before_optimizations.hlo.pb", "module_0042.jit_step", DumpContent::nothing},
    {"module_0042.jit_step.after_spmd_partitioner.hlo.pb", "module_0042.jit_step", DumpContent::nothing},
    {"module_0042.jit_step.thunk_sequence.txt", "module_0042.jit_step", DumpContent::nothing},
    {"module_0042.jit_step.ir-with-opt.ll", "module_0042.jit_step", DumpContent::nothing},
    {"small.serialized_buffer_assignment.pb.gz", "small", DumpContent::assignment},
    {"small.cpu_after_optimizations-buffer-assignment.txt.gz", "small", DumpContent::assignment_text},
    {"step.hlo.pb", "step", DumpContent::module_with_assignment},
    {"buffer-assignment.txt.gz", "", DumpContent::assignment_text},
};

TEST(DumpFolder, names_say_the_module_and_the_content) {
  for (const NameCase& each : names) {
    const auto name = parse_dump_name(each.name);
    ASSERT_TRUE(name) << each.name;
    EXPECT_EQ(name->module, each.module) << each.name;
    EXPECT_EQ(name->content, each.content) << each.name;
  }
  for (const char* other : {"heap.pb.gz", "a.txt", "module_x.jit.txt", "snapshot_0001.pickle", "run.0001.txt", "a.ll"})
    EXPECT_FALSE(parse_dump_name(other)) << other;
}

TEST(DumpFolder, the_most_complete_file_is_opened_and_the_others_are_named) {
  std::vector<std::string> files = {"d/module_0001.jit_f.cpu_after_optimizations.txt",
                                    "d/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt",
                                    "d/module_0001.jit_f.cpu_after_optimizations-live-range.txt",
                                    "d/module_0001.jit_f.serialized_buffer_assignment.pb",
                                    "d/module_0001.jit_f.ptx",
                                    "d/module_0002.jit_g.before_optimizations.txt",
                                    "d/module_0003.jit_h.cpu_after_optimizations.hlo.pb",
                                    "d/rank_0.pickle"};
  const DumpFolder folder = take_dumps(files);
  EXPECT_EQ(files, std::vector<std::string>{"d/rank_0.pickle"});
  ASSERT_EQ(folder.programs.size(), 2U);
  EXPECT_EQ(folder.programs[0].file, "d/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt");
  EXPECT_EQ(folder.programs[1].file, "d/module_0003.jit_h.cpu_after_optimizations.hlo.pb");
  EXPECT_EQ(
      folder.text(),
      "3 more dump files are of the same programs, and were not added up: "
      "module_0001.jit_f.serialized_buffer_assignment.pb, "
      "module_0001.jit_f.cpu_after_optimizations.txt, module_0001.jit_f.cpu_after_optimizations-live-range.txt; 2 "
      "dump files have nothing about memory");
}

TEST(DumpFolder, without_its_live_ranges_the_text_comes_after_the_message) {
  std::vector<std::string> files = {"small.cpu_after_optimizations-buffer-assignment.txt",
                                    "small.serialized_buffer_assignment.pb"};
  EXPECT_EQ(take_dumps(files).programs.at(0).file, "small.serialized_buffer_assignment.pb");
}

TEST(DumpFolder, texts_from_before_the_optimizations_open_if_there_is_nothing_else) {
  std::vector<std::string> files = {"module_0002.jit_g.before_optimizations.txt", "module_0002.jit_g.debug_options"};
  const DumpFolder folder = take_dumps(files);
  ASSERT_EQ(folder.programs.size(), 1U);
  EXPECT_EQ(folder.text(), "1 dump file has nothing about memory");
}

TEST(DumpFolder, files_with_no_name_but_their_kind_are_of_the_only_program) {
  std::vector<std::string> files = {"buffer-assignment.txt.gz", "memory-usage-report.pb.gz", "step.hlo.pb.gz"};
  const DumpFolder folder = take_dumps(files);
  ASSERT_EQ(folder.programs.size(), 1U);
  EXPECT_EQ(folder.programs[0].file, "step.hlo.pb.gz");
  EXPECT_EQ(folder.programs[0].others.size(), 2U);
}

TEST(DumpFolder, is_searched_for_programs_and_for_profiles) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("dumps_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"module_0001.jit_f.cpu_after_optimizations.txt", "module_0001.jit_f.ir-no-opt.ll",
                           "module_0010.jit_g.cpu_after_optimizations.txt", "live.prof", "job.log"})
    std::ofstream(folder / name) << "x";
  const auto found = find_profiles_in_folder(folder.string());
  for (const char* name : {"module_0001.jit_f.cpu_after_optimizations.txt",
                           "module_0010.jit_g.cpu_after_optimizations.txt", "live.prof", "job.log"})
    std::filesystem::remove(folder / name);
  const auto none = find_profiles_in_folder(folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "this folder has no file that hbmscope opens; 1 dump file has nothing about memory");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files.size(), 4U);
  EXPECT_EQ(found->left_out, "1 dump file has nothing about memory");
}

}  // namespace
}  // namespace hbmscope
