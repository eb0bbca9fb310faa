// Opening a profile of XLA with a gigabyte of events, compared with a floor: a walk over every event that decodes those
// of the allocator into flat columns and sorts them by time. No names, no stacks, no blocks, no check of the figures.
// The floor shares no code with analysis/. Seconds are of the processor, the best of three rounds in turn.
//
//   xspace_bench [FILE | MEGABYTES]     FILE: an .xplane.pb that is not compressed; default: makes one of 1,000 MB
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "analysis/read/xspace/trace_from_xspace.h"
#include "tests/analysis/xspace_by_hand.h"

namespace {

using Byte = unsigned char;

struct Range {
  const Byte* begin;
  const Byte* end;
};

std::uint64_t varint(const Byte*& at) {
  std::uint64_t value = *at & 0x7f;
  for (unsigned shift = 7; *at++ >= 0x80; shift += 7) value |= static_cast<std::uint64_t>(*at & 0x7f) << shift;
  return value;
}

// Calls visit(field number, integer, bytes) for every field.
template <class Visit>
void for_fields(Range range, const Visit& visit) {
  for (const Byte* at = range.begin; at < range.end;) {
    const std::uint64_t tag = varint(at);
    if ((tag & 7) == 1) {
      at += 8;
    } else if (const std::uint64_t number = varint(at); (tag & 7) == 0) {
      visit(tag >> 3, number, Range{nullptr, nullptr});
    } else {
      visit(tag >> 3, std::uint64_t{0}, Range{at, at + number});
      at += number;
    }
  }
}

struct Row {
  std::uint64_t time_ps, address, size, requested, in_use;
};

std::string name_in(Range message) {
  std::string name;
  for_fields(message, [&](std::uint64_t field, std::uint64_t, Range bytes) {
    if (field == 2) name.assign(bytes.begin, bytes.end);
  });
  return name;
}

// A sum over all columns, so that nothing is left out.
std::uint64_t run_floor(Range file) {
  std::uint64_t sum = 0;
  for_fields(file, [&](std::uint64_t space_field, std::uint64_t, Range plane) {
    if (space_field != 1) return;
    std::vector<Range> lines;
    std::vector<bool> is_memory(1 << 16);
    std::vector<Byte> column(1 << 16);  // By statistic: 0 none, else the column from 1.
    for_fields(plane, [&](std::uint64_t field, std::uint64_t, Range bytes) {
      if (field == 3) lines.push_back(bytes);
      if (field != 4 && field != 5) return;
      std::uint64_t id = 0;
      std::string name;
      for_fields(bytes, [&](std::uint64_t key, std::uint64_t number, Range value) {
        if (key == 1) id = number;
        if (key == 2) name = name_in(value);
      });
      id &= 0xffff;
      if (field == 4) is_memory[id] = name == "MemoryAllocation" || name == "MemoryDeallocation";
      if (field == 5)
        column[id] = name == "addr"               ? 1
                     : name == "allocation_bytes" ? 2
                     : name == "requested_bytes"  ? 3
                     : name == "bytes_allocated"  ? 4
                                                  : 0;
    });
    std::vector<Row> rows;
    for (const Range& line : lines)
      for_fields(line, [&](std::uint64_t line_field, std::uint64_t, Range event) {
        if (line_field != 4) return;
        std::uint64_t id = 0, offset = 0, values[5] = {};
        for_fields(event, [&](std::uint64_t field, std::uint64_t number, Range stat) {
          if (field == 1) id = number;
          if (field == 2) offset = number;
          if (field != 4 || !is_memory[id & 0xffff]) return;
          std::uint64_t name = 0, value = 0;
          for_fields(stat, [&](std::uint64_t key, std::uint64_t each, Range) { (key == 1 ? name : value) = each; });
          values[column[name & 0xffff]] = value;
        });
        if (is_memory[id & 0xffff]) rows.push_back({offset, values[1], values[2], values[3], values[4]});
      });
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.time_ps < b.time_ps; });
    for (const Row& row : rows) sum = sum * 31 + row.address + row.size + row.requested + row.in_use;
  });
  return sum;
}

// A process with four devices and two threads for each of them, whose events alternate. Between those of the allocators
// are as many spans as a trace with Python's functions has. Addresses are used again, and 20,000 blocks are live.
std::string make_profile(std::size_t bytes_wanted) {
  using Block = hbmscope::tests::PlaneByHand::Block;
  constexpr std::size_t devices = 4, threads = 8, live_blocks = 20'000;
  struct Pool {
    std::vector<Block> live;
    std::vector<std::uint64_t> freed;  // Addresses.
    std::uint64_t in_use = 0, next_address = 0;
  };
  std::mt19937_64 random(1);
  hbmscope::tests::PlaneByHand plane("/host:CPU");
  std::vector<Pool> pools(devices);
  for (std::size_t device = 0; device < devices; ++device) pools[device].next_address = (device + 1) << 38;
  for (std::size_t thread = 0; thread < threads; ++thread) plane.line(1000);
  for (std::uint64_t i = 0; i % 1024 != 0 || plane.line_bytes() < bytes_wanted; ++i) {
    const std::uint64_t time_ns = 1000 * i;
    const std::size_t thread = random() % threads, device = thread % devices;
    Pool& pool = pools[device];
    plane.return_to_line(thread);
    for (std::uint64_t span = 0; span < 4; ++span)
      plane.span("$model.py:" + std::to_string(100 * span + i / 64 % 20) + " layer", time_ns + span, 900 - 2 * span);
    if (pool.live.size() >= live_blocks && random() % 2 == 0) {
      std::swap(pool.live[random() % pool.live.size()], pool.live.back());
      Block block = pool.live.back();
      pool.live.pop_back();
      pool.freed.push_back(block.address);
      block.in_use = pool.in_use -= block.size;
      plane.free(time_ns + 100, block);
      continue;
    }
    Block block;
    if (pool.freed.empty()) pool.freed.push_back(pool.next_address += 1 << 13);
    block.address = pool.freed.back();
    pool.freed.pop_back();
    block.size = 256 * (1 + random() % 16);
    block.in_use = pool.in_use += block.size;
    block.allocator = "GPU_" + std::to_string(device) + "_bfc";
    block.limit = std::uint64_t{60} << 30;
    plane.alloc(time_ns + 100, block);
    pool.live.push_back(block);
  }
  return hbmscope::tests::Message().add(1, plane.message()).bytes;
}

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

// From now on, peak_megabytes() is of what follows. Needs Linux.
void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string file;
  const std::string_view argument = count > 1 ? arguments[1] : "1000";
  std::size_t megabytes = 0;
  const auto parsed = std::from_chars(argument.data(), argument.data() + argument.size(), megabytes);
  if (parsed.ec == std::errc() && parsed.ptr == argument.data() + argument.size()) {
    file = make_profile(megabytes * 1'000'000);
  } else {
    std::ifstream stream(arguments[1], std::ios::binary | std::ios::ate);
    file.resize(stream ? static_cast<std::size_t>(stream.tellg()) : 0);
    if (!stream.seekg(0).read(file.data(), static_cast<std::streamsize>(file.size())) || file.empty())
      return std::fprintf(stderr, "xspace_bench: can't read %s\n", arguments[1]), 1;
  }
  const auto* begin = reinterpret_cast<const Byte*>(file.data());
  const double file_megabytes = static_cast<double>(file.size()) / 1e6;
  std::printf("%.0f MB\n", file_megabytes);

  double floor_seconds = 1e9, reader_seconds = 1e9, floor_peak = 0, reader_peak = 0;
  std::uint64_t sum = 0;
  for (int round = 0; round < 3; ++round) {
    reset_peak();
    double start = processor_seconds();
    sum += run_floor({begin, begin + file.size()});
    floor_seconds = std::min(floor_seconds, processor_seconds() - start);
    if (round == 0) floor_peak = peak_megabytes();
    reset_peak();
    start = processor_seconds();
    const auto trace = hbmscope::read_xspace({begin, file.size()}, "made-up.xplane.pb");
    reader_seconds = std::min(reader_seconds, processor_seconds() - start);
    if (!trace) return std::fprintf(stderr, "xspace_bench: %s\n", trace.error().text().c_str()), 1;
    if (round > 0) continue;
    reader_peak = peak_megabytes();
    std::printf("%lld profiler events, %lld of the allocator, %lld gaps\n",
                static_cast<long long>(trace->import.count_of("profiler_events")),
                static_cast<long long>(trace->import.count_of("checked_figures")),
                static_cast<long long>(trace->import.count_of("gaps")));
  }
  std::printf("floor     %6.2f s   peak memory %5.0f MB, file included   (%llx)\n", floor_seconds, floor_peak,
              static_cast<unsigned long long>(sum));
  std::printf("hbmscope  %6.2f s   peak memory %5.0f MB, file included\n", reader_seconds, reader_peak);
  std::printf("ratio     %6.2f     target: at most 2.00\n", reader_seconds / floor_seconds);
  return 0;
}
