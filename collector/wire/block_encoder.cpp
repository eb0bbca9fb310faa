#include "collector/wire/block_encoder.h"

#include <algorithm>

#include <xxhash.h>
#include <zstd.h>

#include "collector/wire/columns.h"

namespace hbmscope::wire {
namespace {

constexpr int zstd_level = 1;

}  // namespace

std::optional<std::span<const std::uint8_t>> find_payload(const Block& block, std::vector<std::uint8_t>& room) {
  if (block.file == nullptr) return block.payload;
  room.resize(block.header.stored_bytes);
  if (!block.file->read(block.file_offset, room)) return std::nullopt;
  return room;
}

std::uint64_t compute_block_hash(const BlockHeader& header, std::span<const std::uint8_t> payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(&header, offsetof(BlockHeader, xxh3)));
}

struct BlockEncoder::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { ZSTD_freeCCtx(context); }
};

BlockEncoder::BlockEncoder(std::uint32_t stream, BlockType type, std::uint64_t first_event, std::uint32_t sequence)
    : stream_(stream), type_(type), first_event_(first_event), sequence_(sequence) {}
BlockEncoder::~BlockEncoder() = default;
BlockEncoder::BlockEncoder(BlockEncoder&&) noexcept = default;
BlockEncoder& BlockEncoder::operator=(BlockEncoder&&) noexcept = default;

std::uint64_t BlockEncoder::add_row(const RecordDescription& record, const std::uint8_t* fields, std::int64_t time_ns,
                                    std::string_view text) {
  return append(record.kind, fields, record.struct_bytes, record.has_text, time_ns, text);
}

void BlockEncoder::spill(RecordKind kind, Rows& rows) {
  const RecordDescription& record = *find_record(static_cast<std::uint16_t>(kind));
  const std::size_t stride = record.struct_bytes, count = rows.tile_bytes / stride;
  if (count == 0) return;
  rows.columns.resize(record.field_count);
  const std::uint8_t* before = rows.last.empty() ? nullptr : rows.last.data();
  for (unsigned i = 0; i < record.field_count; ++i)
    append_field(record.fields[i], rows.tile.data(), stride, count, before, rows.columns[i]);
  const std::uint8_t* const end = rows.tile.data() + rows.tile_bytes;
  rows.last.assign(end - stride, end);
  rows.tile_bytes = 0;
  rows.spilled += count;
}

void BlockEncoder::write_section(const RecordDescription& record, Rows& rows, std::vector<std::uint8_t>& out,
                                 std::vector<std::size_t>* cuts) {
  spill(record.kind, rows);
  append_varint(out, static_cast<std::uint64_t>(record.kind));
  append_varint(out, rows.spilled);
  const std::size_t begin = begin_length(out);
  out.push_back(record.field_count);
  for (unsigned i = 0; i < record.field_count; ++i) {
    const Coding coding = record.fields[i].coding;
    rows.columns[i].write(coding == Coding::delta || coding == Coding::zigzag, out, cuts);
  }
  if (record.has_text) {
    write_differences<std::uint64_t>(text_ends_, 0, false, out, cuts);
    out.insert(out.end(), text_.begin(), text_.end());
  }
  end_length(out, begin);
}

template <class Number>
void BlockEncoder::write_differences(const std::vector<Number>& numbers, Number before_the_first, bool is_signed,
                                     std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts) {
  column_.clear();
  std::uint64_t tile[column_tile_rows];
  auto last = static_cast<std::uint64_t>(before_the_first);
  for (std::size_t row = 0; row < numbers.size(); row += column_tile_rows) {
    const std::size_t count = std::min(column_tile_rows, numbers.size() - row);
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint64_t>(numbers[row + i]);
      tile[i] = number - last;
      last = number;
    }
    column_.append(tile, count);
  }
  column_.write(is_signed, out, cuts);
}

void BlockEncoder::write_columns(std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts) {
  out.assign(kinds_.begin(), kinds_.end());
  write_differences(times_, times_.empty() ? 0 : times_.front(), true, out, cuts);
  for (const RecordDescription& record : record_table) {
    Rows& rows = rows_[static_cast<std::size_t>(record.kind)];
    if (rows.tile_bytes == 0 && rows.spilled == 0) continue;
    write_section(record, rows, out, cuts);
    for (ColumnNumbers& column : rows.columns) column.clear();
    rows.last.clear();
    rows.spilled = 0;
  }
}

// Compresses raw_ into packed_, one frame per cut. Returns false if that gains nothing.
bool BlockEncoder::pack() {
  if (compressor_ == nullptr) compressor_ = std::make_unique<Compressor>();
  cuts_.push_back(raw_.size());
  std::size_t bound = 0, begin = 0, bytes = 0;
  for (const std::size_t cut : cuts_) {
    bound += ZSTD_compressBound(cut - begin);
    begin = cut;
  }
  packed_.resize(bound);
  begin = 0;
  for (const std::size_t cut : cuts_) {
    if (cut == begin) continue;
    const std::size_t added = ZSTD_compressCCtx(compressor_->context, packed_.data() + bytes, packed_.size() - bytes,
                                                raw_.data() + begin, cut - begin, zstd_level);
    if (ZSTD_isError(added) != 0) return false;
    bytes += added;
    begin = cut;
  }
  if (bytes >= raw_.size()) return false;
  packed_.resize(bytes);
  return true;
}

Block BlockEncoder::close(Packing packing) {
  Block block;
  block.header.type = type_;
  block.header.stream = stream_;
  block.header.sequence = sequence_;
  if (type_ != BlockType::keyframe) ++sequence_;
  block.header.records = static_cast<std::uint32_t>(kinds_.size());
  block.header.first_event = first_event_;
  block.header.events = events_;
  block.header.first_time_ns = times_.empty() ? 0 : times_.front();
  block.header.last_time_ns = times_.empty() ? 0 : times_.back();
  cuts_.clear();
  write_columns(raw_, packing == Packing::zstd ? &cuts_ : nullptr);
  block.header.raw_bytes = static_cast<std::uint32_t>(raw_.size());
  block.header.form = BlockForm::columns;
  if (packing == Packing::zstd && pack()) {
    block.header.form = BlockForm::zstd_columns;
    block.payload = packed_;
  } else {
    block.payload = raw_;
  }
  block.header.stored_bytes = static_cast<std::uint32_t>(block.payload.size());
  block.header.xxh3 = compute_block_hash(block);
  kinds_.clear();
  times_.clear();
  text_.clear();
  text_ends_.clear();
  first_event_ += events_;
  events_ = 0;
  return block;
}

}  // namespace hbmscope::wire
