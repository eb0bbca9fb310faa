// Turns blocks into records. The bytes are untrusted: decoding always ends with rows or with an error text, and never
// takes more memory than the block's header justifies.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/wire/block.h"
#include "collector/wire/columns.h"

namespace hbmscope::wire {

// A block's records: their order, and the rows of each kind. Reuse one object for many blocks to reuse its memory.
class DecodedBlock {
 public:
  const BlockHeader& header() const { return header_; }
  std::span<const std::uint8_t> kinds() const { return kinds_; }
  std::span<const std::int64_t> times_ns() const { return times_; }

  template <class Record>
  std::span<const Record> rows() const {
    const Rows& rows = rows_[static_cast<std::size_t>(Record::kind)];
    return {reinterpret_cast<const Record*>(rows.structs.data()), rows.count};
  }
  // Texts of the string records.
  std::string_view text(std::size_t row) const {
    return std::string_view(text_).substr(text_begin_[row], text_begin_[row + 1] - text_begin_[row]);
  }
  // The struct of a row of any kind, for callers that treat all kinds alike.
  const std::uint8_t* fields(const RecordDescription& record, std::size_t row) const {
    const Rows& rows = rows_[static_cast<std::size_t>(record.kind)];
    return reinterpret_cast<const std::uint8_t*>(rows.structs.data()) + row * record.struct_bytes;
  }
  std::uint64_t unknown_records() const { return unknown_records_; }
  // Fields of known records, in columns and rows, that a newer writer wrote and this version does not know.
  std::uint64_t unknown_fields() const { return unknown_fields_; }

 private:
  friend class BlockDecoder;
  struct Rows {
    std::vector<std::uint64_t> structs;
    std::size_t count = 0;
    std::array<FilledField, record_fields_max> filled{};
  };
  BlockHeader header_;
  std::vector<std::uint8_t> kinds_;
  std::vector<std::int64_t> times_;
  std::array<Rows, record_number_max + 1> rows_;
  std::string text_;
  std::vector<std::size_t> text_begin_;
  std::uint64_t unknown_records_ = 0, unknown_fields_ = 0;
};

// Selects the parts of a block to decode, for callers that read many blocks but few fields. Initially everything.
class FieldChoice {
 public:
  // For this kind decodes only these fields, by name. A field coded relative to another one needs that one too. The
  // other fields hold arbitrary values.
  FieldChoice& only(RecordKind kind, std::initializer_list<std::string_view> fields);
  // Skips the times of records; times_ns() is then empty.
  FieldChoice& without_times() {
    has_times_ = false;
    return *this;
  }
  bool has_times() const { return has_times_; }
  bool has(RecordKind kind, unsigned field) const {
    return (left_out_[static_cast<std::size_t>(kind)] >> field & 1) == 0;
  }

 private:
  std::array<std::uint16_t, record_number_max + 1> left_out_{};  // By kind: one bit per field.
  static_assert(record_fields_max <= 16);
  bool has_times_ = true;
};

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();
  BlockDecoder(BlockDecoder&&) noexcept;
  BlockDecoder& operator=(BlockDecoder&&) noexcept;

  // Returns no value, or the error ("the block's check sum differs"). After an error `out` holds no rows.
  std::optional<std::string> decode(const Block& block, DecodedBlock& out, const FieldChoice& choice = {});

 private:
  class Parser;
  struct Decompressor;
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<std::uint8_t> raw_, stored_;
};

// Checks that these 64 bytes can be a block's header: magic, and sizes within the limits.
std::optional<std::string> find_header_fault(const BlockHeader& header);
// Whether this version can read the block. Blocks that it can't read are skipped by their length.
bool is_known(const BlockHeader& header);

}  // namespace hbmscope::wire
