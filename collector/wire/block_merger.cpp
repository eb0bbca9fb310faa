#include "collector/wire/block_merger.h"

#include <array>
#include <limits>
#include <memory>
#include <utility>

namespace hbmscope::wire {
namespace {

// For blocks of at least half the maximum size, merging gains almost nothing.
bool is_large(const BlockHeader& header) {
  return header.events >= block_events_max / 2 || header.records >= block_records_wanted / 2 ||
         header.raw_bytes >= text_bytes_max;
}

}  // namespace

// A gap before the block keeps its width in the output. If the number is lower than expected, or the gap is implausibly
// wide, the result is at least not the next number in order.
std::uint32_t BlockMerger::number_of(const BlockHeader& header) const {
  const std::uint64_t number = std::uint64_t{next_sequence_out_} + header.sequence - next_sequence_in_;
  if (header.sequence < next_sequence_in_ || number > std::numeric_limits<std::uint32_t>::max())
    return next_sequence_out_ > 0 ? next_sequence_out_ - 1 : 1;
  return static_cast<std::uint32_t>(number);
}

// Decodes the block if merging may be worth it.
bool BlockMerger::can_merge(const Block& block) {
  if (is_large(block.header) && block.header.form != BlockForm::rows) return false;
  return !decoder_.decode(block, decoded_) && decoded_.unknown_records() == 0 && decoded_.unknown_fields() == 0;
}

// Whether it directly follows the pending group, with nothing missing in between.
bool BlockMerger::fits(const Block& block) const {
  const BlockHeader& header = block.header;
  return group_ && header.sequence == next_sequence_in_ && header.first_event == next_event_ &&
         header.stream == first_->header.stream && group_events_ + header.events <= block_events_max &&
         group_records_ + header.records <= block_records_wanted &&
         group_bytes_ + header.raw_bytes <= block_text_wanted &&
         // Readers know a block's heaps before its first event, so a heap must not move into the block of an earlier
         // loss, or of records that came too early.
         decoded_.rows<HeapRecord>().empty();
}

// A keyframe has the number of the next block of events: blocks missing before that are missing before the keyframe.
void BlockMerger::pass_keyframe(const SharedBlock& block) {
  flush();
  const std::uint32_t next = number_of(block->header);
  hand_out(block, next);
  next_sequence_out_ = next;
  next_sequence_in_ = block->header.sequence;
}

void BlockMerger::add(const SharedBlock& block) {
  if (block->header.type == BlockType::keyframe) return pass_keyframe(block);
  const bool is_mergeable = can_merge(*block);
  if (!is_mergeable || !fits(*block)) flush();
  if (!is_mergeable) {
    hand_out(block, number_of(block->header));
  } else {
    if (!group_) begin_group(block);
    add_records();
    ++group_blocks_;
    group_records_ += block->header.records;
    group_events_ += block->header.events;
    group_bytes_ += block->header.raw_bytes;
    next_event_ = block->end_event();
  }
  next_sequence_in_ = block->header.sequence + 1;
}

void BlockMerger::begin_group(const SharedBlock& block) {
  group_.emplace(block->header.stream, BlockType::events, block->header.first_event);
  group_sequence_ = number_of(block->header);
  first_ = block;
  group_blocks_ = 0;
  group_records_ = group_events_ = group_bytes_ = 0;
}

void BlockMerger::add_records() {
  std::array<std::size_t, record_number_max + 1> rows{};
  const auto kinds = decoded_.kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const RecordDescription& record = *find_record(kinds[i]);
    const std::size_t row = rows[kinds[i]]++;
    group_->add_row(record, decoded_.fields(record, row), decoded_.times_ns()[i],
                    record.has_text ? decoded_.text(row) : std::string_view());
  }
}

void BlockMerger::flush() {
  if (!group_) return;
  const bool is_as_it_was = group_blocks_ == 1 && first_->header.form != BlockForm::rows;
  hand_out(is_as_it_was ? first_ : std::make_shared<const Block>(group_->close()), group_sequence_);
  group_.reset();
  first_.reset();
}

void BlockMerger::hand_out(SharedBlock block, std::uint32_t sequence) {
  next_sequence_out_ = sequence + 1;
  // Blocks of rows may arrive without a checksum; in files there is always one.
  if (block->header.sequence != sequence || block->header.form == BlockForm::rows) {
    auto numbered = std::make_shared<Block>(*block);
    numbered->header.sequence = sequence;
    numbered->header.xxh3 = compute_block_hash(*numbered);
    block = std::move(numbered);
  }
  sink_(std::move(block));
}

}  // namespace hbmscope::wire
