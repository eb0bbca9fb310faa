// What holds of every allocator, whatever it decides: run on all of them, in their main settings, beside a shadow that
// only knows which addresses are taken.
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/catalog/catalog.h"
#include "allocator/upstream/virtual_addresses.h"

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t device_bytes = 512 * mib;

struct Candidate {
  std::string name;
  AllocatorOptions options;
  std::uint64_t alignment_bytes;  // Of every address that it gives.
};

xla_gpu::Options bfc(xla_gpu::Version version, bool grows, bool collects = false) {
  xla_gpu::Options options;
  options.version = version;
  options.limit_bytes = 384 * mib;
  options.allow_growth = grows;
  options.garbage_collection = collects;
  return options;
}

pytorch::Options torch_options(bool expandable, std::uint64_t max_split_mib, std::uint64_t divisions) {
  pytorch::Options options;
  options.expandable_segments = expandable;
  if (max_split_mib != 0) options.max_split_bytes = max_split_mib * mib;
  options.roundup_power2_divisions = divisions;
  options.device_bytes = device_bytes;
  return options;
}

void PrintTo(const Candidate& candidate, std::ostream* out) {
  *out << candidate.name;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions())
    all.push_back({"xla_gpu_" + std::string(rules.name), bfc(rules.version, false), 256});
  all.push_back({"xla_gpu_grows", bfc(xla_gpu::Version::classic_align, true), 256});
  all.push_back({"xla_gpu_collects", bfc(xla_gpu::Version::classic, true, true), 256});
  all.push_back({"platform", platform::Options{}, 2 * mib});
  all.push_back({"platform_cuda_malloc", platform::Options{512}, 512});
  all.push_back({"cuda_async", cuda_async::Options{}, 512});
  all.push_back({"cuda_async_keeps", cuda_async::Options{256 * mib, 0}, 512});
  all.push_back({"cuda_async_reserves", cuda_async::Options{384 * mib, 384 * mib}, 512});
  all.push_back({"pytorch", torch_options(false, 0, 0), 512});
  all.push_back({"pytorch_max_split", torch_options(false, 32, 0), 512});
  all.push_back({"pytorch_rounds", torch_options(false, 0, 8), 64});
  all.push_back({"pytorch_expandable", torch_options(true, 0, 0), 512});
  all.push_back({"naive", first_fit::Options{384 * mib}, 256});
  return all;
}

// Counts what the pool must be from what is told of regions alone.
class RegionSum final : public Sink {
 public:
  void on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t asked_bytes) override {
    bytes += claim.bytes;
    EXPECT_GE(claim.bytes, asked_bytes);
  }
  void on_claim_refused(std::uint64_t) override { ++refusals; }
  void on_region_released(std::uint32_t, const Claim& claim) override { bytes -= claim.bytes; }

  std::uint64_t bytes = 0, refusals = 0;
};

class Conformance : public testing::TestWithParam<Candidate> {
 protected:
  struct Taken {
    std::uint64_t bytes, requested_bytes;
  };

  Conformance() : upstream_(device()), allocator_(make_allocator(GetParam().options, upstream_)) {
    allocator_->set_sink(&regions_);
  }
  static VirtualOptions device() {
    VirtualOptions device;
    device.device_bytes = device_bytes;
    return device;
  }

  Allocation take(const Request& request) {
    const Allocation answer = allocator_->allocate(request);
    if (answer.outcome != Outcome::allocated) return answer;
    EXPECT_EQ(answer.address % GetParam().alignment_bytes, 0U);
    EXPECT_GE(answer.bytes, request.bytes);
    EXPECT_GE(answer.bytes, allocator_->rounded_bytes(request.bytes));
    const auto next = taken_.lower_bound(answer.address);
    if (next != taken_.end()) {
      EXPECT_LE(answer.address + answer.bytes, next->first) << "overlaps the block above";
    }
    if (next != taken_.begin()) {
      const auto before = std::prev(next);
      EXPECT_LE(before->first + before->second.bytes, answer.address) << "overlaps the block below";
    }
    taken_[answer.address] = {answer.bytes, request.bytes};
    ++allocations_;
    return answer;
  }
  void give_back(std::uint64_t address) {
    EXPECT_EQ(allocator_->free(address), FreeOutcome::freed);
    taken_.erase(address);
  }
  std::uint64_t any_address(std::mt19937_64& random) const {
    return std::next(taken_.begin(), static_cast<std::ptrdiff_t>(random() % taken_.size()))->first;
  }

  // Statistics, pieces, regions and the shadow say the same.
  void expect_sums() const {
    std::uint64_t in_use = 0, free = 0, largest = 0, blocks = 0;
    const std::vector<Claim> claims = allocator_->claims();
    for (const Piece& piece : allocator_->pieces()) {
      EXPECT_GT(piece.bytes, 0U);
      EXPECT_TRUE(std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
        return claim.base <= piece.address && piece.address + piece.bytes <= claim.base + claim.bytes;
      })) << "a piece outside of all regions";
      if (!piece.in_use) {
        free += piece.bytes;
        largest = std::max(largest, piece.bytes);
        continue;
      }
      ++blocks;
      in_use += piece.bytes;
      const auto found = taken_.find(piece.address);
      ASSERT_NE(found, taken_.end());
      EXPECT_EQ(piece.bytes, found->second.bytes);
      EXPECT_EQ(piece.requested_bytes, found->second.requested_bytes);
    }
    std::uint64_t claimed = 0;
    for (const Claim& claim : claims) claimed += claim.bytes;
    const Statistics statistics = allocator_->statistics();
    EXPECT_EQ(blocks, taken_.size());
    EXPECT_EQ(statistics.in_use_bytes, in_use);
    EXPECT_EQ(statistics.pool_bytes, in_use + free);
    EXPECT_EQ(statistics.pool_bytes, claimed);
    EXPECT_EQ(statistics.pool_bytes, regions_.bytes);
    EXPECT_EQ(statistics.pool_bytes, upstream_.claimed_bytes());
    EXPECT_EQ(statistics.largest_free_bytes, largest);
    EXPECT_EQ(statistics.largest_free_bytes, allocator_->largest_free_bytes());
    EXPECT_EQ(statistics.allocations, allocations_);
    EXPECT_GE(statistics.peak_in_use_bytes, in_use);
    EXPECT_GE(statistics.peak_pool_bytes, claimed);
    EXPECT_EQ(allocator_->chunks(), allocator_->pieces().size());
  }

  RegionSum regions_;
  VirtualAddresses upstream_;
  std::unique_ptr<Allocator> allocator_;
  std::map<std::uint64_t, Taken> taken_;  // By address.
  std::uint64_t allocations_ = 0;
};

Request random_request(std::mt19937_64& random) {
  Request request;
  // From some bytes to some dozens of MiB, small ones more often.
  request.bytes = 1 + (random() & ((std::uint64_t{1} << (4 + random() % 22)) - 1));
  if (random() % 8 == 0) request.alignment = std::uint64_t{1} << random() % 20;
  if (random() % 8 == 0) request.space = Space::collective;
  request.stream = static_cast<std::uint32_t>(random() % 8 == 0);
  return request;
}

TEST_P(Conformance, random_streams_beside_a_shadow) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 1500 && !HasFailure(); ++i) {
      const bool frees = !taken_.empty() && random() % 100 < (i / 200 % 2 == 0 ? 35U : 65U);
      if (frees)
        give_back(any_address(random));
      else
        take(random_request(random));
      if (i % 50 == 0) expect_sums();
    }
    while (!taken_.empty()) give_back(any_address(random));
    expect_sums();
  }
  EXPECT_EQ(allocator_->fault(), Fault::none);
}

TEST_P(Conformance, nothing_is_claimed_before_the_first_request) {
  expect_sums();
  EXPECT_EQ(upstream_.claimed_bytes(), 0U);
}

TEST_P(Conformance, what_was_all_given_back_can_all_be_taken_again) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) take(random_request(random));
  while (!taken_.empty()) give_back(any_address(random));
  EXPECT_EQ(allocator_->statistics().in_use_bytes, 0U);
  // No piece is left between two free ones: a region is one piece again.
  EXPECT_EQ(allocator_->chunks(), allocator_->claims().size());
  const std::uint64_t bytes = std::max(allocator_->largest_free_bytes(), 16 * mib);
  EXPECT_EQ(take({bytes, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
  expect_sums();
}

TEST_P(Conformance, all_regions_go_back_with_the_allocator) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100; ++i) take(random_request(random));
  allocator_.reset();
  EXPECT_EQ(upstream_.claimed_bytes(), 0U);
}

TEST_P(Conformance, a_request_that_fails_leaves_all_blocks_as_they_are) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 60; ++i) take(random_request(random));
  const Statistics before = allocator_->statistics();
  for (const std::uint64_t bytes : {600 * mib, request_bytes_max, ~std::uint64_t{0}})
    EXPECT_EQ(allocator_->allocate({bytes, Space::default_memory, 0, 1}).outcome, Outcome::out_of_memory);
  const Statistics after = allocator_->statistics();
  EXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
  EXPECT_EQ(after.allocations, before.allocations);
  expect_sums();
  // And it can go on.
  give_back(any_address(random));
  EXPECT_EQ(take({100, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
  expect_sums();
}

TEST_P(Conformance, a_full_device_refuses_and_serves_again_after_a_free) {
  std::vector<std::uint64_t> addresses;
  for (;;) {
    const Allocation answer = take({24 * mib, Space::default_memory, 0, 1});
    if (answer.outcome != Outcome::allocated) break;
    addresses.push_back(answer.address);
  }
  EXPECT_GE(addresses.size(), 12U);  // Regions that double leave the most behind.
  expect_sums();
  give_back(addresses[addresses.size() / 2]);
  EXPECT_EQ(take({24 * mib, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
  expect_sums();
}

TEST_P(Conformance, zero_bytes_and_unknown_addresses_change_nothing) {
  EXPECT_EQ(allocator_->allocate({0, Space::default_memory, 0, 1}).outcome, Outcome::zero_bytes);
  const Allocation first = take({1000, Space::default_memory, 0, 1});
  take({1000, Space::default_memory, 0, 1});
  EXPECT_EQ(allocator_->free(first.address + 1), FreeOutcome::unknown_address);
  EXPECT_EQ(allocator_->free(0), FreeOutcome::unknown_address);
  give_back(first.address);
  EXPECT_EQ(allocator_->free(first.address), FreeOutcome::unknown_address);
  expect_sums();
}

TEST_P(Conformance, the_same_requests_get_the_same_addresses) {
  VirtualAddresses upstream(device());
  const auto twin = make_allocator(GetParam().options, upstream);
  std::mt19937_64 random(17);
  for (int i = 0; i < 2000; ++i) {
    if (!taken_.empty() && random() % 2 == 0) {
      const std::uint64_t address = any_address(random);
      give_back(address);
      EXPECT_EQ(twin->free(address), FreeOutcome::freed);
      continue;
    }
    const Request request = random_request(random);
    const Allocation answer = take(request), other = twin->allocate(request);
    ASSERT_EQ(answer.outcome, other.outcome);
    ASSERT_EQ(answer.address, other.address);
    ASSERT_EQ(answer.bytes, other.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(candidates()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace hbmscope::allocator
