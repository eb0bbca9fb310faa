// Finds the fields of a snapshot's records in a dict of a given shape: one lookup per shape instead of one per dict.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/read/pickle/document.h"

namespace hbmscope::torch {

// The keys of all records together; a key has the same meaning in all of them.
enum class Field : std::uint8_t {
  action,
  addr,
  address,
  size,
  stream,
  time_us,
  frames,
  pool_id,
  user_metadata,
  compile_context,
  device_free,
  device,
  total_size,
  allocated_size,
  active_size,
  requested_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  state,
  history,
  real_size,
  name,
  filename,
  line,
  stage,
  count
};
constexpr std::size_t field_count = static_cast<std::size_t>(Field::count);

class ShapeFields {
 public:
  // The document may still grow.
  explicit ShapeFields(const pickle::Document& document) : document_(document) {}

  // Value::missing() if the dict lacks the key. `of` looks up all fields of a dict at once, then `get` returns each.
  struct Places {
    std::array<std::int32_t, field_count> at;  // -1: no such key.
  };
  struct Record {
    const pickle::Value* values;
    const std::int32_t* at;
    pickle::Value get(Field field) const {
      const std::int32_t place = at[static_cast<std::size_t>(field)];
      return place < 0 ? pickle::Value::missing() : values[place];
    }
  };
  Record of(pickle::Value dict);

  // Keys that are not in the list above, without duplicates; excludes fx_* of frames, which describe the traced graph.
  const std::vector<std::string_view>& unknown_keys() const { return unknown_keys_; }

 private:
  std::uint32_t add_places(pickle::Document::ShapeNumber shape);
  void add_unknown(std::string_view key);

  const pickle::Document& document_;
  std::vector<std::uint32_t> place_;  // By shape: number + 1 in places_, or 0 before it is looked up.
  std::deque<Places> places_;         // A deque, so that the places of a Record never move.
  std::vector<std::string_view> unknown_keys_;
};

}  // namespace hbmscope::torch
