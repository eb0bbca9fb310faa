#include "collector/wire/written_state.h"

#include <algorithm>
#include <memory>

#include "collector/wire/block_encoder.h"

namespace hbmscope::wire {
namespace {

// Turns a range of addresses into a row of state.
template <class Record, class Place, class Range>
Record record_of(const Place& place, const Range& range) {
  Record record;
  record.heap = place.first;
  record.address = place.second;
  record.size = range.size;
  return record;
}

}  // namespace

// A frame that is defined again now has its name.
void WrittenState::note(const FrameRecord& frame, std::uint64_t) {
  if (frame.id == 0) return;
  if (frame.id > frames_.size()) frames_.resize(frame.id);
  frames_[frame.id - 1] = frame;
}

bool WrittenState::is_possible(std::uint32_t heap, std::uint64_t address, std::uint64_t size) const {
  return heap != 0 && heap <= heaps_.size() && size != 0 && address + size > address;
}

// Ranges that are partly inside keep their parts outside.
void WrittenState::cut(Ranges& ranges, std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = address + size;
  auto at = ranges.lower_bound({heap, address});
  if (at != ranges.begin()) {
    const auto before = std::prev(at);
    if (before->first.first == heap && before->first.second + before->second.size > address) at = before;
  }
  while (at != ranges.end() && at->first.first == heap && at->first.second < end) {
    const std::uint64_t begin = at->first.second;
    const Range whole = at->second;
    at = ranges.erase(at);
    int more = -1;
    if (begin < address) {
      Range front = whole;
      front.size = address - begin;
      ranges.insert_or_assign({heap, begin}, front);
      ++more;
    }
    if (begin + whole.size > end) {
      Range back = whole;
      back.size = begin + whole.size - end;
      back.offset += end - begin;
      ranges.insert_or_assign({heap, end}, back);
      ++more;
    }
    count_mapping(whole.handle, more);
  }
}

void WrittenState::note(const RegionGrowRecord& region, std::uint64_t) {
  if (!is_possible(region.heap, region.address, region.size)) return;
  cut(regions_, region.heap, region.address, region.size);
  regions_[{region.heap, region.address}] = {region.size, region.flags};
}

void WrittenState::note(const RegionLiveRecord& region, std::uint64_t event) {
  note(RegionGrowRecord{.address = region.address, .size = region.size, .heap = region.heap, .flags = region.flags},
       event);
}

void WrittenState::note(const RegionShrinkRecord& region, std::uint64_t) {
  if (!is_possible(region.heap, region.address, region.size)) return;
  cut(regions_, region.heap, region.address, region.size);
}

void WrittenState::note(const ListingRecord& listing, std::uint64_t) {
  for (std::uint32_t heap = 1; heap <= missing_.size(); ++heap) {
    if (listing.heap != 0 && listing.heap != heap) continue;
    if (listing.phase == 0)
      cut(regions_, heap, 0, ~std::uint64_t{0});
    else
      missing_[heap - 1] &= ~listing_end::lacks_blocks;
  }
}

void WrittenState::note(const LossRecord& loss, std::uint64_t) {
  for (std::size_t heap = 1; heap <= missing_.size(); ++heap)
    if (loss.heap == 0 || loss.heap == heap)
      missing_[heap - 1] |= listing_end::lacks_blocks | listing_end::lacks_handles;
}

void WrittenState::note(const HeapGoneRecord& gone, std::uint64_t) {
  if (gone.heap != 0 && gone.heap <= missing_.size()) missing_[gone.heap - 1] = 0;
  for (Ranges* ranges : {&regions_, &mappings_, &reservations_}) cut(*ranges, gone.heap, 0, ~std::uint64_t{0});
  std::vector<std::uint64_t> ended;
  for (const auto& [event, handle] : handles_)
    if (handle.created.heap == gone.heap && handle.references > 0) ended.push_back(event);
  for (const std::uint64_t event : ended) {
    handles_[event].references = 1;
    by_number_.erase(handles_[event].created.handle);
    release(event);
  }
}

template <class Record>
void WrittenState::add_handle(const Record& record, std::uint64_t event, std::uint32_t flags) {
  if (!is_possible(record.heap, 0, record.size)) return;
  if (const auto found = by_number_.find(record.handle); found != by_number_.end()) {
    Handle& known = handles_[found->second];
    if (flags != 0) {  // Imported again.
      ++known.references;
      return;
    }
    known.references = 1;  // Its release was missed.
    release(found->second);
  }
  Handle handle;
  handle.created.handle = record.handle;
  handle.created.size = record.size;
  handle.created.heap = record.heap;
  handle.created.stack = record.stack;
  handle.event = event;
  handle.flags = flags;
  handles_[event] = handle;
  by_number_[record.handle] = event;
}

void WrittenState::note(const PhysicalCreateRecord& handle, std::uint64_t event) {
  add_handle(handle, event, 0);
}

void WrittenState::note(const PhysicalImportRecord& handle, std::uint64_t event) {
  add_handle(handle, event, handle_flag::is_imported);
}

void WrittenState::release(std::uint64_t event) {
  const auto found = handles_.find(event);
  if (found == handles_.end() || --found->second.references > 0) return;
  by_number_.erase(found->second.created.handle);
  if (found->second.mappings == 0) handles_.erase(found);
}

void WrittenState::note(const PhysicalReleaseRecord& handle, std::uint64_t) {
  if (const auto found = by_number_.find(handle.handle); found != by_number_.end()) release(found->second);
}

void WrittenState::note(const PhysicalExportRecord& handle, std::uint64_t) {
  if (const auto found = by_number_.find(handle.handle); found != by_number_.end())
    handles_[found->second].flags |= handle_flag::is_exported;
}

void WrittenState::count_mapping(std::uint64_t handle, int more) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return;
  found->second.mappings += static_cast<std::uint32_t>(more);
  if (found->second.mappings == 0 && found->second.references == 0) handles_.erase(found);
}

void WrittenState::note(const MapRecord& mapping, std::uint64_t) {
  if (!is_possible(mapping.heap, mapping.address, mapping.size)) return;
  cut(mappings_, mapping.heap, mapping.address, mapping.size);
  const auto found = by_number_.find(mapping.handle);
  const std::uint64_t handle = found == by_number_.end() ? before_the_stream : found->second;
  mappings_[{mapping.heap, mapping.address}] = {mapping.size, 0, handle, mapping.offset};
  count_mapping(handle, 1);
}

void WrittenState::note(const UnmapRecord& range, std::uint64_t) {
  if (!is_possible(range.heap, range.address, range.size)) return;
  cut(mappings_, range.heap, range.address, range.size);
}

void WrittenState::note(const ReserveRecord& range, std::uint64_t) {
  if (!is_possible(range.heap, range.address, range.size)) return;
  cut(reservations_, range.heap, range.address, range.size);
  reservations_[{range.heap, range.address}] = {range.size};
}

void WrittenState::note(const UnreserveRecord& range, std::uint64_t) {
  if (!is_possible(range.heap, range.address, range.size)) return;
  cut(reservations_, range.heap, range.address, range.size);
}

std::vector<SharedBlock> WrittenState::make_keyframe(std::uint32_t stream, std::uint64_t first_event,
                                                     std::uint32_t sequence, std::int64_t time_ns,
                                                     const LiveTable& table) const {
  std::vector<SharedBlock> blocks;
  BlockEncoder encoder(stream, BlockType::keyframe, first_event, sequence);
  const auto close = [&] { blocks.push_back(std::make_shared<const Block>(encoder.close())); };
  const auto add = [&](const auto& record, std::string_view text = {}) {
    encoder.add(record, time_ns, text);
    if (encoder.is_full()) close();
  };
  const auto add_all = [&](const auto& records) {
    for (const auto& record : records) add(record);
  };
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    StringRecord record;
    record.id = static_cast<std::uint32_t>(i + 1);
    add(record, *texts_[i]);
  }
  // Time and values of a clock reading belong together.
  if (clock_.realtime_ns != 0) encoder.add(clock_, clock_time_ns_);
  add_all(frames_);
  add_all(stacks_);
  add_all(modules_);
  add_all(codes_);
  add_all(heaps_);
  add_all(facts_);
  // Readers process a block's definitions before the rest of it.
  if (!encoder.is_empty()) close();

  ListingRecord listing;
  add(listing);
  std::uint64_t rows = 0;
  const auto add_row = [&](const auto& record) {
    add(record);
    ++rows;
  };
  for (const auto& [place, region] : regions_) {
    auto record = record_of<RegionLiveRecord>(place, region);
    record.flags = region.flags;
    add_row(record);
  }
  std::vector<const Handle*> handles;
  for (const auto& [event, handle] : handles_) handles.push_back(&handle);
  std::sort(handles.begin(), handles.end(), [](const Handle* a, const Handle* b) { return a->event < b->event; });
  for (const Handle* handle : handles) {
    HandleLiveRecord record;
    record.handle = handle->created.handle;
    record.size = handle->created.size;
    record.event = handle->event;
    record.heap = handle->created.heap;
    record.stack = handle->created.stack;
    record.references = handle->references;
    record.flags = handle->flags;
    add_row(record);
  }
  for (const auto& [place, mapping] : mappings_) {
    auto record = record_of<MappingLiveRecord>(place, mapping);
    record.event = mapping.handle;
    record.offset = mapping.offset;
    add_row(record);
  }
  for (const auto& [place, reservation] : reservations_) {
    add_row(record_of<ReserveLiveRecord>(place, reservation));
  }
  std::vector<bool> is_live(table.slot_count());
  table.for_each_taken([&](std::uint32_t slot) { is_live[slot] = true; });
  for (std::uint32_t slot = 0; slot < table.slot_count(); ++slot) {
    LiveRecord record;
    record.slot = slot;
    if (is_live[slot]) record = blocks_[slot];
    add_row(record);
  }
  for (const std::uint32_t slot : table.free_slots()) {
    FreeSlotRecord record;
    record.slot = slot;
    add_row(record);
  }
  for (std::uint32_t heap = 1; heap <= heaps_.size(); ++heap) {
    listing.heap = heap;
    listing.rows = rows;
    listing.phase = listing_end::is_end | missing_[heap - 1];
    add(listing);
  }
  if (!encoder.is_empty()) close();
  return blocks;
}

}  // namespace hbmscope::wire
