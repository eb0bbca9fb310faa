#include "allocator/reference/stream_order/stream_ordered.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace hbmscope::allocator {
namespace {

// The most blocks set aside for one request before it waits instead.
constexpr std::size_t put_by_max = 16;

}  // namespace

void StreamOrdered::Guarded::release(const Claim& claim) {
  pending_.wait(claim.base, claim.base + claim.bytes, nullptr);
  pending_.cut(claim.base, claim.base + claim.bytes);
  upstream_.release(claim);
}

void StreamOrdered::Guarded::unmap(const Claim& addresses) {
  pending_.wait(addresses.base, addresses.base + addresses.bytes, nullptr);
  pending_.cut(addresses.base, addresses.base + addresses.bytes);
  upstream_.unmap(addresses);
}

StreamOrdered::StreamOrdered(const AllocatorOptions& options, Upstream& upstream, Streams& streams)
    : streams_(streams), guarded_(upstream, pending_), allocator_(make_allocator(options, guarded_)) {}

StreamOrdered::~StreamOrdered() {
  for (Deferred& deferred : deferred_)
    for (const Mark& mark : deferred.marks) mark.line->wait(mark.event);
}

StreamOrdered::Known& StreamOrdered::known(Stream stream) {
  const auto found = known_.find(stream);
  if (found != known_.end()) return found->second;
  if (stream != nullptr) ++streams_numbered_;
  return known_.try_emplace(stream, streams_, stream, stream == nullptr ? 0 : streams_numbered_).first->second;
}

// The allocator's first choice that no other stream uses. The caller returns the blocks that were set aside.
Allocation StreamOrdered::take_free_of_others(const Request& request, EventLine& line,
                                              std::vector<Allocation>& put_by) {
  while (put_by.size() < put_by_max) {
    const Allocation got = allocator_->allocate(request);
    if (got.outcome != Outcome::allocated) return got;
    if (!pending_.is_pending_elsewhere(got.address, got.address + got.bytes, &line)) return got;
    put_by.push_back(got);
  }
  return {};
}

Allocation StreamOrdered::allocate(Request request, Stream stream) {
  give_back_what_is_done();
  auto& [line, number] = known(stream);
  request.stream = number;
  for (bool has_waited = false;; has_waited = true) {
    std::vector<Allocation> put_by;
    const Allocation got = take_free_of_others(request, line, put_by);
    for (const Allocation& piece : put_by) allocator_->free(piece.address);
    if (got.outcome == Outcome::allocated) {
      pending_.cut(got.address, got.address + got.bytes);
      blocks_[got.address] = {got.bytes, stream, {}, false, false};
      if (has_waited) ++waits_;
    }
    if (got.outcome != Outcome::out_of_memory) return got;
    if (!put_by.empty()) {
      const Allocation& first = put_by.front();
      pending_.wait(first.address, first.address + first.bytes, &line);
    } else if (!wait_for_a_deferred()) {
      return got;
    }
  }
}

bool StreamOrdered::record_stream(std::uint64_t address, Stream stream) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.is_deferred) return false;
  Block& block = found->second;
  if (stream == block.stream || std::find(block.users.begin(), block.users.end(), stream) != block.users.end())
    return true;
  try {
    block.users.push_back(stream);
  } catch (const std::bad_alloc&) {
    block.is_kept = true;
  }
  return true;
}

bool StreamOrdered::is_deferred(std::uint64_t address) const {
  const auto found = blocks_.find(address);
  return found != blocks_.end() && found->second.is_deferred;
}

// Records an event on each stream that may use the block. False: one of them is being captured.
bool StreamOrdered::mark(Deferred& deferred) {
  const Block& block = blocks_.at(deferred.address);
  std::vector<Stream> streams = block.users;
  streams.push_back(block.stream);
  std::erase(streams, deferred.stream);
  streams.push_back(deferred.stream);
  for (Stream stream : streams)
    if (streams_.is_capturing(stream)) return false;
  for (Stream stream : streams) {
    EventLine& line = line_of(stream);
    deferred.marks.push_back({&line, line.record()});
  }
  deferred.has_marks = true;
  return true;
}

// For all streams except the block's own, which keeps the order itself.
bool StreamOrdered::is_done(Deferred& deferred) {
  if (!deferred.has_marks && !mark(deferred)) return false;
  return std::all_of(deferred.marks.begin(), std::prev(deferred.marks.end()),
                     [](const Mark& mark) { return mark.line->is_done(mark.event); });
}

void StreamOrdered::give_back(std::uint64_t address, const Mark& own) {
  if (on_freed_) on_freed_(address);
  const auto block = blocks_.find(address);
  pending_.add(address, address + block->second.bytes, own.line, own.event);
  blocks_.erase(block);
  allocator_->free(address);
}

void StreamOrdered::give_back_what_is_done() {
  if (deferred_.empty()) return;
  std::vector<Deferred> kept;
  for (Deferred& deferred : deferred_)
    is_done(deferred) ? give_back(deferred.address, deferred.marks.back()) : kept.push_back(std::move(deferred));
  deferred_ = std::move(kept);
}

// Waits for the oldest block that can be waited for. False: there is none.
bool StreamOrdered::wait_for_a_deferred() {
  for (Deferred& deferred : deferred_) {
    if (!deferred.has_marks) continue;
    for (const Mark& mark : deferred.marks)
      if (&mark != &deferred.marks.back()) mark.line->wait(mark.event);
    give_back_what_is_done();
    return true;
  }
  return false;
}

FreeOutcome StreamOrdered::free(std::uint64_t address, Stream stream) {
  if (allocator_->fault() != Fault::none) return FreeOutcome::fault;
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.is_deferred) return FreeOutcome::unknown_address;
  Block& block = found->second;
  const bool has_one_stream = block.users.empty() && block.stream == stream;
  if (has_one_stream && !block.is_kept && !streams_.is_capturing(stream)) {
    EventLine& line = line_of(stream);
    give_back(address, {&line, line.record()});
    return FreeOutcome::freed;
  }
  Deferred freed{address, stream, {}, false};
  if (!block.is_kept && is_done(freed)) {
    give_back(address, freed.marks.back());
    return FreeOutcome::freed;
  }
  block.is_deferred = true;
  if (!block.is_kept) deferred_.push_back(std::move(freed));
  return FreeOutcome::freed;
}

}  // namespace hbmscope::allocator
