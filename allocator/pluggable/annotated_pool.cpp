#include "allocator/pluggable/annotated_pool.h"

namespace hbmscope::allocator {

AnnotatedPool::AnnotatedPool(const AllocatorOptions& options, int device, StreamOrdered& pool)
    : name_(pool_name_of(options, static_cast<std::uint32_t>(device))), pool_(pool) {
  heap_ = HBMSCOPE_HEAP(name_.c_str(), "device", static_cast<std::uint32_t>(device));
  if (const auto* xla = std::get_if<xla_gpu::Options>(&options)) {
    const xla_gpu::VersionRules& rules = xla_gpu::rules_of(xla->version);
    if (rules.is_spatial) heap_.flags |= HBMSCOPE_HAS_TWO_ENDS;
    if (rules.default_memory.end == xla_gpu::Tag::upper) flags_ = HBMSCOPE_UPPER_END;
  }
  heap_.user = this;
  heap_.enumerate = [](hbmscope_heap* heap, const hbmscope_listing* listing) {
    static_cast<AnnotatedPool*>(heap->user)->enumerate(*listing);
  };
  hbmscope_heap_add(&heap_);
  pool_.allocator().set_sink(this);
  pool_.set_on_freed([this](std::uint64_t address) { hbmscope_free(&heap_, address, nullptr); });
}

AnnotatedPool::~AnnotatedPool() {
  pool_.allocator().set_sink(nullptr);
  pool_.set_on_freed({});
  hbmscope_heap_remove(&heap_);
}

void AnnotatedPool::report_allocated(const Allocation& block, std::uint64_t requested_bytes, std::uint32_t stream) {
  const hbmscope_block reported{block.address, block.bytes, requested_bytes, stream, flags_, nullptr, nullptr};
  hbmscope_alloc_block(&heap_, &reported);
}

void AnnotatedPool::report_free_requested(std::uint64_t address) {
  hbmscope_free_requested(&heap_, address, nullptr);
}

void AnnotatedPool::report_out_of_memory(std::uint64_t requested_bytes) {
  hbmscope_out_of_memory(&heap_, requested_bytes, "the pool is exhausted", nullptr);
}

void AnnotatedPool::enumerate(const hbmscope_listing& listing) {
  for (const Claim& claim : pool_.allocator().claims()) listing.region(listing.listener, claim.base, claim.bytes);
  for (const PoolBlock& block : pool_.allocator().pool_blocks())
    if (block.in_use && pool_.has_block(block.address))
      listing.block(listing.listener, block.address, block.bytes, block.requested_bytes, flags_, nullptr, nullptr);
}

void AnnotatedPool::on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) {
  hbmscope_region(&heap_, claim.base, claim.bytes);
}

void AnnotatedPool::on_region_released(std::uint32_t, const Claim& claim) {
  hbmscope_region_gone(&heap_, claim.base, claim.bytes);
}

}  // namespace hbmscope::allocator
