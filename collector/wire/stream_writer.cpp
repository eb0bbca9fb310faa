#include "collector/wire/stream_writer.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace hbmscope::wire {

std::uint32_t StreamWriter::define_string(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, is_new] = strings_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size() + 1));
  if (is_new) {
    StringRecord record;
    record.id = found->second;
    encoder_.add(record, time_ns_, text);
    if (state_) state_->note_text(found->first);
    if (encoder_.is_full()) flush();
  }
  return found->second;
}

std::uint32_t StreamWriter::define_frame(std::string_view function, std::string_view file, std::uint32_t line) {
  FrameRecord record;
  record.function = define_string(function);
  record.file = define_string(file);
  record.line = line;
  const std::pair<std::uint64_t, std::uint64_t> key{std::uint64_t{record.function} << 32 | record.file, line};
  const auto [found, is_new] = frames_.try_emplace(key, frame_count_ + 1);
  record.id = found->second;
  if (is_new) {
    ++frame_count_;
    add(record, time_ns_);
  }
  return found->second;
}

std::uint32_t StreamWriter::define_stack(std::uint32_t parent, std::uint32_t frame) {
  const auto [id, is_new] = stacks_.find_or_add(parent, frame);
  if (!is_new) return id;
  StackRecord record;
  record.id = id;
  record.parent = parent;
  record.frame = frame;
  add(record, time_ns_);
  return id;
}

std::uint32_t StreamWriter::define_module(ModuleRecord module, std::string_view path, std::string_view build_id) {
  module.id = ++modules_;
  module.path = define_string(path);
  module.build_id = define_string(build_id);
  add(module, time_ns_);
  return module.id;
}

std::uint32_t StreamWriter::define_code_frame(CodeRecord code, std::string_view name, std::string_view file) {
  code.frame = ++frame_count_;
  name_frame(code.frame, name, file, 0);
  add(code, time_ns_);
  return code.frame;
}

void StreamWriter::name_frame(std::uint32_t frame, std::string_view function, std::string_view file,
                              std::uint32_t line) {
  FrameRecord record;
  record.id = frame;
  record.function = define_string(function);
  record.file = define_string(file);
  record.line = line;
  add(record, time_ns_);
}

std::uint32_t StreamWriter::define_heap(HeapRecord heap, std::string_view name, std::string_view memory_kind) {
  heap.id = ++heaps_;
  heap.name = define_string(name);
  heap.memory_kind = define_string(memory_kind);
  add(heap, time_ns_);
  return heap.id;
}

void StreamWriter::add_job_fact(std::string_view key, std::string_view value) {
  JobRecord record;
  record.key = define_string(key);
  record.value = define_string(value);
  add(record, time_ns_);
}

std::uint64_t StreamWriter::alloc(const AllocRecord& block, std::int64_t time_ns) {
  const LiveTable::Taken taken = table_.take(block.heap, block.address);
  // The reader frees the slot and takes it again at once.
  if (taken.was_live) free_unseen(taken.slot, time_ns);
  if (state_) state_->note_alloc(taken.slot, block, next_event());
  return add(block, time_ns);
}

void StreamWriter::live(LiveRecord block) {
  if (const auto slot = table_.give_back(block.heap, block.address)) free_unseen(*slot, time_ns_);
  block.slot = table_.take_listed(block.heap, block.address).slot;
  block.event = before_the_stream;
  if (state_) state_->note_live(block);
  add(block, time_ns_);
}

void StreamWriter::free_unseen(std::uint32_t slot, std::int64_t time_ns) {
  ++missed_frees_;
  FreeRecord missed;
  missed.slot = slot;
  missed.stack = derived_free;
  add(missed, time_ns);
}

std::uint64_t StreamWriter::drop_heap(const HeapGoneRecord& gone, std::int64_t time_ns) {
  table_.retire_heap(gone.heap);
  return add(gone, time_ns);
}

std::uint64_t StreamWriter::note_loss(std::uint64_t count, std::int64_t since_ns, std::int64_t time_ns,
                                      std::uint32_t heap) {
  LossRecord loss;
  loss.count = count;
  loss.since_ns = static_cast<std::uint64_t>(since_ns);
  loss.heap = heap;
  return add(loss, time_ns);
}

std::uint64_t StreamWriter::list_heap(std::uint32_t heap, std::span<const RegionLiveRecord> regions,
                                      std::span<const LiveRecord> blocks, std::int64_t time_ns) {
  flush();
  ListingRecord listing;
  listing.heap = heap;
  add(listing, time_ns);
  for (RegionLiveRecord region : regions) {
    if (heap != 0) region.heap = heap;
    add(region, time_ns);
  }
  table_.retire_heap(heap);
  std::uint64_t left_out = 0;
  for (LiveRecord block : blocks) {
    if (heap != 0) block.heap = heap;
    const LiveTable::Taken taken = table_.take_listed(block.heap, block.address);
    if (taken.was_live) {
      ++left_out;
      continue;
    }
    block.slot = taken.slot;
    if (block.event >= next_event()) block.event = before_the_stream;
    if (state_) state_->note_live(block);
    add(block, time_ns);
  }
  // What the listing has left empty is taken again, so that tables do not grow with what is lost.
  for (const std::uint32_t slot : table_.free_retired()) {
    FreeSlotRecord free;
    free.slot = slot;
    add(free, time_ns);
  }
  listing.phase = 1;
  add(listing, time_ns);
  return left_out;
}

// Names the block by slot if a block at that address is known, otherwise by address.
template <class BySlot, class ByAddress>
bool StreamWriter::add_free(std::optional<std::uint32_t> slot, std::uint32_t heap, std::uint64_t address,
                            std::uint64_t size, std::uint32_t stack, std::int64_t time_ns) {
  if (slot) {
    BySlot record;
    record.slot = *slot;
    record.stack = stack;
    add(record, time_ns);
    return true;
  }
  ByAddress record;
  record.address = address;
  record.size = size;
  record.heap = heap;
  record.stack = stack;
  add(record, time_ns);
  return false;
}

bool StreamWriter::free(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                        std::int64_t time_ns) {
  return add_free<FreeRecord, FreeAtRecord>(table_.give_back(heap, address), heap, address, size, stack, time_ns);
}

bool StreamWriter::free_requested(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                                  std::int64_t time_ns) {
  const auto slot = table_.find(heap, address);
  if (slot && state_) state_->note_pending(*slot);
  return add_free<FreeRequestedRecord, FreeRequestedAtRecord>(slot, heap, address, size, stack, time_ns);
}

bool StreamWriter::move(std::uint32_t heap, std::uint64_t from, std::uint64_t to, std::int64_t time_ns) {
  if (from != to)
    if (const auto other = table_.give_back(heap, to)) free_unseen(*other, time_ns);
  if (const auto slot = table_.move(heap, from, to)) {
    MoveRecord record;
    record.address = to;
    record.slot = *slot;
    if (state_) state_->note_move(*slot, to);
    add(record, time_ns);
    return true;
  }
  MoveAtRecord record;
  record.address = to;
  record.from = from;
  record.heap = heap;
  add(record, time_ns);
  return false;
}

bool StreamWriter::flush_if_older(std::int64_t now_ns, std::int64_t age_ns_max) {
  if (encoder_.is_empty()) return false;
  waiting_since_ = std::min(waiting_since_.value_or(now_ns), now_ns);
  const std::int64_t since = std::min(encoder_.first_time_ns(), *waiting_since_);
  // Any two times are less than 2^64 apart.
  if (static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(since) < static_cast<std::uint64_t>(age_ns_max))
    return false;
  flush();
  return true;
}

std::vector<SharedBlock> StreamWriter::make_keyframe() {
  flush();
  if (!state_) return {};
  return state_->make_keyframe(stream_, next_event(), encoder_.sequence(), time_ns_, table_);
}

void StreamWriter::write_keyframe_if_due() {
  constexpr std::uint64_t events_per_byte = 4, events_min = 1U << 20;
  constexpr std::uint64_t bytes_max = 2U << 20;  // Some ten milliseconds.
  if (!state_ || next_event() - keyframe_event_ < events_min) return;
  const std::uint64_t bytes = state_->keyframe_bytes(table_);
  if (bytes > bytes_max || next_event() - keyframe_event_ < events_per_byte * bytes) return;
  keyframe_event_ = next_event();
  for (const SharedBlock& block : make_keyframe()) sink_(block);
}

void StreamWriter::flush() {
  waiting_since_.reset();
  if (!encoder_.is_empty()) sink_(std::make_shared<const Block>(encoder_.close()));
}

}  // namespace hbmscope::wire
