#include "allocator/reference/replay/check_places.h"

#include <algorithm>
#include <concepts>
#include <numeric>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

using Region = RecordedPlaces::Region;

// The driver as recorded: grants what the trace granted next and refuses everything else.
class RecordedDriver final : public Upstream {
 public:
  // Memory that was mapped to reserved addresses is a region like any other for an allocator that doesn't reserve.
  RecordedDriver(const std::vector<Region>& regions, bool allocator_reserves)
      : regions_(regions), allocator_reserves_(allocator_reserves) {}

  void begin_operation(std::uint64_t operation) { operation_ = operation; }
  // The next region event of this operation in the trace, or null.
  const Region* next() const {
    const bool has_more = next_ < regions_.size() && regions_[next_].operation == operation_;
    return has_more ? &regions_[next_] : nullptr;
  }
  void take() { ++next_; }

  std::optional<Claim> claim(std::uint64_t bytes) override {
    const Region* region = next();
    if (region == nullptr || region->is_released || region->claim.bytes != bytes) return {};
    if (region->is_expandable && allocator_reserves_) return {};
    return region->claim;
  }
  std::optional<std::uint64_t> reserve(std::uint64_t) override {
    const Region* region = next();
    if (region == nullptr || region->is_released) return {};
    return region->claim.base;
  }
  bool map(const Claim& addresses) override {
    const Region* region = next();
    return region != nullptr && !region->is_released && region->claim.base == addresses.base &&
           region->claim.bytes == addresses.bytes;
  }
  void release(const Claim&) override {}

 private:
  const std::vector<Region>& regions_;
  bool allocator_reserves_;
  std::size_t next_ = 0;
  std::uint64_t operation_ = 0;
};

std::string text_from(const Region& region) {
  return fmt::format("{} B at {:#x} {}", region.claim.bytes, region.claim.base,
                     region.is_released ? "given back" : "claimed");
}

// Compares an allocator of class A with its options O.
template <class A, class O>
class PlaceChecker final : public Sink {
 public:
  PlaceChecker(const RequestStream& stream, const RecordedPlaces& places, const O& options)
      : stream_(stream),
        places_(places),
        driver_(places.regions, std::same_as<A, pytorch::CachingAllocator>),
        allocator_(driver_, options),
        slots_(stream) {}

  CheckResult run() {
    const std::uint64_t before = places_.blocks_before.size();
    if constexpr (std::same_as<A, pytorch::CachingAllocator>) adopt();
    allocator_.set_sink(this);
    for (at_ = before; at_ < stream_.operations.size() && !result_.difference; ++at_) check(stream_.operations[at_]);
    allocator_.set_sink(nullptr);
    return std::move(result_);
  }

  void on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) override {
    expect({at_, claim, false, false});
  }
  void on_claim_refused(std::uint64_t) override {}
  void on_region_released(std::uint32_t, const Claim& claim) override { expect({at_, claim, true, false}); }

 private:
  // The address in each slot.
  class Slots {
   public:
    explicit Slots(const RequestStream& stream) : addresses_(stream.slots) {}
    std::uint64_t& operator[](const Operation& operation) { return addresses_[operation.slot]; }

   private:
    std::vector<std::uint64_t> addresses_;
  };

  void adopt() requires std::same_as<A, pytorch::CachingAllocator> {
    const std::vector<PoolBlock>& before = places_.blocks_before;
    std::vector<std::size_t> by_address(before.size());
    std::iota(by_address.begin(), by_address.end(), std::size_t{0});
    std::stable_sort(by_address.begin(), by_address.end(),
                     [&](std::size_t a, std::size_t b) { return before[a].address < before[b].address; });
    for (std::size_t number = 0; number < places_.regions_before.size(); ++number) {
      const Claim& region = places_.regions_before[number];
      std::vector<PoolBlock> blocks;
      std::uint32_t device_stream = 0;
      for (auto at = std::partition_point(by_address.begin(), by_address.end(),
                                          [&](std::size_t i) { return before[i].address < region.base; });
           at != by_address.end() && before[*at].address < region.base + region.bytes; ++at) {
        blocks.push_back(before[*at]);
        device_stream = stream_.operations[*at].request.stream;
        slots_[stream_.operations[*at]] = before[*at].address;
      }
      allocator_.adopt(region, device_stream, blocks, places_.private_pools_before[number]);
    }
  }

  void differ(const char* what, std::string recorded, std::string replayed) {
    if (result_.difference) return;
    result_.difference =
        Difference{0, fmt::format("{} of operation {}", what, at_ + 1), std::move(recorded), std::move(replayed)};
  }

  void expect(const Region& replayed) {
    const Region* recorded = driver_.next();
    if (recorded == nullptr) return differ("a segment", "nothing more", text_from(replayed));
    if (recorded->is_released != replayed.is_released || recorded->claim.base != replayed.claim.base ||
        recorded->claim.bytes != replayed.claim.bytes)
      return differ("a segment", text_from(*recorded), text_from(replayed));
    driver_.take();
    ++result_.events;
  }

  void check(const Operation& operation) {
    driver_.begin_operation(at_);
    // The cache was released: by the program, or because the driver refused this request.
    if constexpr (std::same_as<A, pytorch::CachingAllocator>)
      if (driver_.next() != nullptr && driver_.next()->is_released) allocator_.release_cached();
    if (operation.is_free) {
      if (slots_[operation] != 0) allocator_.free(slots_[operation]);
      slots_[operation] = 0;
      return finish();
    }
    const Allocation answer = allocator_.allocate(operation.request);
    const std::uint64_t replayed = answer.outcome == Outcome::allocated ? answer.address : 0;
    const std::uint64_t recorded = places_.addresses[at_];
    slots_[operation] = replayed;
    finish();
    if (operation.request.bytes == 0) return;
    const auto text = [](std::uint64_t address) { return address == 0 ? "refused" : fmt::format("{:#x}", address); };
    if (replayed != recorded) return differ("the address", text(recorded), text(replayed));
    ++result_.answers;
  }

  void finish() {
    if (driver_.next() != nullptr) differ("a segment", text_from(*driver_.next()), "nothing");
  }

  const RequestStream& stream_;
  const RecordedPlaces& places_;
  RecordedDriver driver_;
  A allocator_;
  Slots slots_;
  CheckResult result_;
  std::uint64_t at_ = 0;
};

}  // namespace

tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const pytorch::Options& options) {
  if (places.is_expandable_before)
    return tl::unexpected<std::string>(
        "the trace begins with expandable segments, and does not say which addresses they had reserved");
  return PlaceChecker<pytorch::CachingAllocator, pytorch::Options>(stream, places, options).run();
}

tl::expected<CheckResult, std::string> check_places(const RequestStream& stream, const RecordedPlaces& places,
                                                    const xla_gpu::Options& options) {
  if (!places.regions_before.empty() || !places.blocks_before.empty())
    return tl::unexpected<std::string>("the trace begins after the pool had been used");
  return PlaceChecker<xla_gpu::Bfc, xla_gpu::Options>(stream, places, options).run();
}

}  // namespace hbmscope::allocator
