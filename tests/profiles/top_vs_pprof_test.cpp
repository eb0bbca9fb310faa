// compute_top compared with `go tool pprof -top`: the same rows and figures, for every file, value type and filter.
#include <gtest/gtest.h>
#include <pprof.pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analysis/query/groups.h"
#include "analysis/query/top.h"
#include "analysis/read/pprof/read_pprof.h"
#include "tests/profiles/generator/generate_profile.h"
#include "tests/profiles/go_pprof.h"
#include "tests/profiles/oracle.h"
#include "tests/profiles/profile_files.h"

namespace hbmscope::test {
namespace {

namespace fs = std::filesystem;

// The name that pprof prints for a frame. It cleans paths ("a//b" is "a/b"), and a frame with neither function nor file
// has the name of its module.
std::string pprof_name(const Frame& frame, bool by_line) {
  std::string name = frame.function == "<no name>" ? "" : frame.function;
  std::string file = frame.file.empty() ? "" : fs::path(frame.file).lexically_normal().string();
  if (by_line && frame.line != 0) file += ":" + std::to_string(frame.line);
  if (!name.empty() && !file.empty()) name += " ";
  return name + file;
}

PprofTop our_top(const ProfileView& view, bool counts) {
  PprofTop top;
  for (const TopRow& row : compute_top(view)) {
    // pprof adds what the file says of executables of unknown size: -1 each.
    const auto value = [&](const Weight& weight) {
      return counts ? weight.count + weight.unknown : weight.bytes - weight.unknown;
    };
    const PprofRow figures{value(row.flat), value(row.cum)};
    if (figures == PprofRow{}) continue;  // pprof leaves out rows of nothing.
    PprofRow& sum = top[pprof_name(view.frames[static_cast<std::size_t>(row.frame)], view.request.by == FrameBy::line)];
    sum.flat += figures.flat;
    sum.cum += figures.cum;
  }
  return top;
}

void expect_same(const PprofTop& pprof, const PprofTop& ours) {
  int reported = 0;
  for (const auto& [name, row] : pprof) {
    const auto found = ours.find(name);
    if (found != ours.end() && found->second == row) continue;
    if (++reported > 5) break;
    ADD_FAILURE() << name << ": pprof " << row.flat << " / " << row.cum << ", ours "
                  << (found == ours.end()
                          ? "none"
                          : std::to_string(found->second.flat) + " / " + std::to_string(found->second.cum));
  }
  for (const auto& [name, row] : ours)
    if (!pprof.contains(name) && ++reported < 10)
      ADD_FAILURE() << name << ": only ours, " << row.flat << " / " << row.cum;
}

// `frames` is "-filefunctions" or "-lines". Returns how many rows pprof had.
std::size_t compare_with_pprof(const fs::path& file, ViewRequest request, const std::string& value_type, bool counts) {
  const auto profile = read_pprof(file.string());
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().text());
  if (!profile) return 0;
  std::vector<std::string> options = {request.by == FrameBy::line ? "-lines" : "-filefunctions"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) options.push_back(std::string(option) + value);
  };
  add("-focus=", request.focus);
  add("-ignore=", request.ignore);
  add("-hide=", request.hide);
  add("-show=", request.show);
  std::string messages, trace = "pprof";
  for (const std::string& option : options) trace += " " + option;
  SCOPED_TRACE(trace + " -sample_index=" + value_type + " " + file.string());
  const PprofTop pprof = run_go_pprof_top(file.string(), value_type, options, messages);
  EXPECT_EQ(messages.find("not understood"), std::string::npos) << messages;
  request.value_type = value_type;
  const auto view = make_view(std::make_shared<const Profile>(*profile), request);
  EXPECT_TRUE(view.has_value()) << (view ? "" : view.error().text());
  if (!view) return 0;
  expect_same(pprof, our_top(*view, counts));
  return pprof.size();
}

ViewRequest by_line() {
  ViewRequest request;
  request.by = FrameBy::line;
  return request;
}
ViewRequest filtered(std::string focus, std::string ignore = {}, std::string hide = {}, std::string show = {}) {
  ViewRequest request;
  request.focus = std::move(focus);
  request.ignore = std::move(ignore);
  request.hide = std::move(hide);
  request.show = std::move(show);
  return request;
}

std::vector<fs::path> all_files() {
  std::vector<fs::path> files = sample_files();
  std::string reason;
  for (const fs::path& file : real_files(reason)) files.push_back(file);
  return files;
}

#define SKIP_WITHOUT_GO() \
  if (!has_go_pprof()) GTEST_SKIP() << "no `go tool pprof` on this machine (Debian: golang-go)"

TEST(TopAndPprof, same_bytes_and_counts_by_function_and_line_for_every_file) {
  SKIP_WITHOUT_GO();
  for (const fs::path& file : all_files()) {
    EXPECT_GT(compare_with_pprof(file, {}, "space", false), 5U);
    EXPECT_GT(compare_with_pprof(file, by_line(), "space", false), 5U);
    EXPECT_GT(compare_with_pprof(file, {}, "allocations", true), 5U);
  }
}

TEST(TopAndPprof, same_focus_ignore_hide_and_show) {
  SKIP_WITHOUT_GO();
  std::vector<ViewRequest> requests = {
      filtered("train|main"),
      filtered("pxla\\.py"),  // Matches the file, not the function.
      filtered("", "backend_compile"),
      filtered("", "", "site-packages|dist-packages"),
      filtered("", "", "", "jit|call"),
      filtered("api\\.py", "compile"),  // One stack can match both.
      filtered("no function has this name"),
      filtered("", "."),
      filtered("jit", "", "^_", "[a-m]"),
  };
  requests.push_back(requests[3]);
  requests.back().by = FrameBy::line;
  std::vector<fs::path> files = all_files();
  std::size_t rows = 0;
  for (std::size_t i = 0; i < files.size(); ++i)  // Two expressions a file, so that the test stays short.
    for (std::size_t k = 0; k < 2; ++k)
      rows += compare_with_pprof(files[i], requests[(2 * i + k) % requests.size()], "space", false);
  for (const ViewRequest& request : requests)
    rows +=
        compare_with_pprof(fs::path(HBMSCOPE_SOURCE_DIR) / "samples/leak_step_200.pprof.gz", request, "space", false);
  EXPECT_GT(rows, 100U);
}

TEST(TopAndPprof, same_bytes_for_generated_profiles) {
  SKIP_WITHOUT_GO();
  const fs::path file = fs::path(::testing::TempDir()) / "hbmscope_generated.pb.gz";
  std::ofstream(file, std::ios::binary) << gzip_text(
      generate_profile({.samples = 3'000, .seed = 9, .unknown_executables = true}));
  EXPECT_GT(compare_with_pprof(file, {}, "space", false), 1'000U);
  EXPECT_GT(compare_with_pprof(file, filtered("attention", "", "flax"), "space", false), 1'000U);
  fs::remove(file);
}

// Four value types, inlined calls, numeric labels, a mapping; then the same with frames to drop.
TEST(TopAndPprof, same_bytes_for_a_go_heap_profile) {
  SKIP_WITHOUT_GO();
  const fs::path file = fs::path(::testing::TempDir()) / "hbmscope_go_heap.pb.gz";
  std::string reason;
  if (!write_go_heap_profile(file.string(), reason)) GTEST_SKIP() << "the Go program did not run: " << reason;

  const auto profile = read_pprof(file.string());
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  ASSERT_EQ(profile->value_types.size(), 4U);
  ASSERT_TRUE(profile->default_value_type.has_value());
  EXPECT_EQ(profile->text(profile->value_types[*profile->default_value_type].type), "alloc_space");
  EXPECT_FALSE(is_device_memory_profile(*profile));
  // Go labels most of its samples with the size of the block; which sample comes first is up to its hash table.
  std::size_t with_bytes = 0;
  for (const LabelSetIndex set : profile->label_set) with_bytes += find_label_text(*profile, set, "bytes") ? 1U : 0U;
  EXPECT_GT(with_bytes, 0U);
  EXPECT_FALSE(profile->mappings.empty());
  bool has_inlined = false;
  for (std::size_t i = 0; i < profile->location_count(); ++i)
    has_inlined = has_inlined || profile->location_lines(static_cast<LocationIndex>(i)).size() > 1;
  EXPECT_TRUE(has_inlined);
  const std::string message = *inflate_with_zlib(read_whole_file(file));
  for (const std::string& difference : compare_with_oracle(message, *profile)) ADD_FAILURE() << difference;

  for (const char* type : {"inuse_space", "alloc_space", "inuse_objects", "alloc_objects"}) {
    const bool counts = std::string_view(type).ends_with("objects");
    EXPECT_GT(compare_with_pprof(file, {}, type, counts), 4U);
    EXPECT_GT(compare_with_pprof(file, by_line(), type, counts), 4U);
  }
  for (const ViewRequest& request :
       {filtered("middle"), filtered("", "recurse"), filtered("", "", "main.inner"), filtered("", "", "main.middle"),
        filtered("", "", "", "main\\.[mo]"), filtered("go_heap\\.go")})
    compare_with_pprof(file, request, "inuse_space", false);

  // As in legacy formats: the allocator's own frames are to be left out.
  pprof::Profile parsed;
  ASSERT_TRUE(parsed.ParseFromString(message));
  const auto add_text = [&](const char* text) {
    parsed.add_string_table(text);
    return parsed.string_table_size() - 1;
  };
  for (const auto& [drop, keep] :
       {std::pair{"main\\.inner", ""}, std::pair{"main\\.(middle|inner)", ""}, std::pair{"main\\..*", "main\\.outer"},
        std::pair{"main\\.recurse|runtime\\..*", ""}}) {
    SCOPED_TRACE(std::string("drop_frames ") + drop + " keep_frames " + keep);
    parsed.set_drop_frames(add_text(drop));
    parsed.set_keep_frames(*keep == '\0' ? 0 : add_text(keep));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << parsed.SerializeAsString();
    EXPECT_GT(compare_with_pprof(file, {}, "inuse_space", false), 2U);
    EXPECT_GT(compare_with_pprof(file, by_line(), "inuse_space", false), 2U);
    compare_with_pprof(file, filtered("inner"), "alloc_space", false);
  }
  fs::remove(file);
}

// The totals that people see, against sums over protobuf's objects.
TEST(GroupsAndOracle, device_and_kind_add_up_exactly_in_every_file) {
  for (const fs::path& file : all_files()) {
    SCOPED_TRACE(file.string());
    const std::string message = *inflate_with_zlib(read_whole_file(file));
    const auto profile = read_pprof(file.string());
    ASSERT_TRUE(profile.has_value()) << profile.error().text();
    const auto view = make_view(std::make_shared<const Profile>(*profile), {});
    ASSERT_TRUE(view.has_value());
    for (const char* key : {"device", "kind", "no such label"}) {
      SCOPED_TRACE(key);
      const auto expected = oracle_sums_by_label(message, key);
      const auto rows = compute_groups(*view, key);
      EXPECT_EQ(rows.size(), expected.size());
      Weight sum;
      for (const GroupRow& row : rows) {
        SCOPED_TRACE(row.name.value_or("(without)"));
        ASSERT_TRUE(expected.contains(row.name));
        const OracleSum& oracle = expected.at(row.name);
        EXPECT_EQ(row.weight.bytes, oracle.bytes);
        EXPECT_EQ(row.weight.count, oracle.count);
        EXPECT_EQ(row.weight.unknown, oracle.unknown);
        EXPECT_EQ(oracle.unknown_bytes, -oracle.unknown);  // The comparison with pprof relies on this.
        sum += row.weight;
      }
      EXPECT_EQ(sum, view->total);
    }
  }
}

}  // namespace
}  // namespace hbmscope::test
