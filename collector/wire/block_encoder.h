// Turns records into blocks: rows are collected per kind and become columns when the block is closed.
//
// An encoder numbers the events of one stream. It does not know which block a free refers to; stream_writer.h does.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "collector/wire/block.h"
#include "collector/wire/columns.h"

namespace hbmscope::wire {

class BlockEncoder {
 public:
  // `sequence`: that of the first block; all blocks of a keyframe share it.
  explicit BlockEncoder(std::uint32_t stream = 0, BlockType type = BlockType::events, std::uint64_t first_event = 0,
                        std::uint32_t sequence = 0);
  ~BlockEncoder();
  BlockEncoder(BlockEncoder&&) noexcept;
  BlockEncoder& operator=(BlockEncoder&&) noexcept;

  // Returns the event's number, or for other records the number of the next event. `text` is stored for records that
  // have one. Call close() when is_full().
  template <class Record>
  std::uint64_t add(const Record& record, std::int64_t time_ns, std::string_view text = {}) {
    static_assert(std::is_trivially_copyable_v<Record>);
    return append(Record::kind, reinterpret_cast<const std::uint8_t*>(&record), sizeof(Record),
                  Record::kind == RecordKind::string, time_ns, text);
  }

  // The same for a row from a decoder, whatever its kind; `fields` is the struct of that record.
  std::uint64_t add_row(const RecordDescription& record, const std::uint8_t* fields, std::int64_t time_ns,
                        std::string_view text = {});

  bool is_full() const {
    return events_ >= block_events_max || kinds_.size() >= block_records_wanted || text_.size() >= block_text_wanted;
  }
  bool is_empty() const { return kinds_.empty(); }
  std::uint64_t next_event() const { return first_event_ + events_; }
  std::uint32_t sequence() const { return sequence_; }  // That of the current block.
  std::int64_t first_time_ns() const { return times_.empty() ? 0 : times_.front(); }

  // Seals the current block and begins the next one. Columns are stored uncompressed if zstd gains nothing or fails, or
  // if only speed counts.
  enum class Packing : std::uint8_t { zstd, none };
  Block close(Packing packing = Packing::zstd);

 private:
  // Structs become columns a few hundred at a time, so they stay in the L1 cache and leave room in it for the writer's
  // live table.
  struct Rows {
    std::vector<std::uint8_t> tile;  // Room for consecutive structs; allocated when the first one arrives.
    std::size_t tile_bytes = 0;      // The used part of it.
    std::vector<ColumnNumbers> columns;
    std::vector<std::uint8_t> last;  // The last struct before the tile, if there is one.
    std::size_t spilled = 0;
  };
  // Inlined into add(), where everything except fields and text is constant.
  [[gnu::always_inline]] std::uint64_t append(RecordKind kind, const std::uint8_t* fields, std::size_t struct_bytes,
                                              bool has_text, std::int64_t time_ns, std::string_view text) {
    Rows& rows = rows_[static_cast<std::size_t>(kind)];
    if (rows.tile.empty()) rows.tile.resize(column_tile_rows * struct_bytes);
    std::memcpy(rows.tile.data() + rows.tile_bytes, fields, struct_bytes);
    rows.tile_bytes += struct_bytes;
    if (rows.tile_bytes == column_tile_rows * struct_bytes) spill(kind, rows);
    if (has_text) {
      text_.append(text.substr(0, text_bytes_max));
      text_ends_.push_back(text_.size());
    }
    kinds_.push_back(static_cast<std::uint8_t>(kind));
    times_.push_back(time_ns);
    return is_event(static_cast<std::uint16_t>(kind)) ? first_event_ + events_++ : first_event_ + events_;
  }
  void spill(RecordKind kind, Rows& rows);
  void write_columns(std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts);
  void write_section(const RecordDescription& record, Rows& rows, std::vector<std::uint8_t>& out,
                     std::vector<std::size_t>* cuts);
  template <class Number>
  void write_differences(const std::vector<Number>& numbers, Number before_the_first, bool is_signed,
                         std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts);
  bool pack();

  struct Compressor;
  std::unique_ptr<Compressor> compressor_;  // Created when first needed.
  std::array<Rows, record_number_max + 1> rows_;
  std::vector<std::uint8_t> kinds_;
  std::vector<std::int64_t> times_;
  std::string text_;
  std::vector<std::uint64_t> text_ends_;
  ColumnNumbers column_;                    // The tile's times, or text lengths.
  std::vector<std::uint8_t> raw_, packed_;  // Kept to reuse their memory for every block.
  std::vector<std::size_t> cuts_;
  std::uint32_t stream_;
  BlockType type_;
  std::uint64_t first_event_;
  std::uint32_t events_ = 0, sequence_;
};

}  // namespace hbmscope::wire
