// Snapshots in other forms than a pickle: JSON, and the pages of PyTorch's memory viewer.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/torch/json_document.h"
#include "analysis/read/torch/viewer_page.h"
#include "tests/analysis/torch_by_hand.h"

namespace hbmscope {
namespace {

constexpr std::string_view snapshot_text = R"({
  "segments": [{"device": 1, "address": 4096, "total_size": 1024, "segment_type": "small", "segment_pool_id": [0, 3],
                "is_expandable": false, "frames": [],
                "blocks": [{"size": 512, "requested_size": 300, "state": "active_allocated", "user_metadata": "kv cache",
                            "frames": [{"name": "step", "filename": "a.py", "line": 7}]},
                           {"size": 512, "state": "inactive"}]}],
  "device_traces": [[], [{"action": "alloc", "addr": 4096, "size": 300, "stream": 0, "time_us": 17, "frames": null},
                         {"action": "free_completed", "addr": 18446744073709551104, "size": 64.0}]],
  "allocator_settings": {"expandable_segments": false, "roundup_power2_divisions": {"256": 0}}
})";

std::string base64_of(const std::string& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<std::uint8_t>(bytes[j]) : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) out += digits[bits >> shift & 63];
  }
  const std::size_t missing = (3 - bytes.size() % 3) % 3;
  return out.replace(out.size() - missing, missing, missing, '=');
}

// As torch/cuda/_memory_viz.py writes it, padding included.
std::string page_of(std::string file) {
  file.append(3 - file.size() % 3, '\0');
  return "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nimport {add_local_files} from "
         "\"https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js\"\nconst local_files = "
         "[{\"name\": \"snapshot.pickle\", \"base64\": \"" +
         base64_of(file) + "\"}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n";
}

TEST(TorchJson, has_the_fields_of_a_pickle) {
  const auto snapshot = read(std::string(snapshot_text));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  ASSERT_EQ(snapshot->segments.size(), 1U);
  EXPECT_EQ(snapshot->segments.device[0], 1);
  EXPECT_EQ(snapshot->segments.total_bytes[0], 1024);
  EXPECT_EQ(snapshot->segments.type[0], TorchSegmentType::small);
  EXPECT_EQ(snapshot->segments.pool_second[0], 3U);
  ASSERT_EQ(snapshot->blocks.size(), 2U);
  EXPECT_EQ(snapshot->blocks.requested_bytes[0], 300);
  EXPECT_EQ(snapshot->text(snapshot->blocks.user_metadata[0]), "kv cache");
  const auto frames = snapshot->stack_frames(snapshot->blocks.stack[0]);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(snapshot->text(frames[0].function), "step");
  EXPECT_EQ(frames[0].line, 7);
  ASSERT_EQ(snapshot->traces.size(), 2U);
  const TorchTrace& trace = snapshot->traces[1];
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace.action[0], TorchAction::alloc);
  EXPECT_EQ(trace.time_us[0], 17);
  EXPECT_EQ(trace.address[1], 0xfffffffffffffe00U) << "an integer above 2^63";
  EXPECT_EQ(trace.size_bytes[1], 64) << "a number with a point";
  EXPECT_EQ(snapshot->settings.size(), 2U);
  EXPECT_EQ(snapshot->import.worst(), Severity::info);
}

TEST(TorchJson, may_be_the_list_of_segments_alone) {
  const auto snapshot =
      read(R"([{"device": 0, "address": 4096, "total_size": 512, "blocks": [{"size": 512, "state": "inactive"}]}])");
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->segments.size(), 1U);
  EXPECT_FALSE(snapshot->has_traces);
}

TEST(TorchJson, is_recognised_by_its_first_key) {
  for (const char* text : {R"({"segments": [)", R"( {"device_traces":[]})", "{\n  \"allocator_settings\": {}",
                           R"([{"address": 1)", "[\n {\n  \"device\": 0"})
    EXPECT_TRUE(torch::looks_like_json_snapshot(bytes_of(text))) << text;
  for (const char* text : {"", "{", "[", "{}", "[]", "[1]", R"({"traceEvents": [)", R"({"segmentsx": 1)",
                           R"("segments")", R"([{"name": 1)"})
    EXPECT_FALSE(torch::looks_like_json_snapshot(bytes_of(text))) << text;
}

TEST(TorchJson, that_is_cut_off_or_wrong_is_refused_with_the_byte) {
  const std::string whole(snapshot_text);
  for (std::size_t size = 20; size < whole.size(); size += 7) {
    const auto snapshot = read(whole.substr(0, size));
    ASSERT_FALSE(snapshot) << size;
    EXPECT_TRUE(snapshot.error().offset && *snapshot.error().offset <= size) << size;
    EXPECT_FALSE(snapshot.error().remedy.empty());
  }
  expect_error(R"({"segments": 5})", "not a memory snapshot");
  expect_error(R"({"segments": )" + std::string(5000, '['), "nests more than 4096 levels");
  EXPECT_TRUE(read(R"({"segments": [], "unknown": )" + std::string(4000, '[') + std::string(4000, ']') + "}"));
}

TEST(TorchPage, opens_as_the_pickle_in_it) {
  for (int blocks = 1; blocks < 5; ++blocks) {
    std::vector<std::string> all(static_cast<std::size_t>(blocks),
                                 block({{"user_metadata", text(std::string(static_cast<std::size_t>(blocks), 'x'))}}));
    const std::string pickle = snapshot_of({segment(all)}, {entry()});
    const std::string page = page_of(pickle);
    EXPECT_TRUE(looks_like_torch(bytes_of(page)));
    EXPECT_TRUE(looks_like_torch(bytes_of(page.substr(0, 400)))) << "the beginning of a compressed page";
    const auto snapshot = read(page), bare = read(pickle);
    ASSERT_TRUE(snapshot) << snapshot.error().text();
    ASSERT_TRUE(bare);
    EXPECT_EQ(snapshot->pickle_bytes, pickle.size()) << "without the padding";
    EXPECT_EQ(snapshot->file_bytes, page.size());
    EXPECT_EQ(snapshot->blocks.size(), bare->blocks.size());
    EXPECT_EQ(snapshot->traces[0].size(), 1U);
    EXPECT_EQ(snapshot->import.worst(), bare->import.worst());
  }
}

TEST(TorchPage, may_contain_json_or_a_zip) {
  const auto snapshot = read(page_of(std::string(snapshot_text)));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->blocks.size(), 2U);
}

TEST(TorchPage, that_is_damaged_is_refused_with_the_byte) {
  const std::string page = page_of(snapshot_of({segment({block()})}));
  const std::size_t begin = page.find("gAR");
  ASSERT_NE(begin, std::string::npos);
  expect_error(page.substr(0, begin + 40), "incomplete");
  expect_error(page.substr(0, begin - 20), "contains no snapshot");
  std::string changed = page;
  changed[begin + 9] = '#';
  const auto snapshot = read(changed);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().offset, begin + 9);
  expect_error(page_of("no snapshot"), "not like a PyTorch memory snapshot");
  EXPECT_FALSE(torch::looks_like_viewer_page(bytes_of("<html><body>a picture</body></html>")));
  EXPECT_FALSE(torch::looks_like_viewer_page(bytes_of("local_files")));
}

}  // namespace
}  // namespace hbmscope
