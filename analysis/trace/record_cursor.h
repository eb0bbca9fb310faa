// Walks a decoded block's records in order, with the number of each one's event, or of the next event for other
// records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/wire/block_decoder.h"

namespace hbmscope {

// The location of a record in a block.
struct RecordPlace {
  wire::RecordKind kind{};
  std::size_t row = 0;      // Among the block's records of that kind.
  std::uint64_t event = 0;  // Its number; for a record that is no event: the next event's.
  std::int64_t time_ns = 0;
};

class RecordCursor {
 public:
  explicit RecordCursor(const wire::DecodedBlock& block) : block_(block), event_(block.header().first_event) {}

  bool at_end() const { return at_ >= block_.kinds().size(); }
  std::uint64_t next_event() const { return event_; }
  // The next record; there must be one.
  RecordPlace next() {
    const std::uint8_t kind = block_.kinds()[at_];
    const RecordPlace place{static_cast<wire::RecordKind>(kind), rows_[kind]++, event_, block_.times_ns()[at_]};
    event_ += wire::is_event(kind) ? 1 : 0;
    ++at_;
    return place;
  }

 private:
  const wire::DecodedBlock& block_;
  std::array<std::size_t, 256> rows_{};
  std::size_t at_ = 0;
  std::uint64_t event_;
};

}  // namespace hbmscope
