// Compares a recording of random_programs with the account of the driver, step by step.
//
//   compare_programs RECORDING TRUTH [whole]     whole: the recording must have every step (it was not attached later)
//
// Prints the number of programs and steps that were compared, or the first difference with the program's seed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/read/file_bytes.h"
#include "analysis/read/recording/read_recording.h"
#include "tests/collector/emulated_driver/random_programs.h"

namespace hbmscope::random_programs {
namespace {

struct Sums {
  std::int64_t devices[2] = {}, managed = 0, host = 0;
};

Sums sums_of(const Stream& stream, const StreamState& state) {
  Sums sums;
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    const auto bytes = static_cast<std::int64_t>(state.in_use_bytes(heap.id));
    const std::string_view name = heap.name;
    if (name == "managed memory")
      sums.managed += bytes;
    else if (name == "pinned host memory")
      sums.host += bytes;
    else if (heap.device < 2)
      sums.devices[heap.device] += bytes;
  }
  return sums;
}

std::vector<Step> read_steps(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Step> steps;
  for (Step step{}; file.read(reinterpret_cast<char*>(&step), sizeof(step));) steps.push_back(step);
  return steps;
}

int compare(const char* recording, const char* truth, bool is_whole) {
  auto bytes = read_file(recording, std::uint64_t{1} << 34);
  if (!bytes) return std::fprintf(stderr, "%s\n", bytes.error().text().c_str()), 1;
  const auto trace = read_recording({bytes->data(), bytes->size()}, recording);
  if (!trace) return std::fprintf(stderr, "%s\n", trace.error().text().c_str()), 1;
  if (trace->streams.size() != 1) return std::fprintf(stderr, "%zu processes\n", trace->streams.size()), 1;
  const Stream& stream = trace->streams.front();
  if (stream.counts().lost != 0) return std::fprintf(stderr, "events were lost\n"), 1;
  std::unordered_map<std::uint64_t, std::uint64_t> events;  // Mark -> position.
  for (const FailureEvent& failure : stream.failures())
    if (failure.requested_bytes > step_mark) events[failure.requested_bytes] = failure.event;
  const std::vector<Step> steps = read_steps(truth);
  StreamState state;
  std::uint64_t compared = 0, programs = 0, last_program = ~std::uint64_t{0}, begun = ~std::uint64_t{0};
  for (const Step& step : steps) {
    const bool is_first = step.program != last_program;
    last_program = step.program;
    const auto found = events.find(step.mark);
    if (found == events.end()) {
      if (is_whole)
        return std::fprintf(stderr, "the recording lacks a step of program %llu\n",
                            static_cast<unsigned long long>(step.program)),
               1;
      continue;
    }
    if (is_first) begun = step.program;  // Its beginning was seen.
    if (begun != step.program) continue;
    stream.advance(state, found->second);
    const Sums sums = sums_of(stream, state);
    ++compared;
    programs += is_first ? 1 : 0;
    const std::int64_t in_use[] = {step.used_bytes[0] - step.kept_bytes[0], step.used_bytes[1] - step.kept_bytes[1]};
    if (sums.devices[0] == in_use[0] && sums.devices[1] == in_use[1] && sums.managed == step.managed_bytes &&
        sums.host == step.host_bytes)
      continue;
    std::fprintf(stderr,
                 "program %llu, step %llu: hbmscope has %lld and %lld bytes in use on the devices, %lld managed, %lld "
                 "pinned; the driver %lld, %lld, %lld, %lld\n",
                 static_cast<unsigned long long>(step.program), static_cast<unsigned long long>(step.mark - step_mark),
                 static_cast<long long>(sums.devices[0]), static_cast<long long>(sums.devices[1]),
                 static_cast<long long>(sums.managed), static_cast<long long>(sums.host),
                 static_cast<long long>(in_use[0]), static_cast<long long>(in_use[1]),
                 static_cast<long long>(step.managed_bytes), static_cast<long long>(step.host_bytes));
    return 1;
  }
  std::printf("%llu programs, %llu steps\n", static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(compared));
  return 0;
}

}  // namespace
}  // namespace hbmscope::random_programs

int main(int count, char** arguments) {
  if (count < 3) return 2;
  return hbmscope::random_programs::compare(arguments[1], arguments[2],
                                            count > 3 && std::strcmp(arguments[3], "whole") == 0);
}
