// Writes a recording like that of a quiet job: ten events a second, a block closed every second.
//
//   small_recording FILE EVENTS [STREAMS]       STREAMS writers take turns, each on its own stream (1)
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "collector/wire/recording_file.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::wire {
namespace {

constexpr std::int64_t event_ns = 100'000'000, round_ns = 20'000'000;

// A pool of 16 GiB in one region. Sizes and stacks repeat like those of training steps.
class QuietJob {
 public:
  QuietJob(std::uint32_t stream, RecordingWriter& file)
      : random_(stream + 1), writer_(stream, [&file](const SharedBlock& block) { file.append(*block); }) {
    HeapRecord heap;
    heap.flags = heap_flag::has_regions | heap_flag::has_requested | heap_flag::has_addresses;
    heap.device = stream;
    heap_ = writer_.define_heap(heap, "GPU " + std::to_string(stream), "device");
    RegionGrowRecord region;
    region.address = base;
    region.size = std::uint64_t{16} << 30;
    region.heap = heap_;
    writer_.add(region, begin_ns);
  }
  StreamWriter& writer() { return writer_; }

  void step(std::int64_t time_ns) {
    time_ns += static_cast<std::int64_t>(random_() % 1'000'000);
    if (live_.size() > 200 || (!live_.empty() && random_() % 5 < 2)) {
      std::swap(live_[random_() % live_.size()], live_.back());
      writer_.free(heap_, live_.back(), 0, 0, time_ns);
      places_.push_back(live_.back());
      live_.pop_back();
      return;
    }
    AllocRecord block;
    if (places_.empty()) places_.push_back(base + next_place_++ * (std::uint64_t{32} << 20));
    block.address = places_.back();
    places_.pop_back();
    block.requested = (1 + random_() % 40) * 700'000;
    block.size = (block.requested + 511) / 512 * 512;
    block.heap = heap_;
    const auto line = static_cast<std::uint32_t>(random_() % 300);
    const std::uint32_t caller = writer_.define_stack(0, writer_.define_frame("main", "train.py", 12));
    block.stack =
        writer_.define_stack(caller, writer_.define_frame("layer_" + std::to_string(line / 10), "model.py", line));
    live_.push_back(block.address);
    writer_.alloc(block, time_ns);
  }

  static constexpr std::int64_t begin_ns = 7'000'000'000'000;

 private:
  static constexpr std::uint64_t base = 0x7f0000000000;
  std::mt19937_64 random_;
  StreamWriter writer_;
  std::uint32_t heap_ = 0;
  std::uint64_t next_place_ = 0;
  std::vector<std::uint64_t> live_, places_;
};

int run(const std::string& path, std::uint64_t events, std::uint32_t streams) {
  RecordingWriter file;
  file.open(path);
  std::vector<std::unique_ptr<QuietJob>> jobs;
  for (std::uint32_t stream = 0; stream < streams; ++stream) jobs.push_back(std::make_unique<QuietJob>(stream, file));
  std::uint64_t done = 0;
  for (std::int64_t now = QuietJob::begin_ns; done < events; now += round_ns) {
    if ((now - QuietJob::begin_ns) % event_ns == 0) jobs[done++ % streams]->step(now);
    for (const auto& job : jobs) job->writer().flush_if_older(now, block_age_ns_file);
  }
  for (const auto& job : jobs) job->writer().flush();
  if (const auto failure = file.finish()) {
    std::fprintf(stderr, "small_recording: %s: %s\n", path.c_str(), failure->c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace hbmscope::wire

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: small_recording FILE EVENTS [STREAMS]\n");
    return 2;
  }
  const auto number = [&](int at) { return std::strtoull(arguments[at], nullptr, 10); };
  return hbmscope::wire::run(arguments[1], number(2), count > 3 ? static_cast<std::uint32_t>(number(3)) : 1);
}
