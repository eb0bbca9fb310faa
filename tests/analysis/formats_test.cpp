// The table of formats: a file's content decides its format; for a file of no known format its name decides the
// message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "analysis/read/source/formats.h"
#include "analysis/read/source/profile_folder.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope {
namespace {

class Formats : public testing::Test {
 protected:
  Formats() : folder_(std::filesystem::path(testing::TempDir()) / ("formats_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Formats() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string name_of_format(const std::string& text) const {
    auto file = InputFile::open(write("file", text), 1 << 20);
    const Format* format = file ? find_format(*file) : nullptr;
    return format != nullptr ? std::string(format->name) : "none";
  }
  std::string error_of(const std::string& name, const std::string& text) const {
    const auto source = read_source(write(name, text), {});
    return source ? "no error" : source.error().what + ". " + source.error().remedy;
  }

  const std::filesystem::path folder_;
};

TEST_F(Formats, each_has_a_name_of_its_own_and_all_that_a_person_needs) {
  std::set<std::string_view> names;
  for (const Format* each : all_formats()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_TRUE(each->name.starts_with("a ") || each->name.starts_with("an ")) << each->name;
    EXPECT_FALSE(each->hint.empty() || each->beginning.empty()) << each->name;
    EXPECT_TRUE(each->looks_like != nullptr && each->read != nullptr) << each->name;
    EXPECT_NE(std::string::npos, text_from_formats().find(each->name));
  }
}

TEST_F(Formats, content_decides_and_not_the_name) {
  EXPECT_EQ("a recording", name_of_format("hbmscope\1\0\0\0\0\0\0\0"));
  EXPECT_EQ("a PyTorch memory snapshot", name_of_format("\x80\x04N."));
  EXPECT_EQ("an RMM log", name_of_format("Thread,Time,Action,Pointer,Size,Stream\n"));
  EXPECT_EQ("a TPU workload", name_of_format("{\"hbmscope_tpu_workload\": 1, \"steps\": []}"));
  EXPECT_EQ("a trace of PyTorch's profiler", name_of_format("{\"schemaVersion\": 1, \"traceEvents\": []}"));
  EXPECT_EQ(
      "a log of a job that ran out of memory",
      name_of_format("step 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 16.50G of 15.75G hbm. "
                     "Exceeded hbm capacity by 767.00M.\n"));
  EXPECT_EQ("a pprof profile", name_of_format("\x0a\x04\x08\x01\x10\x02"));
  EXPECT_EQ("none", name_of_format("\x7f"
                                   "ELF\x02\x01\x01"));
}

TEST_F(Formats, a_file_of_another_content_is_refused_in_the_words_of_its_ending) {
  EXPECT_EQ(
      "this is not an RMM log: one begins with the line Thread,Time,Action,Pointer,Size,Stream. Use the file that "
      "rmm.enable_logging() wrote. hbmscope opens: " +
          text_from_formats() + ".",
      error_of("log.csv", "a,b,c\n1,2,3\n"));
  EXPECT_EQ(0U,
            error_of("a.trace.json", "something else").find("this is not a trace of PyTorch's profiler: one begins"));
  EXPECT_EQ(0U, error_of("job.hbm", "something else").find("this is not a recording: one begins with the letters"));
  EXPECT_EQ(0U, error_of("a.pickle", "something else").find("this is not a PyTorch memory snapshot: a pickle begins"));
  EXPECT_EQ("no error", error_of("train.log", "step 1\n"));
  const std::string unknown = error_of("train.py", "print('hello')\n");
  EXPECT_EQ(0U, unknown.find("this is plain text, without anything that hbmscope looks for. hbmscope opens: a TPU "))
      << unknown;
}

TEST_F(Formats, a_folder_has_logs_and_texts_only_without_anything_else) {
  write("notes.txt", "x");
  EXPECT_EQ(find_profiles_in_folder(folder_.string()).value().files.size(), 1);
  write("rank_0.log", "x");
  write("rank_1.err.gz", "x");
  EXPECT_EQ(find_profiles_in_folder(folder_.string()).value().files.size(), 2);
  write("a.pickle", "x");
  EXPECT_EQ(find_profiles_in_folder(folder_.string()).value().files.size(), 3);
}

TEST_F(Formats, folders_are_searched_for_endings_that_are_a_formats_alone) {
  for (const char* name : {"a.prof", "a.pprof", "a.pb.gz", "a.pickle", "a.pkl", "a.hbm", "a.trace.json.gz"})
    EXPECT_TRUE(looks_like_profile(name)) << name;
  for (const char* name : {"a.json", "a.csv", "a.txt", "a.log", "a.gz", "prof"})
    EXPECT_FALSE(looks_like_profile(name)) << name;
  const auto found = find_profiles_in_folder(folder_.string());
  ASSERT_FALSE(found);
  for (const Format* each : all_formats()) {
    if (each->endings.empty()) continue;
    EXPECT_NE(std::string::npos,
              found.error().remedy.find(std::string(each->endings.substr(0, each->endings.find(' ')))))
        << found.error().remedy;
  }
}

TEST_F(Formats, a_change_is_only_for_a_workload) {
  SourceOptions options;
  options.what_if = {{"layers", "3"}};
  const auto source = read_source(write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n"), options);
  ASSERT_FALSE(source);
  EXPECT_EQ("only a workload file can be changed", source.error().what);
}

}  // namespace
}  // namespace hbmscope
