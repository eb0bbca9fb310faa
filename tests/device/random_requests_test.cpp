// Random requests of all kinds, beside a count that knows only the sizes: the ledger must agree after every answer, and
// no two ranges may overlap.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "allocator/emulated/cuda/model/machine.h"
#include "tests/sizes.h"

namespace hbmscope::device {
namespace {

TEST(RandomRequests, the_ledger_agrees_after_every_answer) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Settings settings;
    settings.total_bytes = 512 * mib;
    Machine machine(settings);
    std::map<Address, Bytes> large, small;
    Bytes large_bytes = 0;
    const auto check_ledger = [&] {
      const Bytes taken = machine.device(0).ledger().taken_bytes();
      Bytes small_bytes = 0;
      for (const auto& [address, bytes] : small) small_bytes += round_up(bytes, 512);
      // Pages of small blocks: at least what they hold, at most one for each block.
      ASSERT_GE(taken, large_bytes + round_up(small_bytes, granularity_bytes));
      ASSERT_LE(taken, large_bytes + small.size() * granularity_bytes);
    };
    for (int step = 0; step < 2000; ++step) {
      const bool is_small = random() % 2 == 0;
      auto& blocks = is_small ? small : large;
      if (random() % 5 < 3 || blocks.empty()) {
        const Bytes bytes = is_small ? 1 + random() % (mib - 1) : mib + random() % (64 * mib);
        const Bytes free_before = machine.device(0).ledger().free_bytes();
        const Answer answer = machine.allocate(0, bytes);
        if (answer.outcome == Outcome::ok) {
          const auto next = blocks.upper_bound(answer.address);
          if (next != blocks.end()) {
            ASSERT_LE(answer.address + bytes, next->first);
          }
          blocks[answer.address] = bytes;
          if (!is_small) large_bytes += round_up(bytes, granularity_bytes);
        } else {
          ASSERT_EQ(machine.device(0).ledger().free_bytes(), free_before);
          ASSERT_GT(round_up(bytes, granularity_bytes), free_before);
        }
      } else {
        const auto victim = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
        ASSERT_EQ(machine.free(victim->first), Outcome::ok);
        if (!is_small) large_bytes -= round_up(victim->second, granularity_bytes);
        blocks.erase(victim);
      }
      check_ledger();
    }
    for (const auto& [address, bytes] : large) machine.free(address);
    for (const auto& [address, bytes] : small) machine.free(address);
    ASSERT_EQ(machine.device(0).ledger().taken_bytes(), 0u);
  }
}

}  // namespace
}  // namespace hbmscope::device
