// Where the original aborts or hangs, ours answers so, now and ever after.
#include <cmath>

#include <gtest/gtest.h>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/xla_gpu/bfc.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::xla_gpu {
namespace {

Options options_of(Version version, std::uint64_t limit_bytes) {
  Options options;
  options.version = version;
  options.limit_bytes = limit_bytes;
  return options;
}

void expect_end(Bfc& bfc, Fault fault) {
  EXPECT_EQ(bfc.fault(), fault);
  const Allocation again = bfc.allocate({256, Space::default_memory, 0, 1});
  EXPECT_EQ(again.outcome, Outcome::fault);
  EXPECT_EQ(again.fault, fault);
  EXPECT_EQ(bfc.free(0), FreeOutcome::fault);
  EXPECT_FALSE(text_from_fault(fault).empty());
}

// Regions are multiples of 16 MiB; above the limit of a pool, this lets the pool grow by a second region.
VirtualOptions coarse_device() {
  VirtualOptions device;
  device.granularity = 16 * mib;
  return device;
}

TEST(Faults, a_second_region_next_to_a_gap) {
  VirtualAddresses upstream(coarse_device());
  Bfc bfc(upstream, options_of(Version::spatial_v1, 17 * mib));
  EXPECT_EQ(bfc.allocate({mib, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
  EXPECT_EQ(bfc.allocate({33 * mib, Space::default_memory, 0, 1}).outcome, Outcome::fault);
  expect_end(bfc, Fault::second_gap);
}

TEST(Faults, a_free_can_make_a_gap_next_to_another) {
  VirtualAddresses upstream(coarse_device());
  Bfc bfc(upstream, options_of(Version::spatial_v1, 31 * mib));
  const Allocation whole = bfc.allocate({31 * mib, Space::default_memory, 0, 1});
  EXPECT_EQ(whole.bytes, 32 * mib);  // No gap is left, so a second region causes no problem yet.
  EXPECT_EQ(bfc.allocate({mib, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
  EXPECT_EQ(bfc.free(whole.address), FreeOutcome::fault);
  expect_end(bfc, Fault::second_gap);
}

TEST(Faults, a_small_request_with_the_driver_full) {
  VirtualOptions device;
  device.device_bytes = 2 * mib;
  Options options = options_of(Version::classic, 16 * mib);
  options.allow_growth = true;
  for (const bool hangs : {true, false}) {
    options.hangs_on_small_refusal = hangs;
    VirtualAddresses upstream(device);
    Bfc bfc(upstream, options);
    EXPECT_EQ(bfc.allocate({2 * mib, Space::default_memory, 0, 1}).outcome, Outcome::allocated);
    // From 2,560 bytes on, the next step is below the required size.
    EXPECT_EQ(bfc.allocate({2560, Space::default_memory, 0, 1}).outcome, Outcome::out_of_memory);
    const Allocation small = bfc.allocate({2304, Space::default_memory, 0, 1});
    EXPECT_EQ(small.outcome, hangs ? Outcome::fault : Outcome::out_of_memory);
    if (hangs) expect_end(bfc, Fault::endless_backpedal);
  }
}

// A driver with little left at any time.
class Stingy final : public Upstream {
 public:
  std::optional<Claim> claim(std::uint64_t bytes) override {
    if (bytes > 4 * mib) return {};
    next_ += 8 * mib;
    return Claim{next_, bytes};
  }
  void release(const Claim&) override {}

 private:
  std::uint64_t next_ = 0;
};

TEST(Faults, doubling_the_next_region_beyond_64_bits) {
  Options options = options_of(Version::classic, std::uint64_t{1} << 40);
  options.allow_growth = true;
  Stingy upstream;
  Bfc bfc(upstream, options);
  Allocation answer;
  for (int i = 0; i < 43; ++i) {
    answer = bfc.allocate({2 * mib, Space::default_memory, 0, 1});
    ASSERT_EQ(answer.outcome, Outcome::allocated) << i;
    // Half of each region is left over: take it, so that the next request needs another region.
    while (bfc.largest_free_bytes() >= 2 * mib) bfc.allocate({2 * mib, Space::default_memory, 0, 1});
  }
  answer = bfc.allocate({2 * mib, Space::default_memory, 0, 1});
  EXPECT_EQ(answer.outcome, Outcome::fault);
  expect_end(bfc, Fault::endless_growth);
}

TEST(Faults, an_alignment_that_is_no_power_of_two) {
  VirtualAddresses upstream({});
  Bfc bfc(upstream, options_of(Version::classic_align, 16 * mib));
  EXPECT_EQ(bfc.allocate({256, Space::default_memory, 0, 48}).outcome, Outcome::fault);
  expect_end(bfc, Fault::bad_alignment);
}

TEST(Faults, a_region_that_is_no_multiple_of_256_bytes) {
  VirtualOptions odd;
  odd.granularity = 1000;
  VirtualAddresses upstream(odd);
  Bfc bfc(upstream, options_of(Version::classic, 16 * mib));
  EXPECT_EQ(bfc.allocate({256, Space::default_memory, 0, 1}).outcome, Outcome::fault);
  expect_end(bfc, Fault::bad_region);
}

TEST(Faults, options_that_are_not_possible_are_named) {
  EXPECT_EQ(find_fault_of(options_of(Version::classic, mib)), nullptr);
  EXPECT_NE(find_fault_of(options_of(Version::classic, 0)), nullptr);
  EXPECT_NE(find_fault_of(options_of(Version::classic, std::uint64_t{1} << 63)), nullptr);
  Options options = options_of(Version::spatial_v1, mib);
  options.allow_growth = true;
  EXPECT_NE(find_fault_of(options), nullptr);
  options = options_of(Version::classic, mib);
  for (const double fraction : {-0.1, 1.5, 1e-9, std::nan("")}) {
    options.fragmentation_fraction = fraction;
    EXPECT_NE(find_fault_of(options), nullptr) << fraction;
  }
}

TEST(Faults, a_request_beyond_all_devices_is_out_of_memory) {
  VirtualAddresses upstream({});
  Bfc bfc(upstream, options_of(Version::classic_align, 16 * mib));
  EXPECT_EQ(bfc.allocate({~std::uint64_t{0}, Space::default_memory, 0, 1}).outcome, Outcome::out_of_memory);
  EXPECT_EQ(bfc.allocate({request_bytes_max, Space::default_memory, 0, std::uint64_t{1} << 62}).outcome,
            Outcome::out_of_memory);
  EXPECT_EQ(bfc.allocate({256, Space::default_memory, 0, std::uint64_t{1} << 63}).outcome, Outcome::out_of_memory);
}

}  // namespace
}  // namespace hbmscope::allocator::xla_gpu
