// Properties of every allocator, whatever it decides: all of them, in their main configurations, run over every
// upstream and are compared with a shadow that only knows which addresses are taken.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/interface/cuda_memory.h"
#include "allocator/reference/interface/host_memory.h"
#include "allocator/reference/interface/virtual_addresses.h"
#include "tests/allocator/candidates.h"
#include "tests/sizes.h"

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t device_bytes = 512 * mib;

enum class Memory { addresses, host, driver };

struct Tested {
  Candidate candidate;
  Memory memory;
};
void PrintTo(const Tested& tested, std::ostream* out) {
  *out << tested.candidate.name;
}

// A device of 512 MiB on one of the three upstreams.
class Device {
 public:
  explicit Device(Memory memory) {
    if (memory == Memory::addresses) {
      VirtualOptions options;
      options.device_bytes = device_bytes;
      addresses_.emplace(options);
    } else if (memory == Memory::host) {
      host_.emplace(HostOptions{device_bytes, 4096});
    } else {
      setenv("HBMSCOPE_DEVICE_BYTES", std::to_string(device_bytes).c_str(), 1);
      // Loaded by its path, and found by its name afterwards.
      EXPECT_NE(dlopen(EMULATED_DRIVER, RTLD_NOW), nullptr) << dlerror();
      const auto opened = cuda::open_device(0);
      EXPECT_TRUE(opened) << opened.error();
      driver_ = *opened;
      cuda_.emplace(driver_, 512);
    }
  }
  Upstream& upstream() {
    if (addresses_) return *addresses_;
    return host_ ? static_cast<Upstream&>(*host_) : *cuda_;
  }
  std::uint64_t claimed_bytes() const {
    if (addresses_) return addresses_->claimed_bytes();
    if (host_) return host_->claimed_bytes();
    const cuda::Entered entered(*driver_.driver, driver_.context);
    std::size_t free = 0, total = 0;
    EXPECT_EQ(driver_.driver->memory_info(&free, &total), cuda::success);
    return total - free;
  }

 private:
  std::optional<VirtualAddresses> addresses_;
  std::optional<HostMemory> host_;
  cuda::OpenDevice driver_;
  std::optional<CudaMemory> cuda_;
};

// Computes the expected pool size only from the reported regions.
class RegionSum final : public Sink {
 public:
  void on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t requested_bytes) override {
    bytes += claim.bytes;
    EXPECT_GE(claim.bytes, requested_bytes);
  }
  void on_claim_refused(std::uint64_t) override { ++refusals; }
  void on_region_released(std::uint32_t, const Claim& claim) override { bytes -= claim.bytes; }

  std::uint64_t bytes = 0, refusals = 0;
};

class Conformance : public testing::TestWithParam<Tested> {
 protected:
  struct Taken {
    std::uint64_t bytes, requested_bytes;
  };

  Conformance()
      : device_(GetParam().memory), allocator_(make_allocator(GetParam().candidate.options, device_.upstream())) {
    allocator_->set_sink(&regions_);
  }
  // The fake driver only guarantees multiples of 512 B.
  std::uint64_t alignment_bytes() const {
    const std::uint64_t bytes = GetParam().candidate.alignment_bytes;
    return GetParam().memory == Memory::driver ? std::min<std::uint64_t>(bytes, 512) : bytes;
  }
  // In memory of the host a block says whose it is, at both ends.
  std::uint64_t mark_of(std::uint64_t address) const { return address / 64 % 251; }
  void write_marks(std::uint64_t address, std::uint64_t bytes) {
    if (GetParam().memory != Memory::host) return;
    auto* const first = reinterpret_cast<unsigned char*>(address);
    first[0] = first[bytes - 1] = static_cast<unsigned char>(mark_of(address));
  }
  void expect_marks(std::uint64_t address, std::uint64_t bytes) {
    if (GetParam().memory != Memory::host) return;
    const auto* const first = reinterpret_cast<const unsigned char*>(address);
    EXPECT_EQ(first[0], mark_of(address));
    EXPECT_EQ(first[bytes - 1], mark_of(address));
  }

  Allocation take(const Request& request) {
    const Allocation answer = allocator_->allocate(request);
    if (answer.outcome != Outcome::allocated) return answer;
    EXPECT_EQ(answer.address % alignment_bytes(), 0U);
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
    write_marks(answer.address, answer.bytes);
    ++allocations_;
    return answer;
  }
  void give_back(std::uint64_t address) {
    expect_marks(address, taken_.at(address).bytes);
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
    for (const PoolBlock& piece : allocator_->pool_blocks()) {
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
    EXPECT_EQ(statistics.pool_bytes, device_.claimed_bytes());
    EXPECT_EQ(statistics.largest_free_bytes, largest);
    EXPECT_EQ(statistics.largest_free_bytes, allocator_->largest_free_bytes());
    EXPECT_EQ(statistics.allocations, allocations_);
    EXPECT_GE(statistics.peak_in_use_bytes, in_use);
    EXPECT_GE(statistics.peak_pool_bytes, claimed);
    EXPECT_EQ(allocator_->chunks(), allocator_->pool_blocks().size());
  }

  RegionSum regions_;
  Device device_;
  std::unique_ptr<Allocator> allocator_;
  std::map<std::uint64_t, Taken> taken_;  // By address.
  std::uint64_t allocations_ = 0;
};

Request random_request(std::mt19937_64& random) {
  Request request;
  // From a few bytes to a few dozen MiB, small ones more often.
  request.bytes = 1 + (random() & ((std::uint64_t{1} << (4 + random() % 22)) - 1));
  if (random() % 8 == 0) request.alignment = std::uint64_t{1} << random() % 20;
  if (random() % 8 == 0) request.space = Space::collective;
  request.stream = static_cast<std::uint32_t>(random() % 8 == 0);
  return request;
}

TEST_P(Conformance, random_streams_agree_with_a_shadow) {
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
  EXPECT_EQ(device_.claimed_bytes(), 0U);
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
  EXPECT_EQ(device_.claimed_bytes(), 0U);
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
  // The allocator continues to work.
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

// Where regions lie is the allocator's business over addresses only.
class Determinism : public Conformance {};
TEST_P(Determinism, the_same_requests_get_the_same_addresses) {
  Device other_device(Memory::addresses);
  const auto twin = make_allocator(GetParam().candidate.options, other_device.upstream());
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

std::vector<Tested> over(Memory memory) {
  std::vector<Tested> all;
  for (Candidate& candidate : candidates()) all.push_back({std::move(candidate), memory});
  return all;
}
std::string name_of_test(const testing::TestParamInfo<Tested>& tested) {
  return tested.param.candidate.name;
}
INSTANTIATE_TEST_SUITE_P(OverAddresses, Conformance, testing::ValuesIn(over(Memory::addresses)), name_of_test);
INSTANTIATE_TEST_SUITE_P(OverAddresses, Determinism, testing::ValuesIn(over(Memory::addresses)), name_of_test);
INSTANTIATE_TEST_SUITE_P(OverHostMemory, Conformance, testing::ValuesIn(over(Memory::host)), name_of_test);
INSTANTIATE_TEST_SUITE_P(OverADriver, Conformance, testing::ValuesIn(over(Memory::driver)), name_of_test);

}  // namespace
}  // namespace hbmscope::allocator
