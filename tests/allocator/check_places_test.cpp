// Compares the model of PyTorch's allocator with PyTorch's recordings: every snapshot in the folder of real data, every
// device in it, each address and each segment. Also compares it with its own recordings after a change.
#include "allocator/reference/replay/check_places.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/query/device_requests.h"
#include "analysis/read/requests/replay_recorder.h"
#include "analysis/read/source/read_source.h"
#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {
namespace {

std::vector<std::filesystem::path> snapshots() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const auto folder = std::filesystem::path(named != nullptr ? named : "../shared/data") / "torch";
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".pickle") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

pytorch::Options options_of(const Trace& trace) {
  pytorch::Options options;
  options.expandable_segments =
      trace.streams.front().definitions().job_fact("torch.allocator.expandable_segments") == "True";
  return options;
}

TEST(CheckPlaces, snapshots_agree_address_by_address_and_segment_by_segment) {
  const auto files = snapshots();
  if (files.empty()) GTEST_SKIP() << "no snapshots of PyTorch (HBMSCOPE_DATA names the folder of real data)";
  for (const auto& file : files) {
    const auto source = read_source(file.string(), {});
    ASSERT_TRUE(source) << source.error().text();
    for (std::uint32_t device = 0;; ++device) {
      SCOPED_TRACE(file.string() + ", device " + std::to_string(device));
      const auto requests = find_device_requests(*source->trace, device);
      if (!requests) break;
      const auto checked = check_places(requests->stream, requests->places, options_of(*source->trace));
      ASSERT_TRUE(checked) << checked.error();
      if (checked->difference)
        ADD_FAILURE() << checked->difference->what << ": recorded " << checked->difference->recorded << ", replayed "
                      << checked->difference->replayed;
      EXPECT_EQ(checked->events, requests->places.regions.size());
      EXPECT_GT(checked->answers, 0U);
    }
  }
}

// Turns the events recorded by a replay into PyTorch's allocator back into a trace.
DeviceRequests recorded_again(const pytorch::Options& options, std::uint64_t device_bytes) {
  RequestStream stream = stream_of(R"({"config":{"total_bytes":1073741824}}
["a",1,20000000]
["a",2,30000000]
["a",3,3000]
["f",1]
["a",4,45000000]
["a",5,900000]
["f",2]
["a",6,60000000]
["f",3]
["a",7,4000]
)");
  stream.config.upstream.device_bytes = device_bytes;
  ReplayRecorder recorder("a.jsonl", options, "GPU_0_pytorch", stream, nullptr);
  Watcher* const watchers[] = {&recorder};
  play(stream, options, watchers);
  auto requests = find_device_requests(recorder.close(), {});
  EXPECT_TRUE(requests);
  return std::move(*requests);
}

TEST(CheckPlaces, a_recording_of_its_own_agrees_and_a_changed_one_does_not) {
  for (const bool is_expandable : {false, true}) {
    for (const std::uint64_t device_mib : {1024U, 130U}) {  // The smaller one has to give its cache back.
      pytorch::Options options;
      options.expandable_segments = is_expandable;
      options.device_bytes = std::uint64_t{device_mib} << 20;
      DeviceRequests recorded = recorded_again(options, options.device_bytes);
      const auto result = [&] { return *check_places(recorded.stream, recorded.places, options); };
      EXPECT_FALSE(result().difference) << result().difference->what;
      EXPECT_EQ(result().events, recorded.places.regions.size());
      const auto taken = std::find_if(recorded.places.addresses.rbegin(), recorded.places.addresses.rend(),
                                      [](std::uint64_t address) { return address != 0; });
      *taken += 512;
      EXPECT_EQ(result().difference.value_or(Difference{}).what.substr(0, 11), "the address");
      *taken -= 512;
      recorded.places.regions.back().claim.bytes += 512;
      EXPECT_EQ(result().difference.value_or(Difference{}).what.substr(0, 9), "a segment");
    }
  }
}

TEST(CheckPlaces, expandable_segments_from_before_the_first_event_are_refused) {
  RecordedPlaces places;
  places.is_expandable_before = true;
  EXPECT_FALSE(check_places({}, places, pytorch::Options{}));
}

}  // namespace
}  // namespace hbmscope::allocator
