// Segments and their blocks, in the schemas of PyTorch 1.7 and later.
#include "analysis/read/torch/snapshot_builder.h"

namespace hbmscope::torch {
namespace {

using pickle::Value;

TorchSegmentType type_from_text(std::string_view text) {
  if (text == "small") return TorchSegmentType::small;
  if (text == "large") return TorchSegmentType::large;
  return TorchSegmentType::unknown;
}

TorchBlockState state_from_text(std::string_view text) {
  if (text == "active_allocated") return TorchBlockState::active_allocated;
  // PyTorch's code writes the first; its documentation has the second.
  if (text == "active_pending_free" || text == "active_awaiting_free") return TorchBlockState::active_pending_free;
  if (text == "inactive") return TorchBlockState::inactive;
  return TorchBlockState::unknown;
}

}  // namespace

void SnapshotBuilder::add_segments(Value segments) {
  for (const Value segment : document_.items(segments)) {
    if (!take_rows(1)) return;
    if (segment.is(Value::Tag::dict))
      add_segment(fields_.of(segment));
    else
      ++odd_.segments;
  }
}

void SnapshotBuilder::add_segment(const ShapeFields::Record& record) {
  TorchSegments& segments = snapshot_.segments;
  const std::uint64_t address = numbers_.address(record.get(Field::address));
  const std::int64_t total_bytes = numbers_.size(record.get(Field::total_size), 0);
  segments.device.push_back(numbers_.device(record.get(Field::device)));
  segments.address.push_back(address);
  segments.total_bytes.push_back(total_bytes);
  segments.allocated_bytes.push_back(numbers_.size(record.get(Field::allocated_size), absent_bytes));
  segments.active_bytes.push_back(numbers_.size(record.get(Field::active_size), absent_bytes));
  segments.requested_bytes.push_back(numbers_.size(record.get(Field::requested_size), absent_bytes));
  segments.stream.push_back(numbers_.integer(record.get(Field::stream), 0));
  const TorchSegmentType type = type_from_text(document_.text(record.get(Field::segment_type)).value_or(""));
  if (type == TorchSegmentType::unknown) ++odd_.segment_types;
  segments.type.push_back(type);
  const TorchPoolId pool = this->pool(record.get(Field::segment_pool_id));
  segments.pool_first.push_back(pool.first);
  segments.pool_second.push_back(pool.second);
  segments.is_expandable.push_back(numbers_.integer(record.get(Field::is_expandable), 0) != 0 ? 1 : 0);
  segments.stack.push_back(stacks_.stack(record.get(Field::frames)));

  const std::size_t first = snapshot_.blocks.size();
  add_blocks(record.get(Field::blocks), address);
  segments.block_begin.push_back(static_cast<std::uint32_t>(snapshot_.blocks.size()));
  std::int64_t sum = 0;
  for (std::size_t block = first; block < snapshot_.blocks.size() && sum <= total_bytes; ++block)
    sum += snapshot_.blocks.size_bytes[block];
  if (sum != total_bytes) ++odd_.segment_sums;
}

void SnapshotBuilder::add_blocks(Value blocks, std::uint64_t segment_address) {
  std::uint64_t address = segment_address;
  for (const Value block : document_.items(blocks)) {
    if (!take_rows(1)) return;
    if (block.is(Value::Tag::dict))
      add_block(fields_.of(block), address);
    else
      ++odd_.blocks;
  }
}

// `address` is where this block begins if it has no address of its own; updated to the end of the block.
void SnapshotBuilder::add_block(const ShapeFields::Record& record, std::uint64_t& address) {
  TorchBlocks& blocks = snapshot_.blocks;
  if (const Value own = record.get(Field::address); !own.is_missing()) address = numbers_.address(own);
  const Value size = record.get(Field::size);
  if (size.is_missing()) ++odd_.without_size;
  const std::int64_t size_bytes = numbers_.size(size, 0);
  Value requested = record.get(Field::requested_size), frames = record.get(Field::frames);
  // PyTorch 1.x and 2.0 list all uses of a block, newest first.
  if (const auto history = document_.items(record.get(Field::history)); !history.empty())
    if (const Value newest = history.front(); newest.is(Value::Tag::dict)) {
      const auto use = fields_.of(newest);
      if (requested.is_missing()) requested = use.get(Field::real_size);
      if (frames.is_missing()) frames = use.get(Field::frames);
    }
  const std::string_view state_text = document_.text(record.get(Field::state)).value_or("");
  const TorchBlockState state = state_from_text(state_text);
  if (state == TorchBlockState::unknown && odd_.block_states++ == 0) odd_.first_state = state_text.substr(0, 100);

  blocks.address.push_back(address);
  blocks.size_bytes.push_back(size_bytes);
  blocks.requested_bytes.push_back(numbers_.size(requested, absent_bytes));
  blocks.state.push_back(state);
  blocks.stack.push_back(stacks_.stack(frames));
  blocks.user_metadata.push_back(texts_.text(record.get(Field::user_metadata)));
  address += static_cast<std::uint64_t>(size_bytes);
}

}  // namespace hbmscope::torch
