#include "collector/wire/block_decoder.h"

#include <algorithm>
#include <cstring>

#include <zstd.h>

#include "collector/wire/varint.h"

namespace hbmscope::wire {
namespace {

// Reads `count` varints of a column and hands each to `store`. While ten bytes are left no bound needs a look.
template <class Store>
bool read_numbers(const std::uint8_t* at, const std::uint8_t* end, std::size_t count, const Store& store) {
  std::size_t row = 0;
  for (; row < count && end - at >= static_cast<std::ptrdiff_t>(varint_bytes_max); ++row) {
    std::uint64_t value = *at++;
    if (value >= 0x80) {
      value &= 0x7f;
      unsigned shift = 7;
      std::uint8_t byte = 0;
      do {
        byte = *at++;
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
      } while (byte >= 0x80 && shift < 70);
      if (byte >= 0x80) return false;
    }
    store(row, value);
  }
  VarintReader rest(at, end);
  for (; row < count; ++row) store(row, rest.read());
  return !rest.failed() && rest.remaining() == 0;
}

// One column into one field of all rows, without a decision inside of the loop.
template <class Integer, Coding coding>
bool read_field(const std::uint8_t* at, const std::uint8_t* end, std::size_t count, unsigned shift, std::uint8_t* out,
                std::size_t stride) {
  std::uint64_t last = 0;
  return read_numbers(at, end, count, [&](std::size_t row, std::uint64_t number) {
    std::uint64_t value = 0;
    std::uint8_t* place = out + row * stride;
    if constexpr (coding == Coding::plain) value = number << shift;
    if constexpr (coding == Coding::zigzag) value = unzigzag(number) << shift;
    if constexpr (coding == Coding::delta) value = last += unzigzag(number) << shift;
    if constexpr (coding == Coding::from) {
      std::memcpy(&last, place - sizeof(std::uint64_t),
                  sizeof(last));  // The field before; all such fields have 8 bytes.
      value = last - (number << shift);
    }
    const auto field = static_cast<Integer>(value);
    std::memcpy(place, &field, sizeof(field));
  });
}

template <class Integer>
bool read_field(Coding coding, const std::uint8_t* at, const std::uint8_t* end, std::size_t count, unsigned shift,
                std::uint8_t* out, std::size_t stride) {
  switch (coding) {
    case Coding::plain: return read_field<Integer, Coding::plain>(at, end, count, shift, out, stride);
    case Coding::zigzag: return read_field<Integer, Coding::zigzag>(at, end, count, shift, out, stride);
    case Coding::delta: return read_field<Integer, Coding::delta>(at, end, count, shift, out, stride);
    case Coding::from:
      if constexpr (sizeof(Integer) == 8) return read_field<Integer, Coding::from>(at, end, count, shift, out, stride);
      break;
  }
  return false;
}

// The same number in every row: what is constant costs two bytes in the file, and here one loop.
template <class Integer>
void fill_field(Coding coding, std::uint64_t number, std::size_t count, unsigned shift, std::uint8_t* out,
                std::size_t stride) {
  const bool is_signed = coding == Coding::delta || coding == Coding::zigzag;
  const std::uint64_t step = (is_signed ? unzigzag(number) : number) << shift;
  std::uint64_t value = 0;
  for (std::size_t row = 0; row < count; ++row, out += stride) {
    if (coding == Coding::delta) {
      value += step;
    } else if (coding == Coding::from) {
      std::memcpy(&value, out - sizeof(value), sizeof(value));
      value -= step;
    } else {
      value = step;
    }
    const auto field = static_cast<Integer>(value);
    std::memcpy(out, &field, sizeof(field));
  }
}

}  // namespace

std::optional<std::string> find_header_fault(const BlockHeader& header) {
  const BlockHeader good;
  if (header.magic != good.magic) return "no block begins here";
  if (header.records > block_records_max || header.events > block_events_max || header.events > header.records ||
      header.first_event > events_max || header.stored_bytes > block_bytes_max || header.raw_bytes > block_bytes_max)
    return "the block claims to be larger than blocks can be";
  return std::nullopt;
}

bool is_known(const BlockHeader& header) {
  return header.version <= format_version && header.type >= BlockType::events && header.type <= BlockType::index &&
         header.form <= BlockForm::rows;
}

struct BlockDecoder::Decompressor {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  ~Decompressor() { ZSTD_freeDCtx(context); }
};

BlockDecoder::BlockDecoder() : decompressor_(std::make_unique<Decompressor>()) {}
BlockDecoder::~BlockDecoder() = default;
BlockDecoder::BlockDecoder(BlockDecoder&&) noexcept = default;
BlockDecoder& BlockDecoder::operator=(BlockDecoder&&) noexcept = default;

class BlockDecoder::Parser {
 public:
  Parser(std::span<const std::uint8_t> payload, DecodedBlock& out)
      : reader_(payload.data(), payload.data() + payload.size()), out_(out) {}

  const char* read_columns() {
    if (!read_order()) return "the block's order of records can't be read";
    std::array<std::uint32_t, 256> expected{};
    for (const std::uint8_t kind : out_.kinds_) ++expected[kind];
    while (reader_.remaining() > 0) {
      const std::uint64_t kind = reader_.read(), count = reader_.read(), bytes = reader_.read();
      const std::uint8_t* begin = reader_.take(bytes);
      if (begin == nullptr || kind > 255 || count == 0 || count != expected[kind])
        return "a section of the block can't be read";
      expected[kind] = 0;
      VarintReader section(begin, begin + bytes);
      const RecordDescription* record = find_record(static_cast<std::uint16_t>(kind));
      if (record == nullptr)
        out_.unknown_records_ += count;
      else if (!read_section(*record, static_cast<std::size_t>(count), section))
        return "the columns of the block can't be read";
    }
    if (std::any_of(expected.begin(), expected.end(), [](std::uint32_t count) { return count != 0; }))
      return "records of the block are missing";
    return nullptr;
  }

  const char* read_rows() {
    while (reader_.remaining() > 0) {
      RowHeader row;
      const std::uint8_t* at = reader_.take(sizeof(row));
      if (at == nullptr) return "a record is cut off";
      std::memcpy(&row, at, sizeof(row));
      const std::size_t bytes = std::size_t{row.words} * 8;
      if (bytes < sizeof(row)) return "a record has an impossible length";
      const std::uint8_t* fields = reader_.take(bytes - sizeof(row));
      if (fields == nullptr) return "a record is cut off";
      if (!add_row(row, {fields, bytes - sizeof(row)})) return "a record is shorter than its fields";
    }
    const auto events =
        std::count_if(out_.kinds_.begin(), out_.kinds_.end(), [](std::uint8_t kind) { return is_event(kind); });
    if (out_.kinds_.size() != out_.header_.records || static_cast<std::uint64_t>(events) != out_.header_.events)
      return "the block has fewer or more records than it says";
    return nullptr;
  }

 private:
  bool read_order() {
    const std::uint32_t records = out_.header_.records;
    const std::uint8_t* kinds = reader_.take(records);
    if (kinds == nullptr) return false;
    out_.kinds_.assign(kinds, kinds + records);
    if (static_cast<std::size_t>(std::count_if(out_.kinds_.begin(), out_.kinds_.end(), [](std::uint8_t kind) {
          return is_event(kind);
        })) != out_.header_.events)
      return false;
    const std::uint64_t bytes = reader_.read();
    const std::uint8_t* begin = reader_.take(bytes);
    if (begin == nullptr) return false;
    out_.times_.resize(records);
    auto last = static_cast<std::uint64_t>(out_.header_.first_time_ns);
    return read_numbers(begin, begin + bytes, records, [&](std::size_t row, std::uint64_t number) {
      last += unzigzag(number);
      out_.times_[row] = static_cast<std::int64_t>(last);
    });
  }

  bool read_section(const RecordDescription& record, std::size_t count, VarintReader& section) {
    DecodedBlock::Rows& rows = make_rows(record, count);
    auto* structs = reinterpret_cast<std::uint8_t*>(rows.structs.data());
    const unsigned columns = section.read_byte();
    for (unsigned i = 0; i < columns; ++i) {
      const FieldDescription* field = i < record.field_count ? &record.fields[i] : nullptr;
      if (!read_column(field, count, structs, record.struct_bytes, section)) return false;
    }
    if (columns > record.field_count) out_.unknown_fields_ += columns - record.field_count;
    // What an older writer did not know yet.
    for (unsigned i = columns; i < record.field_count; ++i) {
      const FieldDescription& field = record.fields[i];
      const std::uint64_t value = field.is_all_ones ? ~std::uint64_t{0} : 0;
      for (std::size_t row = 0; row < count; ++row)
        std::memcpy(structs + row * record.struct_bytes + field.offset, &value, field.bytes);
    }
    return !section.failed() && (!record.has_text || read_texts(count, section));
  }

  DecodedBlock::Rows& make_rows(const RecordDescription& record, std::size_t count) {
    DecodedBlock::Rows& rows = out_.rows_[static_cast<std::size_t>(record.kind)];
    rows.structs.resize(count * record.struct_bytes / 8);
    rows.count = count;
    return rows;
  }

  static bool read_column(const FieldDescription* field, std::size_t count, std::uint8_t* structs, std::size_t stride,
                          VarintReader& section) {
    const std::uint8_t form = section.read_byte(), shift = section.read_byte();
    if (form > 1 || shift > 63) return false;
    const std::uint64_t number = section.read();  // The value of all, or the column's length.
    if (form == 0) {
      if (field == nullptr) return !section.failed();
      std::uint8_t* out = structs + field->offset;
      if (field->bytes == 8) fill_field<std::uint64_t>(field->coding, number, count, shift, out, stride);
      if (field->bytes == 4) fill_field<std::uint32_t>(field->coding, number, count, shift, out, stride);
      if (field->bytes == 1) fill_field<std::uint8_t>(field->coding, number, count, shift, out, stride);
      return !section.failed();
    }
    const std::uint8_t* begin = section.take(number);
    if (begin == nullptr) return false;
    if (field == nullptr) return true;
    const std::uint8_t* end = begin + number;
    std::uint8_t* out = structs + field->offset;
    if (field->bytes == 8) return read_field<std::uint64_t>(field->coding, begin, end, count, shift, out, stride);
    if (field->bytes == 4) return read_field<std::uint32_t>(field->coding, begin, end, count, shift, out, stride);
    return read_field<std::uint8_t>(field->coding, begin, end, count, shift, out, stride);
  }

  bool read_texts(std::size_t count, VarintReader& section) {
    std::vector<std::uint64_t> lengths(count);
    if (!read_column_of_lengths(lengths, section)) return false;
    std::uint64_t all = 0;
    for (const std::uint64_t length : lengths) {
      if (length > section.remaining() - all) return false;
      out_.text_begin_.push_back(static_cast<std::size_t>(all));
      all += length;
    }
    out_.text_begin_.push_back(static_cast<std::size_t>(all));
    const std::uint8_t* text = section.take(all);
    if (text == nullptr) return false;
    out_.text_.assign(reinterpret_cast<const char*>(text), static_cast<std::size_t>(all));
    return true;
  }

  static bool read_column_of_lengths(std::vector<std::uint64_t>& lengths, VarintReader& section) {
    static constexpr FieldDescription field{"length", Unit::bytes, Coding::plain, 8, 0, false};
    return read_column(&field, lengths.size(), reinterpret_cast<std::uint8_t*>(lengths.data()), 8, section);
  }

  bool add_row(const RowHeader& row, std::span<const std::uint8_t> rest) {
    const auto kind = static_cast<std::uint16_t>(row.kind);
    if (kind > 255) return false;
    out_.kinds_.push_back(static_cast<std::uint8_t>(kind));
    out_.times_.push_back(row.time_ns);
    const RecordDescription* record = find_record(kind);
    if (record == nullptr) {
      ++out_.unknown_records_;
      return true;
    }
    // A newer writer's struct is longer, an older one's shorter: what it did not know is as its default says.
    if (rest.size() < row.struct_bytes + std::size_t{row.text_bytes}) return false;
    if (row.struct_bytes > record->struct_bytes) ++out_.unknown_fields_;
    DecodedBlock::Rows& rows = out_.rows_[kind];
    const std::size_t words = record->struct_bytes / 8;
    rows.structs.resize((rows.count + 1) * words);
    auto* fields = reinterpret_cast<std::uint8_t*>(rows.structs.data() + rows.count * words);
    for (unsigned i = 0; i < record->field_count; ++i) {
      const FieldDescription& field = record->fields[i];
      const std::uint64_t value = field.is_all_ones ? ~std::uint64_t{0} : 0;
      const bool is_told = std::size_t{field.offset} + field.bytes <= row.struct_bytes;
      std::memcpy(fields + field.offset,
                  is_told ? rest.data() + field.offset : reinterpret_cast<const std::uint8_t*>(&value), field.bytes);
    }
    ++rows.count;
    if (!record->has_text) return true;
    if (out_.text_begin_.empty()) out_.text_begin_.push_back(0);
    out_.text_.append(reinterpret_cast<const char*>(rest.data() + row.struct_bytes), row.text_bytes);
    out_.text_begin_.push_back(out_.text_.size());
    return true;
  }

  VarintReader reader_;
  DecodedBlock& out_;
};

std::optional<std::string> BlockDecoder::decode(const Block& block, DecodedBlock& out) {
  out.header_ = block.header;
  out.kinds_.clear();
  out.times_.clear();
  out.text_.clear();
  out.text_begin_.clear();
  out.unknown_records_ = out.unknown_fields_ = 0;
  for (DecodedBlock::Rows& rows : out.rows_) rows.count = 0;
  const auto fail = [&](std::string what) {
    for (DecodedBlock::Rows& rows : out.rows_) rows.count = 0;
    out.kinds_.clear();
    out.times_.clear();
    return what;
  };

  if (auto fault = find_header_fault(block.header)) return fail(std::move(*fault));
  if (!is_known(block.header)) return fail("a newer hbmscope wrote this block");
  if (block.header.stored_bytes != block.payload.size()) return fail("the block is cut off");
  if (block.header.form != BlockForm::rows && compute_block_hash(block) != block.header.xxh3)
    return fail("the block's check sum differs: bytes of it were changed");
  std::span<const std::uint8_t> payload = block.payload;
  if (block.header.form == BlockForm::zstd_columns) {
    raw_.resize(block.header.raw_bytes);
    const std::size_t bytes = ZSTD_decompressDCtx(decompressor_->context, raw_.data(), raw_.size(),
                                                  block.payload.data(), block.payload.size());
    if (ZSTD_isError(bytes) != 0 || bytes != raw_.size()) return fail("the block can't be decompressed");
    payload = raw_;
  }
  Parser parser(payload, out);
  const char* wrong = block.header.form == BlockForm::rows ? parser.read_rows() : parser.read_columns();
  if (wrong != nullptr) return fail(wrong);
  return std::nullopt;
}

}  // namespace hbmscope::wire
