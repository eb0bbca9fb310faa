// The numbers of one field of many records, as bytes: one number if all are equal, varints if there are few, otherwise
// byte planes (all lowest bytes, then all second bytes, ...). Each plane has its own statistics, so under zstd planes
// take an eighth less than varints, and reading them needs no branches.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/wire/records.h"
#include "collector/wire/varint.h"

namespace hbmscope::wire {

enum class ColumnForm : std::uint8_t { constant = 0, varints = 1, planes = 2 };

constexpr std::size_t plane_rows_min = 512;  // Fewer rows are varints: each plane has its own zstd header.

void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value);
// Reserves five bytes for a length, which end_length() writes as a varint.
std::size_t begin_length(std::vector<std::uint8_t>& out);
void end_length(std::vector<std::uint8_t>& out, std::size_t begin);

// A column's numbers while they are collected. As long as all are equal, the most common case, none are stored.
class ColumnNumbers {
 public:
  void clear();
  void append(const std::uint64_t* numbers, std::size_t count);
  std::size_t size() const { return rows_; }

  // Appends the column to `out` and consumes the numbers. If `is_signed`, numbers may be negative (two's complement). A
  // non-null `cuts` allows planes and receives the offsets at which a new compressed frame should begin.
  void write(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts);

 private:
  void write_varints(bool is_signed, std::vector<std::uint8_t>& out) const;
  void write_planes(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>& cuts);

  std::vector<std::uint64_t> values_;  // Empty while all are `first_`.
  std::uint64_t first_ = 0;
  std::size_t rows_ = 0;
};

// Appends one field of `count` structs, `stride` bytes apart, as numbers in the field's coding; at most
// column_tile_rows of them. `before` is the previous struct, from which delta counts, or null.
constexpr std::size_t column_tile_rows = 256;
void append_field(const FieldDescription& field, const std::uint8_t* structs, std::size_t stride, std::size_t count,
                  const std::uint8_t* before, ColumnNumbers& out);

// The value that a field already has in its first rows, so a column of that same number, the most common case, writes
// nothing.
struct FilledField {
  std::uint64_t value = 0;
  std::size_t rows = 0;  // The first `rows` rows have it.
};

// The destination of a column: the field at `out` in each of `count` structs, `stride` bytes apart. A null `field`
// skips the column.
struct ColumnTarget {
  const FieldDescription* field = nullptr;
  std::uint8_t* out = nullptr;
  std::size_t stride = 0, count = 0;
  FilledField* filled = nullptr;  // May be null.
};

// Returns false if the bytes are invalid. Nothing outside the rows is ever written.
bool read_column(const ColumnTarget& target, VarintReader& reader);

}  // namespace hbmscope::wire
