// The cost of a request or a free in the reimplementation of XLA's allocator, with the largest free block known after
// each:
//   xla_gpu   allocator/reference/xla_gpu, configured by the stream;
//   ordered   the same in the order of streams (allocator/reference/stream_order), with one stream whose events are
//   done at once:
//             the cost of that layer, without driver calls;
//   maps      best fit with std::map and std::set, 256 B rounding, the obvious way;
//   floor     boundary tags, hash, size bins and a bitmap, given the addresses that maps found: decides nothing.
// The heap of maps and floor never refuses. Also measures the resident memory of pools of 1 GiB to 1 TiB with the same
// number of blocks.
//
//   allocator_bench [STREAM]     a stream of requests (JSON lines, plain or zstd); without: 200,000 requests of its own
#include <unistd.h>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "allocator/reference/replay/player.h"
#include "allocator/reference/stream_order/stream_ordered.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/requests/read_requests.h"
#include "tests/bench/boundary_tag_floor.h"
#include "tests/bench/heap_events.h"

namespace {

using namespace hbmscope;
using namespace hbmscope::allocator;
using bench::Event;

constexpr std::size_t live_blocks = 900;
constexpr int rounds = 5;

// Forty hot sizes and a tail, some hundred live blocks, the youngest usually freed first: a training job.
RequestStream make_stream(std::uint64_t total_bytes, std::size_t count) {
  std::mt19937_64 random(20261121);
  std::vector<std::uint64_t> hot;
  for (int i = 0; i < 40; ++i) hot.push_back(1 + (std::uint64_t{1} << random() % 26) * (random() % 7 + 1) / 2);
  RequestStream stream;
  stream.config.total_bytes = total_bytes;
  stream.config.is_spatial = true;
  std::vector<std::uint32_t> live, unused;
  while (stream.operations.size() < count) {
    const std::size_t phase = stream.operations.size() / 10 % (2 * live_blocks);
    const std::size_t wanted = live_blocks / 2 + (phase < live_blocks ? phase : 2 * live_blocks - phase);
    Operation operation;
    if (live.size() < wanted + random() % 2) {
      operation.request.bytes =
          random() % 10 < 9 ? hot[random() % hot.size()] : 1 + (random() % (1 << 24) >> random() % 16);
      operation.slot = unused.empty() ? stream.slots++ : unused.back();
      if (!unused.empty()) unused.pop_back();
      live.push_back(operation.slot);
    } else {
      if (random() % 2 == 0) std::swap(live[random() % live.size()], live.back());
      operation.is_free = true;
      operation.slot = live.back();
      live.pop_back();
      unused.push_back(operation.slot);
    }
    stream.operations.push_back(operation);
    stream.answers.emplace_back();
  }
  return stream;
}

// The same requests with best-fit addresses in a heap of 64 GiB; requests refused there are left out.
std::vector<Event> events_of(const RequestStream& stream) {
  bench::Maps maps(bench::heap_bytes_for(bench::usual_live));
  std::vector<Event> live(stream.slots);
  std::vector<Event> events;
  for (const Operation& operation : stream.operations) {
    Event& block = live[operation.slot];
    if (operation.is_free) {
      if (block.size_256 == 0) continue;
      maps.give_back(block.address, std::uint64_t{block.size_256} * 256);
      events.push_back({block.address, operation.slot, 0});
      block.size_256 = 0;
      continue;
    }
    const std::uint64_t bytes = xla_gpu::rounded_bytes(operation.request.bytes);
    const std::uint64_t address = bytes == 0 ? ~std::uint64_t{0} : maps.best_fit(bytes);
    if (address == ~std::uint64_t{0}) continue;
    maps.take(address, bytes);
    block = {address, operation.slot, static_cast<std::uint32_t>(bytes / 256)};
    events.push_back(block);
  }
  return events;
}

double ns_since(std::chrono::steady_clock::time_point start, std::size_t operations) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
         static_cast<double>(operations);
}

double run_maps(const std::vector<Event>& events, std::uint32_t slots, std::uint64_t& checksum) {
  bench::Maps maps(bench::heap_bytes_for(bench::usual_live));
  std::vector<Event> live(slots);
  const auto start = std::chrono::steady_clock::now();
  for (const Event& event : events) {
    if (event.size_256 != 0) {
      const std::uint64_t bytes = std::uint64_t{event.size_256} * 256;
      const std::uint64_t address = maps.best_fit(bytes);
      maps.take(address, bytes);
      live[event.row] = {address, event.row, event.size_256};
    } else {
      maps.give_back(live[event.row].address, std::uint64_t{live[event.row].size_256} * 256);
    }
    checksum = checksum * 31 + maps.largest();
  }
  return ns_since(start, events.size());
}

double run_floor(const std::vector<Event>& events, std::uint32_t slots, std::uint64_t& checksum) {
  bench::BoundaryTagFloor floor;
  std::vector<std::uint32_t> live(slots);
  const auto start = std::chrono::steady_clock::now();
  for (const Event& event : events) {
    if (event.size_256 != 0)
      live[event.row] = floor.take(event.address, std::uint64_t{event.size_256} * 256);
    else
      floor.give_back(live[event.row]);
    checksum = checksum * 31 + floor.largest();
  }
  return ns_since(start, events.size());
}

class DoneStreams final : public Streams {
 public:
  Event record(Stream) override { return nullptr; }
  bool is_done(Event) override { return true; }
  void wait(Event) override {}
  void forget(Event) override {}
  bool is_capturing(Stream) override { return false; }
};

double run_ordered(const RequestStream& stream, const xla_gpu::Options& options, std::uint64_t& checksum) {
  VirtualAddresses upstream(stream.config.upstream);
  DoneStreams streams;
  StreamOrdered pool(options, upstream, streams);
  std::vector<std::uint64_t> live(stream.slots);
  const auto start = std::chrono::steady_clock::now();
  for (const Operation& operation : stream.operations) {
    if (!operation.is_free)
      live[operation.slot] = pool.allocate(operation.request, nullptr).address;
    else if (live[operation.slot] != 0)
      pool.free(live[operation.slot], nullptr);
    checksum = checksum * 31 + pool.allocator().largest_free_bytes();
  }
  return ns_since(start, stream.operations.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure_speed_of(const RequestStream& stream) {
  const xla_gpu::Options options = options_of(stream.config, version_of(stream.config));
  const std::vector<Event> events = events_of(stream);
  const ReplayResult result = play(stream, options);
  std::printf("%zu operations through %s, %llu of them refused; %llu chunks at the end\n", stream.operations.size(),
              std::string(xla_gpu::rules_of(options.version).name).c_str(),
              static_cast<unsigned long long>(result.refused), static_cast<unsigned long long>(result.chunks));
  std::vector<double> xla, ordered, maps, floor, ratio;
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t maps_sum = 0, floor_sum = 0, ordered_sum = 0;
    xla.push_back(measure_speed(stream, options, 1)->ns_per_operation);
    ordered.push_back(run_ordered(stream, options, ordered_sum));
    maps.push_back(run_maps(events, stream.slots, maps_sum));
    floor.push_back(run_floor(events, stream.slots, floor_sum));
    ratio.push_back(xla.back() / floor.back());
    if (maps_sum != floor_sum) {
      std::printf("the largest free blocks of maps and floor differ\n");
      std::exit(1);
    }
  }
  std::printf("ns an operation, median of %d rounds, the largest free block known after each\n", rounds);
  std::printf(
      "  xla_gpu  %6.1f (target 130, or 2.2 of the floor)\n  ordered  %6.1f\n  maps     %6.1f\n  floor    %6.1f\n",
      median(xla), median(ordered), median(maps), median(floor));
  std::printf("  xla_gpu / floor %.2f, maps / xla_gpu %.2f\n", median(ratio), median(maps) / median(xla));
}

std::size_t resident_bytes() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// In a separate process, so that one pool's leftovers do not affect the next.
void print_resident(std::uint64_t pool_gib) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const RequestStream stream = make_stream(pool_gib << 30, 50'000);
    xla_gpu::Options options = options_of(stream.config, xla_gpu::Version::spatial_v1);
    const std::size_t before = resident_bytes();
    VirtualAddresses upstream(stream.config.upstream);
    xla_gpu::Bfc allocator(upstream, options);
    Player player(stream, allocator);
    for (const Operation& operation : stream.operations)
      operation.is_free ? static_cast<void>(player.free(operation)) : static_cast<void>(player.allocate(operation));
    std::printf("  pool %5llu GiB: %5.1f MiB resident, %zu chunks (XLA's table: %8.1f MiB)\n",
                static_cast<unsigned long long>(pool_gib), static_cast<double>(resident_bytes() - before) / (1 << 20),
                allocator.chunks(), static_cast<double>(pool_gib) * 1024 / 32);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const auto bytes = read_file(argv[1], std::uint64_t{1} << 32);
    const auto read =
        bytes ? read_requests(bytes->bytes(), argv[1], std::uint64_t{1} << 32) : tl::make_unexpected(bytes.error());
    if (!read) {
      std::fprintf(stderr, "%s\n", read.error().text().c_str());
      return 1;
    }
    measure_speed_of(read->stream);
  } else {
    measure_speed_of(make_stream(std::uint64_t{12} << 30, 200'000));
  }
  std::printf("resident memory of an allocator with up to %zu blocks\n", live_blocks * 3 / 2);
  for (std::uint64_t pool_gib = 1; pool_gib <= 1024; pool_gib *= 4) print_resident(pool_gib);
}
