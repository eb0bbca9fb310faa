#include "allocator/annotated/annotated_device.h"

#include <utility>

namespace hbmscope::allocator {

AnnotatedDevice::AnnotatedDevice(std::string name, const xla_gpu::Options& options, const VirtualOptions& upstream)
    : name_(std::move(name)),
      device_bytes_(upstream.device_bytes),
      upstream_(upstream),
      allocator_(upstream_, options, this) {
  heap_ = HBMSCOPE_HEAP(name_.c_str(), "device", 0);
  if (allocator_.rules().is_spatial) heap_.flags |= HBMSCOPE_HAS_TWO_ENDS;
  heap_.user = this;
  heap_.enumerate = [](hbmscope_heap* heap, const hbmscope_listing* listing) {
    static_cast<AnnotatedDevice*>(heap->user)->enumerate(*listing);
  };
  hbmscope_heap_add(&heap_);
}

AnnotatedDevice::~AnnotatedDevice() {
  hbmscope_heap_remove(&heap_);
}

AnnotatedDevice::Known& AnnotatedDevice::known(const workload::Site& site) {
  const auto [found, is_new] = sites_.try_emplace(&site);
  Known& known = found->second;
  if (!is_new) return known;
  for (const workload::Frame& frame : site.frames) known.frames.push_back({frame.function, frame.file, frame.line});
  known.stack = {known.frames.data(), static_cast<std::uint32_t>(known.frames.size()), 0, 0};
  known.has_tag = site.tag != nullptr;
  known.tag = {site.tag, 0};
  return known;
}

std::uint64_t AnnotatedDevice::allocate(std::uint64_t bytes, const workload::Site& site) {
  Known& by = known(site);
  const xla_gpu::Allocation got = allocator_.allocate({.bytes = bytes});
  if (got.outcome != xla_gpu::Outcome::allocated) {
    const std::uint64_t left = device_bytes_ ? *device_bytes_ - upstream_.claimed_bytes() : HBMSCOPE_UNKNOWN;
    const hbmscope_failure failure{bytes, left, "RESOURCE_EXHAUSTED", &by.stack};
    hbmscope_fail(&heap_, &failure);
    throw workload::OutOfMemory{bytes};
  }
  blocks_[got.address] = &by;
  hbmscope_alloc(&heap_, got.address, got.bytes, bytes, &by.stack, by.has_tag ? &by.tag : nullptr);
  return got.address;
}

void AnnotatedDevice::free(std::uint64_t address) noexcept {
  hbmscope_free(&heap_, address, nullptr);
  blocks_.erase(address);
  allocator_.free(address);
}

void AnnotatedDevice::mark(const char* name, workload::Phase phase) {
  hbmscope_text& text = marks_.try_emplace(name, hbmscope_text{name, 0}).first->second;
  hbmscope_mark(&text, 0, static_cast<std::uint32_t>(phase));
}

void AnnotatedDevice::enumerate(const hbmscope_listing& listing) {
  for (const xla_gpu::Region& region : allocator_.regions())
    listing.region(listing.listener, region.claim.base, region.claim.bytes);
  for (const auto& [address, by] : blocks_) {
    const xla_gpu::Chunk& chunk = allocator_.chunk(allocator_.find_block(address));
    listing.block(listing.listener, address, chunk.bytes, chunk.requested_bytes, 0, &by->stack,
                  by->has_tag ? &by->tag : nullptr);
  }
}

void AnnotatedDevice::on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) {
  hbmscope_region(&heap_, claim.base, claim.bytes);
}

void AnnotatedDevice::on_claim_refused(std::uint64_t) {}

void AnnotatedDevice::on_region_released(std::uint32_t, const Claim& claim) {
  hbmscope_region_gone(&heap_, claim.base, claim.bytes);
}

}  // namespace hbmscope::allocator
