// Converts numbers of a snapshot's records for the columns. Missing or impossible numbers become the column's "absent"
// value or 0, and impossible ones are counted.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "analysis/model/import_statistics.h"
#include "analysis/read/pickle/document.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope::torch {

class FieldReader {
 public:
  explicit FieldReader(const pickle::Document& document) : document_(document) {}

  std::uint64_t address(pickle::Value value) { return static_cast<std::uint64_t>(integer(value, 0)); }

  // In two's complement; `absent` if the field is missing, None or not a number.
  std::int64_t integer(pickle::Value value, std::int64_t absent) {
    if (value.is(pickle::Value::Tag::small_integer)) return value.as_small();
    return value.is_missing() || value.is_none() ? absent : other_integer(value, absent);
  }

  // Not negative and below size_max; otherwise `absent`, and counted.
  std::int64_t size(pickle::Value value, std::int64_t absent) {
    if (value.is(pickle::Value::Tag::small_integer)) {
      const std::int64_t bytes = value.as_small();
      if (bytes >= 0 && bytes < TorchSnapshot::size_bytes_max) return bytes;
    }
    return value.is_missing() || value.is_none() ? absent : other_size(value, absent);
  }

  std::int32_t device(pickle::Value value) {
    const std::int64_t device = integer(value, 0);
    if (device >= -1 && device <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(device);
    ++odd_numbers_;
    return 0;
  }

  void add_statistics(ImportStatistics& import) const;

 private:
  std::int64_t other_integer(pickle::Value value, std::int64_t absent);
  std::int64_t other_size(pickle::Value value, std::int64_t absent);

  const pickle::Document& document_;
  std::int64_t odd_numbers_ = 0, odd_sizes_ = 0;
  std::string first_odd_number_, first_odd_size_;
};

}  // namespace hbmscope::torch
