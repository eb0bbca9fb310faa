// The numbers of one field of many records, as bytes: one number where all are the same, a varint each where they are
// few, else byte planes (all lowest bytes, then all second ones), whose bytes have statistics of their own: under zstd
// they take an eighth less than varints, and no branch to read.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/wire/records.h"
#include "collector/wire/varint.h"

namespace hbmscope::wire {

enum class ColumnForm : std::uint8_t { constant = 0, varints = 1, planes = 2 };

constexpr std::size_t plane_rows_min = 512;  // Fewer are varints: a plane under zstd has a header of its own.

void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value);
// Room for a length that is written later, as a varint of five bytes.
std::size_t begin_length(std::vector<std::uint8_t>& out);
void end_length(std::vector<std::uint8_t>& out, std::size_t begin);

// A column's numbers on their way. As long as all are the same, which is the commonest case, none is stored.
class ColumnNumbers {
 public:
  void clear();
  void append(const std::uint64_t* numbers, std::size_t count);
  std::size_t size() const { return rows_; }

  // Appends the column to `out`. Numbers of signed ones may be negative (two's complement). `cuts`, where there is one,
  // gets the offsets at which a compressor does well to begin anew, and allows planes. The numbers are spent.
  void write(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts);

 private:
  void write_varints(bool is_signed, std::vector<std::uint8_t>& out) const;
  void write_planes(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>& cuts);

  std::vector<std::uint64_t> values_;  // Empty while all are `first_`.
  std::uint64_t first_ = 0;
  std::size_t rows_ = 0;
};

// The field in `count` structs from `structs` on, `stride` bytes apart, as the numbers of its coding; at most
// column_tile_rows. `before` is the struct before the first, which delta counts from; null: none.
constexpr std::size_t column_tile_rows = 256;
void append_field(const FieldDescription& field, const std::uint8_t* structs, std::size_t stride, std::size_t count,
                  const std::uint8_t* before, ColumnNumbers& out);

// What is in one field of all rows already, so that a column of the same number, the commonest, writes nothing.
struct FilledField {
  std::uint64_t value = 0;
  std::size_t rows = 0;  // So many rows from the first hold it.
};

// Where a column goes: the field at `out` in each of `count` structs, `stride` bytes apart. Passed over where `field`
// is null.
struct ColumnTarget {
  const FieldDescription* field = nullptr;
  std::uint8_t* out = nullptr;
  std::size_t stride = 0, count = 0;
  FilledField* filled = nullptr;  // May be null.
};

// False where its bytes make no sense; nothing outside of the rows is written then either.
bool read_column(const ColumnTarget& target, VarintReader& reader);

}  // namespace hbmscope::wire
