#include "allocator/emulated/workload/annotated_device.h"

namespace hbmscope::allocator {
namespace {

bool has_two_ends(const AllocatorOptions& options) {
  const auto* xla = std::get_if<xla_gpu::Options>(&options);
  return xla != nullptr && xla_gpu::rules_of(xla->version).is_spatial;
}

}  // namespace

AnnotatedDevice::AnnotatedDevice(const AllocatorOptions& options, const VirtualOptions& upstream)
    : name_(pool_name_of(options, 0)),
      device_bytes_(upstream.device_bytes),
      upstream_(upstream),
      allocator_(make_allocator(options, upstream_)) {
  allocator_->set_sink(this);
  heap_ = HBMSCOPE_HEAP(name_.c_str(), row_of(options).memory_kind.data(), 0);
  if (kind_of(options) == Kind::pinned_host) heap_.device = ~0U;  // No device.
  if (has_two_ends(options)) heap_.flags |= HBMSCOPE_HAS_TWO_ENDS;
  heap_.user = this;
  heap_.enumerate = [](hbmscope_heap* heap, const hbmscope_listing* listing) {
    static_cast<AnnotatedDevice*>(heap->user)->enumerate(*listing);
  };
  hbmscope_heap_add(&heap_);
}

AnnotatedDevice::~AnnotatedDevice() {
  allocator_->set_sink(nullptr);
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
  const Allocation got = allocator_->allocate({.bytes = bytes});
  if (got.outcome != Outcome::allocated) {
    const std::uint64_t left = device_bytes_ ? *device_bytes_ - upstream_.claimed_bytes() : HBMSCOPE_UNKNOWN;
    const hbmscope_failure failure{bytes, left, "RESOURCE_EXHAUSTED", &by.stack};
    hbmscope_fail(&heap_, &failure);
    throw workload::OutOfMemory{bytes};
  }
  blocks_[got.address] = {&by, got.bytes, bytes, got.is_at_upper_end ? std::uint32_t{HBMSCOPE_UPPER_END} : 0};
  const hbmscope_block block{got.address, got.bytes, bytes, 0, blocks_[got.address].flags, &by.stack, by.tag_or_null()};
  hbmscope_alloc_block(&heap_, &block);
  return got.address;
}

void AnnotatedDevice::free(std::uint64_t address) noexcept {
  hbmscope_free(&heap_, address, nullptr);
  blocks_.erase(address);
  allocator_->free(address);
}

void AnnotatedDevice::mark(const char* name, workload::Phase phase) {
  hbmscope_text& text = marks_.try_emplace(name, hbmscope_text{name, 0}).first->second;
  hbmscope_mark(&text, 0, static_cast<std::uint32_t>(phase));
}

void AnnotatedDevice::enumerate(const hbmscope_listing& listing) {
  for (const Claim& claim : allocator_->claims()) listing.region(listing.listener, claim.base, claim.bytes);
  for (const auto& [address, block] : blocks_)
    listing.block(listing.listener, address, block.bytes, block.requested, block.flags, &block.by->stack,
                  block.by->tag_or_null());
}

void AnnotatedDevice::on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) {
  hbmscope_region(&heap_, claim.base, claim.bytes);
}

void AnnotatedDevice::on_claim_refused(std::uint64_t) {}

void AnnotatedDevice::on_region_released(std::uint32_t, const Claim& claim) {
  hbmscope_region_gone(&heap_, claim.base, claim.bytes);
}

}  // namespace hbmscope::allocator
