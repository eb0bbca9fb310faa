#include "analysis/read/requests/replay_recorder.h"

#include <fmt/format.h>

namespace hbmscope {
namespace {

using allocator::Claim;
using allocator::xla_gpu::Bfc;
using allocator::xla_gpu::Chunk;

constexpr std::int64_t no_time_ns = 0;  // All alike: a stream without times.

}  // namespace

ReplayRecorder::ReplayRecorder(const std::string& file, const allocator::xla_gpu::Options& options,
                               const std::string& allocator_name)
    : writer_({file, "replay", "hbmscope replay", "xla_gpu", 0}) {
  const allocator::xla_gpu::VersionRules& rules = allocator::xla_gpu::rules_of(options.version);
  wire::HeapRecord heap;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
  heap.device = 0;
  heap.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses |
               wire::heap_flag::is_complete_at_start | (rules.is_spatial ? wire::heap_flag::has_two_ends : 0);
  heap_ = writer_.events().define_heap(heap, allocator_name, "device");
  writer_.events().add_job_fact("xla_gpu.version", rules.name);
  writer_.events().add_job_fact("xla_gpu.certainty", allocator::xla_gpu::text_from_certainty(rules.certainty));
  writer_.events().add_job_fact("xla_gpu.limit_bytes", fmt::to_string(options.limit_bytes));
  writer_.events().add_job_fact("xla_gpu.preallocate", options.allow_growth ? "false" : "true");
}

void ReplayRecorder::on_allocated(const Bfc&, const Chunk& block) {
  wire::AllocRecord record;
  record.address = block.address;
  record.size = block.bytes;
  record.requested = block.requested_bytes;
  record.heap = heap_;
  if (block.tag == allocator::xla_gpu::Tag::upper) record.flags = wire::block_flag::upper_end;
  writer_.events().alloc(record, no_time_ns);
}

void ReplayRecorder::on_freed(const Bfc&, const Chunk& block) {
  writer_.events().free(heap_, block.address, block.bytes, 0, no_time_ns);
}

void ReplayRecorder::on_refused(const Bfc& allocator, const allocator::xla_gpu::Request& request) {
  wire::OutOfMemoryRecord record;
  record.asked = request.bytes;
  record.heap = heap_;
  // What could still be claimed up to the limit; a pool above it claims on, and nobody knows how much.
  const allocator::xla_gpu::Statistics statistics = allocator.statistics();
  if (statistics.limit_bytes >= statistics.pool_bytes)
    record.available = statistics.limit_bytes - statistics.pool_bytes;
  writer_.events().add(record, no_time_ns);
}

void ReplayRecorder::on_region_claimed(const Claim& claim) {
  wire::RegionGrowRecord record;
  record.address = claim.base;
  record.size = claim.bytes;
  record.heap = heap_;
  writer_.events().add(record, no_time_ns);
}

void ReplayRecorder::on_region_released(const Claim& claim) {
  wire::RegionShrinkRecord record;
  record.address = claim.base;
  record.size = claim.bytes;
  record.heap = heap_;
  writer_.events().add(record, no_time_ns);
}

void ReplayRecorder::on_claim_refused(std::uint64_t asked_bytes) {
  wire::DriverRefusalRecord record;
  record.asked = asked_bytes;
  record.heap = heap_;
  writer_.events().add(record, no_time_ns);
}

const Trace& ReplayRecorder::close() {
  writer_.close();
  return writer_.trace();
}

}  // namespace hbmscope
