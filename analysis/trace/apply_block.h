// How a state applies the records of a block, for the passes that do so. stream_state.h documents it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analysis/trace/stream_state.h"

namespace hbmscope {

template <class After>
void StreamState::apply(const wire::DecodedBlock& block, std::size_t number, const Definitions& definitions,
                        std::uint64_t end, const After& after) {
  using wire::RecordKind;
  constexpr bool reads_freed = requires {
    after.before_free(std::uint32_t{0});
  };
  if (number < next_block_) return;
  learn_heaps(definitions, block.header().sequence);
  const bool is_keyframe = block.header().type == wire::BlockType::keyframe;
  if (is_keyframe) {
    if (!begin_block_of_keyframe(block.header())) {
      next_block_ = number + 1;
      return;
    }
  } else if (next_record_ == 0) {
    if (is_in_keyframe_) is_listing_ = false;
    is_in_keyframe_ = false;
    // Events may be missing, or a block without events (definitions, or blocks that were already live).
    if (block.header().first_event > position_ || block.header().sequence != next_sequence_)
      skip_lost(block.header().first_event);
    next_sequence_ = block.header().sequence + 1;
  }
  const std::span<const std::uint8_t> kinds = block.kinds();
  const std::span<const std::int64_t> times = block.times_ns();
  const std::span<const wire::AllocRecord> allocs = block.rows<wire::AllocRecord>();
  const std::span<const wire::FreeRecord> frees = block.rows<wire::FreeRecord>();
  std::size_t row[256] = {};
  std::uint64_t event = block.header().first_event;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::uint8_t kind = kinds[i];
    const std::size_t at = row[kind]++;
    if (i < next_record_) {
      event += wire::is_event(kind) ? 1 : 0;
      continue;
    }
    if (wire::is_event(kind)) report_listed(event, times[i], after);
    if (wire::is_event(kind) && event >= end) {
      next_block_ = number;
      next_record_ = i;
      if (i == 0) next_sequence_ = block.header().sequence;  // To enter the block again, without a gap.
      return;
    }
    std::uint32_t heap = 0;
    if (is_keyframe && is_state(static_cast<RecordKind>(kind))) ++keyframe_rows_;
    switch (static_cast<RecordKind>(kind)) {
      case RecordKind::alloc:
        prefetch(allocs, at);
        heap = apply_alloc(allocs[at], event, definitions);
        break;
      case RecordKind::free:
        prefetch<reads_freed>(frees, at);
        if constexpr (reads_freed) after.before_free(frees[at].slot);
        heap = apply_free(frees[at].slot);
        break;
      case RecordKind::free_requested:
        heap = apply_free_requested(block.rows<wire::FreeRequestedRecord>()[at].slot);
        break;
      case RecordKind::free_at:
      case RecordKind::free_requested_at: ++problems_.unknown_frees; break;
      case RecordKind::move: heap = apply_move(block.rows<wire::MoveRecord>()[at]); break;
      case RecordKind::region_grow: {
        const auto& record = block.rows<wire::RegionGrowRecord>()[at];
        heap = apply_region(record.heap, record.address, record.size, record.flags, true, definitions);
        break;
      }
      case RecordKind::region_live: {
        const auto& record = block.rows<wire::RegionLiveRecord>()[at];
        heap = apply_region(record.heap, record.address, record.size, record.flags, true, definitions);
        break;
      }
      case RecordKind::region_shrink: {
        const auto& record = block.rows<wire::RegionShrinkRecord>()[at];
        heap = apply_region(record.heap, record.address, record.size, 0, false, definitions);
        break;
      }
      case RecordKind::live: {
        const wire::LiveRecord& record = block.rows<wire::LiveRecord>()[at];
        heap = is_keyframe ? apply_slot(record, definitions) : apply_live(record, definitions);
        break;
      }
      case RecordKind::free_slot:
        if (is_keyframe || is_listing_) apply_free_slot(block.rows<wire::FreeSlotRecord>()[at].slot);
        break;
      case RecordKind::handle_live:
      case RecordKind::mapping_live:
      case RecordKind::reserve_live:
        if (is_keyframe) physical_.restore(static_cast<RecordKind>(kind), block, at, definitions.heaps().size());
        break;
      case RecordKind::heap_gone: {
        const std::uint32_t gone = block.rows<wire::HeapGoneRecord>()[at].heap;
        if constexpr (requires { after.before_clear(gone); })
          if (gone != 0) after.before_clear(gone);
        heap = apply_heap_gone(gone);
        break;
      }
      case RecordKind::loss: apply_loss(block.rows<wire::LossRecord>()[at]); break;
      case RecordKind::listing: {
        const wire::ListingRecord& listing = block.rows<wire::ListingRecord>()[at];
        if constexpr (requires { after.before_clear(listing.heap); })
          if (listing.phase == 0) after.before_clear(listing.heap);
        if (is_keyframe && listing.phase != 0)
          end_in_keyframe(listing);
        else
          apply_listing(listing, definitions);
        if (is_keyframe && listing.phase == 0) begin_keyframe(listing);
        break;
      }
      default: physical_.apply(static_cast<RecordKind>(kind), block, at, event, definitions.heaps().size()); break;
    }
    if (wire::is_event(kind)) {
      position_ = event + 1;
      time_ns_ = times[i];
    }
    if (!wire::is_event(kind)) {
      if (heap != 0) note_listed(heap);
      continue;
    }
    ++event;
    if (heap != 0) after(event, times[i], heap);
    if (physical_.changed().empty()) continue;
    for (const std::uint32_t changed : physical_.changed())
      if (changed != heap) after(event, times[i], changed);
    physical_.clear_changed();
  }
  if (is_keyframe) physical_.clear_changed();
  if (!is_listing_) report_listed(event, times.empty() ? time_ns_ : times.back(), after);
  next_block_ = number + 1;
  next_record_ = 0;
}

}  // namespace hbmscope
