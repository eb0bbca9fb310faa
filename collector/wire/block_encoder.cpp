#include "collector/wire/block_encoder.h"

#include <bit>

#include <xxhash.h>
#include <zstd.h>

#include "collector/wire/varint.h"

namespace hbmscope::wire {
namespace {

constexpr int zstd_level = 1;

void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  std::uint8_t bytes[varint_bytes_max];
  out.insert(out.end(), bytes, write_varint(bytes, value));
}

// The fields at `offset` of all rows; the size is a constant in the loop.
template <class Integer>
void load_column(const std::uint8_t* at, std::size_t stride, std::vector<std::uint64_t>& values) {
  for (std::uint64_t& value : values) {
    Integer field{};
    std::memcpy(&field, at, sizeof(Integer));
    value = static_cast<std::uint64_t>(field);
    at += stride;
  }
}

}  // namespace

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

BlockEncoder::BlockEncoder(std::uint32_t stream, BlockType type, std::uint64_t first_event)
    : stream_(stream), type_(type), first_event_(first_event) {}
BlockEncoder::~BlockEncoder() = default;
BlockEncoder::BlockEncoder(BlockEncoder&&) noexcept = default;
BlockEncoder& BlockEncoder::operator=(BlockEncoder&&) noexcept = default;

std::uint64_t BlockEncoder::add_row(const RecordDescription& record, const std::uint8_t* fields, std::int64_t time_ns,
                                    std::string_view text) {
  return append(record.kind, fields, record.struct_bytes, record.has_text, time_ns, text);
}

void BlockEncoder::write_column(bool is_signed, std::vector<std::uint8_t>& out) {
  std::uint64_t bits = 0, differences = 0;
  for (const std::uint64_t value : values_) {
    bits |= value;
    differences |= value ^ values_.front();
  }
  const unsigned shift = bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits));
  // Shifted with their sign, then zigzag: small either way.
  const auto coded = [&](std::uint64_t value) {
    return is_signed ? zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> shift)) : value >> shift;
  };
  out.push_back(differences == 0 ? 0 : 1);
  out.push_back(static_cast<std::uint8_t>(shift));
  if (differences == 0) return append_varint(out, values_.empty() ? 0 : coded(values_.front()));
  // The length comes first and isn't known yet: five bytes are kept for it, written as a long varint.
  constexpr std::size_t length_bytes = 5;
  const std::size_t begin = out.size();
  out.resize(begin + length_bytes + values_.size() * varint_bytes_max);
  std::uint8_t* at = out.data() + begin + length_bytes;
  for (const std::uint64_t value : values_) at = write_varint(at, coded(value));
  const auto end = static_cast<std::size_t>(at - out.data());
  std::uint64_t length = end - begin - length_bytes;
  for (std::size_t i = 0; i < length_bytes; ++i, length >>= 7)
    out[begin + i] = static_cast<std::uint8_t>((length & 0x7f) | (i + 1 < length_bytes ? 0x80 : 0));
  out.resize(end);
}

void BlockEncoder::write_section(const RecordDescription& record, const Rows& rows, std::vector<std::uint8_t>& out) {
  const std::size_t count = rows.bytes.size() / rows.struct_bytes;
  section_.clear();
  section_.push_back(record.field_count);
  std::vector<std::uint64_t> before;  // The column before, which `from` counts from.
  for (unsigned i = 0; i < record.field_count; ++i) {
    const FieldDescription& field = record.fields[i];
    if (field.coding == Coding::from) before = values_;
    values_.resize(count);
    const std::uint8_t* at = rows.bytes.data() + field.offset;
    if (field.bytes == 8)
      load_column<std::uint64_t>(at, rows.struct_bytes, values_);
    else if (field.bytes == 4)
      load_column<std::uint32_t>(at, rows.struct_bytes, values_);
    else
      load_column<std::uint8_t>(at, rows.struct_bytes, values_);
    if (field.coding == Coding::from) {
      // `before` holds raw values: the field before is always of coding plain (records.txt).
      for (std::size_t row = 0; row < count; ++row) values_[row] = before[row] - values_[row];
    } else if (field.coding == Coding::delta) {
      std::uint64_t last = 0;
      for (std::uint64_t& value : values_) {
        const std::uint64_t difference = value - last;
        last = value;
        value = difference;
      }
    }
    write_column(field.coding == Coding::delta || field.coding == Coding::zigzag, section_);
  }
  if (record.has_text) {
    values_.clear();
    std::uint64_t last = 0;
    for (const std::uint64_t end : rows.text_ends) {
      values_.push_back(end - last);
      last = end;
    }
    write_column(false, section_);
    section_.insert(section_.end(), text_.begin(), text_.end());
  }
  append_varint(out, static_cast<std::uint64_t>(record.kind));
  append_varint(out, count);
  append_varint(out, section_.size());
  out.insert(out.end(), section_.begin(), section_.end());
}

void BlockEncoder::write_columns(std::vector<std::uint8_t>& out) {
  out.assign(kinds_.begin(), kinds_.end());
  std::vector<std::uint8_t> times(times_.size() * varint_bytes_max);
  std::uint8_t* at = times.data();
  std::int64_t last = times_.empty() ? 0 : times_.front();
  for (const std::int64_t time : times_) {
    at = write_varint(at, zigzag(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(last)));
    last = time;
  }
  append_varint(out, static_cast<std::uint64_t>(at - times.data()));
  out.insert(out.end(), times.data(), at);
  for (const RecordDescription& record : record_table) {
    Rows& rows = rows_[static_cast<std::size_t>(record.kind)];
    if (rows.bytes.empty()) continue;
    write_section(record, rows, out);
    rows.bytes.clear();
    rows.text_ends.clear();
  }
}

// raw_ into packed_; false where that gains nothing.
bool BlockEncoder::pack() {
  if (compressor_ == nullptr) compressor_ = std::make_unique<Compressor>();
  packed_.resize(ZSTD_compressBound(raw_.size()));
  const std::size_t bytes =
      ZSTD_compressCCtx(compressor_->context, packed_.data(), packed_.size(), raw_.data(), raw_.size(), zstd_level);
  if (ZSTD_isError(bytes) != 0 || bytes >= raw_.size()) return false;
  packed_.resize(bytes);
  return true;
}

Block BlockEncoder::close(Packing packing) {
  Block block;
  block.header.type = type_;
  block.header.stream = stream_;
  block.header.sequence = sequence_++;
  block.header.records = static_cast<std::uint32_t>(kinds_.size());
  block.header.first_event = first_event_;
  block.header.events = events_;
  block.header.first_time_ns = times_.empty() ? 0 : times_.front();
  block.header.last_time_ns = times_.empty() ? 0 : times_.back();
  write_columns(raw_);
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
  first_event_ += events_;
  events_ = 0;
  return block;
}

}  // namespace hbmscope::wire
