#include "tests/allocator/bfc_trial.h"

#include <random>
#include <sstream>
#include <vector>

#include "tests/allocator/naive_bfc.h"
#include "tests/sizes.h"

namespace hbmscope::allocator {
namespace {

using xla_gpu::Bfc;
using xla_gpu::Chunk;
using xla_gpu::Tag;

NaiveBfc::Owner owner_of(Tag tag) {
  if (tag == Tag::gap) return NaiveBfc::Owner::nobody;
  return tag == Tag::upper ? NaiveBfc::Owner::upper : NaiveBfc::Owner::lower;
}

std::string find_difference(const Allocation& fast, const Allocation& naive) {
  if (fast.outcome == naive.outcome && fast.fault == naive.fault && fast.address == naive.address &&
      fast.bytes == naive.bytes && fast.region == naive.region && fast.allocation_id == naive.allocation_id)
    return {};
  std::ostringstream text;
  text << "outcome " << int(fast.outcome) << " fault " << int(fast.fault) << " at " << fast.address << " of "
       << fast.bytes << ", naive: outcome " << int(naive.outcome) << " fault " << int(naive.fault) << " at "
       << naive.address << " of " << naive.bytes;
  return text.str();
}

std::string find_difference(const Bfc& fast, const NaiveBfc& naive) {
  const Statistics a = fast.statistics(), b = naive.statistics();
  if (a.allocations != b.allocations || a.in_use_bytes != b.in_use_bytes ||
      a.peak_in_use_bytes != b.peak_in_use_bytes || a.largest_allocation_bytes != b.largest_allocation_bytes ||
      a.pool_bytes != b.pool_bytes || a.peak_pool_bytes != b.peak_pool_bytes)
    return "the statistics differ";
  if (a.largest_free_bytes != b.largest_free_bytes) return "the largest free chunk differs";
  auto next = naive.pool_blocks().begin();
  std::string difference;
  fast.for_each_chunk([&](xla_gpu::ChunkIndex, const Chunk& chunk) {
    const bool is_same =
        next != naive.pool_blocks().end() && chunk.address == next->first &&
        NaiveBfc::PoolBlock{chunk.bytes, chunk.region, chunk.in_use, owner_of(chunk.tag)} == next->second;
    if (!is_same && difference.empty()) difference = "the chunk at " + std::to_string(chunk.address) + " differs";
    if (next != naive.pool_blocks().end()) ++next;
  });
  if (difference.empty() && next != naive.pool_blocks().end()) return "chunks are missing";
  return difference;
}

}  // namespace

Trial make_trial(std::uint64_t seed, xla_gpu::Version version) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](int count) { return random() % static_cast<unsigned>(count) == 0; };
  Trial trial;
  trial.options.version = version;
  trial.options.limit_bytes = (16 + random() % 512) * mib + random() % 2 * 77;
  trial.options.allow_growth = !xla_gpu::rules_of(version).is_spatial && one_of(2);
  trial.options.garbage_collection = one_of(3);
  if (one_of(3)) trial.options.fragmentation_fraction = one_of(2) ? 0.01 : 0.2;
  trial.options.hangs_on_small_refusal = one_of(2);
  if (one_of(3)) trial.upstream.device_bytes = trial.options.limit_bytes * (6 + random() % 5) / 10;
  if (one_of(3)) trial.upstream.granularity = 2 * mib;
  trial.upstream.placement = static_cast<Placement>(random() % 3);
  trial.operations = 3000;
  return trial;
}

std::string run_trial(std::uint64_t seed, Trial& trial) {
  std::mt19937_64 random(seed * 7919 + 1);
  VirtualAddresses upstream(trial.upstream), naive_upstream(trial.upstream);
  Bfc fast(upstream, trial.options);
  NaiveBfc naive(naive_upstream, trial.options);
  std::vector<std::uint64_t> hot, live;
  for (int i = 0; i < 12; ++i) hot.push_back(1 + (random() % (std::uint64_t{1} << (6 + random() % 20))));
  for (std::uint32_t i = 0; i < trial.operations; ++i) {
    const bool frees = !live.empty() && random() % 100 < (i / 300 % 2 == 0 ? 40U : 60U);
    std::string difference;
    if (frees) {
      // Mostly the youngest, as programs do.
      const std::size_t at = random() % 2 == 0 ? live.size() - 1 : random() % live.size();
      const std::uint64_t address = random() % 500 == 0 ? 12345 : live[at];
      if (fast.free(address) != naive.free(address)) difference = "the free differs";
      if (address == live[at]) live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      Request request;
      request.bytes =
          random() % 3 != 0 ? hot[random() % hot.size()] : random() % (trial.options.limit_bytes >> random() % 20);
      if (random() % 4 == 0) request.alignment = std::uint64_t{1} << random() % 23;
      if (random() % 3 == 0) request.space = Space::collective;
      const Allocation answer = fast.allocate(request);
      difference = find_difference(answer, naive.allocate(request));
      if (answer.outcome == Outcome::allocated) live.push_back(answer.address);
    }
    // After a fault there is no visible state.
    if (difference.empty() && fast.fault() == Fault::none) difference = find_difference(fast, naive);
    if (!difference.empty()) return "operation " + std::to_string(i) + ": " + difference;
    if (fast.fault() != Fault::none) {
      trial.ends_in_fault = true;
      return {};
    }
  }
  return {};
}

}  // namespace hbmscope::allocator
