#include "tests/allocator/torch_replay.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

std::string_view name_of(pytorch::Action action) {
  switch (action) {
    case pytorch::Action::allocated: return "ALLOC";
    case pytorch::Action::free_requested: return "FREE_REQUESTED";
    case pytorch::Action::free_completed: return "FREE_COMPLETED";
    case pytorch::Action::segment_allocated: return "SEGMENT_ALLOC";
    case pytorch::Action::segment_freed: return "SEGMENT_FREE";
    case pytorch::Action::segment_mapped: return "SEGMENT_MAP";
    case pytorch::Action::segment_unmapped: return "SEGMENT_UNMAP";
    case pytorch::Action::out_of_memory: return "OOM";
  }
  return {};
}

std::string text_from(pytorch::PoolId pool) {
  return fmt::format("{},{}", pool.first, pool.second);
}

pytorch::PoolId pool_in(std::string_view text) {
  const auto parts = split_at(text, ',');
  return {number_in(parts[0]), parts.size() > 1 ? number_in(parts[1]) : 0};
}

}  // namespace

TorchReplay::TorchReplay(const TorchTrace& trace, const pytorch::Options& options)
    : trace_(trace), ranks_(ranks_of_streams(trace)), device_(trace), allocator_(device_, options) {
  allocator_.set_progress(&device_);
  allocator_.set_tracker(this);
}

std::uint32_t TorchReplay::rank_of(std::uint64_t stream) const {
  return stream < ranks_.size() ? ranks_[stream] : static_cast<std::uint32_t>(stream);
}

std::uint32_t TorchReplay::stream_of_rank(std::uint32_t rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  return found == ranks_.end() ? rank : static_cast<std::uint32_t>(found - ranks_.begin());
}

void TorchReplay::on_event(const pytorch::TraceEvent& event) {
  const bool is_oom = event.action == pytorch::Action::out_of_memory;
  write(fmt::format("e\t{}\t{:x}\t{}\t{}\t{}", name_of(event.action), is_oom ? device_.free_bytes() : event.address,
                    event.bytes, stream_of_rank(event.stream), text_from(event.pool)));
  const Statistics now = allocator_.statistics();
  if (is_oom) write(fmt::format("h\tOOM\t{}\t{}\t{}", event.bytes, now.in_use_bytes, now.pool_bytes));
}

void TorchReplay::allocate(std::uint64_t bytes, std::uint32_t stream) {
  const Allocation answer = allocator_.allocate({bytes, Space::default_memory, stream, 1});
  if (answer.outcome == Outcome::out_of_memory) return write("o\t=\tOOM");
  if (answer.outcome == Outcome::allocated) {
    const Statistics now = allocator_.statistics();
    write(fmt::format("h\t{:x}\t{}\t{}\t{}", answer.address, answer.bytes, now.in_use_bytes, now.pool_bytes));
    block_bytes_[answer.address] = answer.bytes;
  }
  write(fmt::format("o\t=\t{:x}", answer.address));
}

void TorchReplay::free(std::uint64_t address) {
  if (address == 0) return;
  if (allocator_.free(address) != FreeOutcome::freed) return write("no block at this address");
  const Statistics now = allocator_.statistics();
  write(fmt::format("h\t{:x}\t-{}\t{}\t{}", address, block_bytes_[address], now.in_use_bytes, now.pool_bytes));
  block_bytes_.erase(address);
}

void TorchReplay::play_pool(std::string_view operation, std::string_view pool) {
  if (operation == "PB") {
    if (pool_ != pool_in(pool)) allocator_.create_pool(pool_ = pool_in(pool));
    allocator_.begin_pool(pool_);
  } else if (operation == "PE") {
    allocator_.end_pool(pool_in(pool));
    allocator_.release_pool(pool_in(pool));
  } else {
    allocator_.release_pool(pool_);
    allocator_.release_cached(pool_);
    pool_ = pytorch::default_pool;
  }
}

void TorchReplay::write_snapshot() {
  for (const pytorch::SnapshotSegment& segment : allocator_.snapshot()) {
    write(fmt::format("S\t{:x}\t{}\t{}\t{:d}\t{:d}\t{}", segment.address, segment.bytes, stream_of_rank(segment.stream),
                      segment.is_large, segment.is_expandable, text_from(segment.pool)));
    for (const pytorch::SnapshotBlock& block : segment.blocks)
      write(fmt::format("B\t{:x}\t{}\t{}\t{:d}\t{:d}", block.address, block.bytes, block.requested_bytes,
                        block.is_allocated, block.is_active));
  }
  const Statistics now = allocator_.statistics();
  const pytorch::TorchStatistics more = allocator_.torch_statistics();
  write(
      fmt::format("t\talloc={} reserved={} active={} requested={} inactive_split={} retries={} ooms={} "
                  "peak_alloc={} peak_reserved={}",
                  now.in_use_bytes, now.pool_bytes, more.active_bytes, more.requested_bytes, more.inactive_split_bytes,
                  more.retries, more.out_of_memories, now.peak_in_use_bytes, now.peak_pool_bytes));
}

void TorchReplay::play(const TorchStep& step) {
  if (step.operation.empty()) return write_snapshot();
  ++result_.operations;
  auto fields = step.operation;
  fields.resize(3);
  const std::string_view operation = fields[0];
  const auto stream_in = [&](std::string_view text) { return rank_of(number_in(text)); };
  if (operation == "A") return allocate(number_in(fields[1]), stream_in(fields[2]));
  if (operation == "F") return free(address_in(fields[1]));
  if (operation == "W") return device_.work(stream_in(fields[1]), number_in(fields[2]));
  if (operation == "T") return device_.pass(number_in(fields[1]));
  if (operation == "E") return allocator_.release_cached();
  if (operation == "PB" || operation == "PE" || operation == "PD") return play_pool(operation, fields[1]);
  if (operation != "R") return write("an unknown operation");
  if (!allocator_.record_stream(address_in(fields[1]), stream_in(fields[2]))) write("no block at this address");
}

void TorchReplay::compare(const TorchStep& step) {
  const std::size_t lines = std::max(step.answers.size(), written_.size());
  result_.lines += lines;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::string_view real = i < step.answers.size() ? step.answers[i] : "nothing";
    const std::string_view ours = i < written_.size() ? std::string_view(written_[i]) : "nothing";
    if (real == ours) continue;
    if (++result_.differences <= 5)
      result_.first_differences.push_back(
          fmt::format("step of line {}, answer {}: real '{}', ours '{}'", step.line, i + 1, real, ours));
  }
}

TorchComparison TorchReplay::run() {
  for (const TorchStep& step : trace_.steps) {
    written_.clear();
    device_.begin(step, written_);
    play(step);
    compare(step);
  }
  allocator_.set_tracker(nullptr);
  result_.early_completions = device_.early_completions();
  return std::move(result_);
}

}  // namespace hbmscope::allocator
