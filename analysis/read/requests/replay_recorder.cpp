#include "analysis/read/requests/replay_recorder.h"

#include <fmt/format.h>

#include "analysis/trace/reported_figures.h"

namespace hbmscope {
namespace {

using allocator::Allocator;
using allocator::Claim;
using allocator::ReplayBlock;

bool joins_regions(const allocator::AllocatorOptions& options) {
  const auto* pytorch = std::get_if<allocator::pytorch::Options>(&options);
  return pytorch != nullptr && pytorch->expandable_segments;
}

}  // namespace

ReplayRecorder::ReplayRecorder(const std::string& file, const allocator::AllocatorOptions& options,
                               const std::string& allocator_name, const allocator::RequestStream& stream,
                               const Definitions* source)
    : writer_({file, "replay", "hbmscope replay", std::string(allocator::name_of(options)), 0}),
      stream_(stream),
      source_(source),
      region_flags_(joins_regions(options) ? wire::region_flag::joins_neighbours : 0) {
  const std::string name(allocator::name_of(options));
  const auto* xla = std::get_if<allocator::xla_gpu::Options>(&options);
  const bool has_two_ends = xla != nullptr && allocator::xla_gpu::rules_of(xla->version).is_spatial;
  wire::HeapRecord heap;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
  heap.device = 0;
  heap.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses |
               wire::heap_flag::is_complete_at_start | (has_two_ends ? wire::heap_flag::has_two_ends : 0);
  heap_ = writer_.events().define_heap(heap, allocator_name, std::string(allocator::row_of(options).memory_kind));
  writer_.events().add_job_fact(name + ".certainty", allocator::text_from_certainty(allocator::certainty_of(options)));
  if (stream.config.upstream.device_bytes)
    writer_.events().add_job_fact(reported_figure::replayed_device,
                                  fmt::to_string(*stream.config.upstream.device_bytes));
  // As in PyTorch snapshots.
  if (joins_regions(options)) writer_.events().add_job_fact("torch.allocator.expandable_segments", "True");
  if (const auto* torch = std::get_if<allocator::pytorch::Options>(&options))
    if (const std::string conf = allocator::pytorch::conf_from_options(*torch); !conf.empty())
      writer_.events().add_job_fact("torch.allocator.PYTORCH_CUDA_ALLOC_CONF", conf);
  if (xla == nullptr) return;
  writer_.events().add_job_fact(reported_figure::replayed_version, allocator::xla_gpu::rules_of(xla->version).name);
  writer_.events().add_job_fact(reported_figure::replayed_limit, fmt::to_string(xla->limit_bytes));
  writer_.events().add_job_fact(reported_figure::replayed_preallocation, xla->allow_growth ? "false" : "true");
}

void ReplayRecorder::on_operation(std::uint64_t number) {
  // Without origins all times are equal: a stream without times.
  if (number < stream_.origins.size()) origin_ = stream_.origins[number];
}

std::uint32_t ReplayRecorder::frame_of(std::uint32_t source_frame) {
  const auto [known, is_new] = frames_.try_emplace(source_frame, 0);
  if (!is_new) return known->second;
  const TraceFrame frame = source_->frame(source_frame);
  const std::string_view function = source_->text(frame.function), file = source_->text(frame.file);
  // Stays marked as native code, because that determines whose code it is. The addresses belonged to the old process.
  known->second = source_->is_code(source_frame) ? writer_.events().define_code_frame({}, function, file)
                                                 : writer_.events().define_frame(function, file, frame.line);
  return known->second;
}

std::uint32_t ReplayRecorder::stack_of(std::uint32_t source_stack) {
  if (source_ == nullptr) return 0;
  // Walks from the innermost frame out to a known one, then back in.
  std::vector<std::uint32_t> missing;
  std::uint32_t known = 0;
  for (std::uint32_t at = source_stack; at != 0; at = source_->stack(at).parent) {
    if (const auto found = stacks_.find(at); found != stacks_.end()) {
      known = found->second;
      break;
    }
    missing.push_back(at);
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at)
    known = stacks_[*at] = writer_.events().define_stack(known, frame_of(source_->stack(*at).frame));
  return known;
}

void ReplayRecorder::on_allocated(const Allocator&, const ReplayBlock& block) {
  wire::AllocRecord record;
  record.address = block.address;
  record.size = block.bytes;
  record.requested = block.requested_bytes;
  record.heap = heap_;
  record.stack = stack_of(origin_.stack);
  record.stream = block.stream;
  if (source_ != nullptr) record.tag = writer_.events().define_string(source_->text(origin_.tag));
  if (block.is_at_upper_end) record.flags = wire::block_flag::upper_end;
  writer_.events().alloc(record, origin_.time_ns);
}

void ReplayRecorder::on_freed(const Allocator&, const ReplayBlock& block) {
  writer_.events().free(heap_, block.address, block.bytes, 0, origin_.time_ns);
}

void ReplayRecorder::on_refused(const Allocator& allocator, const allocator::Request& request) {
  wire::OutOfMemoryRecord record;
  record.requested = request.bytes;
  record.heap = heap_;
  record.stack = stack_of(origin_.stack);
  // What is left of the device, or where its size is unknown, of the limit. Unknown if the pool already exceeds that.
  const allocator::Statistics statistics = allocator.statistics();
  const std::uint64_t most = stream_.config.upstream.device_bytes.value_or(statistics.limit_bytes);
  if (most != allocator::no_limit && most >= statistics.pool_bytes) record.available = most - statistics.pool_bytes;
  writer_.events().add(record, origin_.time_ns);
}

void ReplayRecorder::on_region_claimed(const Claim& claim) {
  wire::RegionGrowRecord record;
  record.address = claim.base;
  record.size = claim.bytes;
  record.heap = heap_;
  record.flags = region_flags_;
  writer_.events().add(record, origin_.time_ns);
}

void ReplayRecorder::on_region_released(const Claim& claim) {
  wire::RegionShrinkRecord record;
  record.address = claim.base;
  record.size = claim.bytes;
  record.heap = heap_;
  writer_.events().add(record, origin_.time_ns);
}

void ReplayRecorder::on_claim_refused(std::uint64_t requested_bytes) {
  wire::DriverRefusalRecord record;
  record.requested = requested_bytes;
  record.heap = heap_;
  writer_.events().add(record, origin_.time_ns);
}

const Trace& ReplayRecorder::close() {
  writer_.close();
  return writer_.trace();
}

}  // namespace hbmscope
