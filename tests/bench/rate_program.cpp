// An annotated program that reports events at a given rate for some seconds, then slowly until a listing gets through,
// and knows the correct result.
//
//   rate_program EVENTS_A_SECOND SECONDS [SECONDS_AFTER]
//
// Prints a line when the fast part is over, and a line of JSON at the end.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "collector/annotate/hbmscope.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t live_max = 1000, block_bytes = 512;

hbmscope_frame frames[] = {{"matmul", "model.py", 42}};
hbmscope_stack matmul = HBMSCOPE_STACK(frames);
hbmscope_heap pool = HBMSCOPE_HEAP("pool", "device", 0);
std::uint64_t oldest = 0, newest = 0;  // Live blocks, by number.
std::uint64_t sent = 0;

// An address is never used twice, so a block whose free was lost is not freed by a later user of its address.
std::uint64_t address_of(std::uint64_t number) {
  return (number + 1) * block_bytes;
}

void step() {
  if (newest - oldest < live_max) {
    ++newest;  // A listing in the middle of the call has it.
    hbmscope_alloc(&pool, address_of(newest - 1), block_bytes, 500, &matmul, nullptr);
  } else {
    hbmscope_free(&pool, address_of(oldest), nullptr);
    ++oldest;
  }
  if (sent % 2 == 1 && newest - oldest == live_max) {  // Both by turns.
    hbmscope_free(&pool, address_of(oldest), nullptr);
    ++oldest;
    ++sent;
  }
  ++sent;
}

}  // namespace

int main(int argc, char** argv) {
  const double rate = argc > 1 ? std::atof(argv[1]) : 1e6, seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const double after = argc > 3 ? std::atof(argv[3]) : 1;
  pool.enumerate = [](hbmscope_heap*, const hbmscope_listing* to) {
    for (std::uint64_t number = oldest; number < newest; ++number)
      to->block(to->listener, address_of(number), block_bytes, 500, 0, &matmul, nullptr);
  };
  pool.flags = 0;
  hbmscope_heap_add(&pool);
  const auto begun = Clock::now();
  double passed = 0;
  while (passed < seconds) {
    passed = std::chrono::duration<double>(Clock::now() - begun).count();
    for (const auto due = static_cast<std::uint64_t>(rate * passed); sent < due;) step();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const std::uint64_t fast = sent;
  std::printf("{\"sent\":%" PRIu64 ",\"seconds\":%.3f}\n", fast, passed);
  std::fflush(stdout);
  const auto quiet = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - quiet).count() < after) {
    step();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::printf("{\"sent\":%" PRIu64 ",\"live_blocks\":%" PRIu64 ",\"in_use_bytes\":%" PRIu64 "}\n", sent,
              newest - oldest, (newest - oldest) * block_bytes);
  return 0;
}
