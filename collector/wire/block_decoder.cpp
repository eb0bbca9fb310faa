#include "collector/wire/block_decoder.h"

#include <algorithm>
#include <cstring>

#include <zstd.h>

#include "collector/wire/columns.h"

namespace hbmscope::wire {
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

FieldChoice& FieldChoice::only(RecordKind kind, std::initializer_list<std::string_view> fields) {
  const RecordDescription& record = *find_record(static_cast<std::uint16_t>(kind));
  for (unsigned i = 0; i < record.field_count; ++i)
    if (std::find(fields.begin(), fields.end(), record.fields[i].name) == fields.end())
      left_out_[static_cast<std::size_t>(kind)] |= static_cast<std::uint16_t>(1U << i);
  return *this;
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
  Parser(std::span<const std::uint8_t> payload, DecodedBlock& out, const FieldChoice& choice)
      : reader_(payload.data(), payload.data() + payload.size()), out_(out), choice_(choice) {}

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
    if (!choice_.has_times()) return read_column({nullptr, nullptr, 0, records, nullptr}, reader_);
    // Differences, the first one to the header's time.
    static constexpr FieldDescription field{"time", Unit::ns, Coding::delta, 8, 0, false};
    out_.times_.resize(records);
    auto* times = reinterpret_cast<std::uint8_t*>(out_.times_.data());
    if (!read_column({&field, times, 8, records, nullptr}, reader_)) return false;
    for (std::int64_t& time : out_.times_)
      time = static_cast<std::int64_t>(static_cast<std::uint64_t>(time) +
                                       static_cast<std::uint64_t>(out_.header_.first_time_ns));
    return true;
  }

  bool read_section(const RecordDescription& record, std::size_t count, VarintReader& section) {
    DecodedBlock::Rows& rows = make_rows(record, count);
    auto* structs = reinterpret_cast<std::uint8_t*>(rows.structs.data());
    const unsigned columns = section.read_byte();
    for (unsigned i = 0; i < columns; ++i) {
      const bool is_wanted = i < record.field_count && choice_.has(record.kind, i);
      const FieldDescription* field = is_wanted ? &record.fields[i] : nullptr;
      ColumnTarget target{field, nullptr, record.struct_bytes, count, nullptr};
      if (field != nullptr) {
        target.out = structs + field->offset;
        target.filled = &rows.filled[i];
      }
      if (!read_column(target, section)) return false;
    }
    if (columns > record.field_count) out_.unknown_fields_ += columns - record.field_count;
    // Fields that an older writer did not know yet.
    for (unsigned i = columns; i < record.field_count; ++i) {
      const FieldDescription& field = record.fields[i];
      const std::uint64_t value = field.is_all_ones ? ~std::uint64_t{0} : 0;
      rows.filled[i].rows = 0;
      for (std::size_t row = 0; row < count; ++row)
        std::memcpy(structs + row * record.struct_bytes + field.offset, &value, field.bytes);
    }
    return !section.failed() && (!record.has_text || read_texts(count, section));
  }

  // Never shrinks: rows after `count` may already hold the most common value of a field.
  DecodedBlock::Rows& make_rows(const RecordDescription& record, std::size_t count) {
    DecodedBlock::Rows& rows = out_.rows_[static_cast<std::size_t>(record.kind)];
    rows.structs.resize(std::max(rows.structs.size(), count * record.struct_bytes / 8));
    rows.count = count;
    return rows;
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
    return read_column({&field, reinterpret_cast<std::uint8_t*>(lengths.data()), 8, lengths.size(), nullptr}, section);
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
    // A newer writer's struct is longer, an older one's shorter; missing fields get their defaults.
    if (rest.size() < row.struct_bytes + std::size_t{row.text_bytes}) return false;
    if (row.struct_bytes > record->struct_bytes) ++out_.unknown_fields_;
    DecodedBlock::Rows& rows = out_.rows_[kind];
    const std::size_t words = record->struct_bytes / 8;
    rows.structs.resize(std::max(rows.structs.size(), (rows.count + 1) * words));
    rows.filled.fill({});
    auto* fields = reinterpret_cast<std::uint8_t*>(rows.structs.data() + rows.count * words);
    for (unsigned i = 0; i < record->field_count; ++i) {
      const FieldDescription& field = record->fields[i];
      const std::uint64_t value = field.is_all_ones ? ~std::uint64_t{0} : 0;
      const bool is_reported = std::size_t{field.offset} + field.bytes <= row.struct_bytes;
      std::memcpy(fields + field.offset,
                  is_reported ? rest.data() + field.offset : reinterpret_cast<const std::uint8_t*>(&value),
                  field.bytes);
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
  const FieldChoice& choice_;
};

std::optional<std::string> BlockDecoder::decode(const Block& block, DecodedBlock& out, const FieldChoice& choice) {
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
  const auto stored = find_payload(block, stored_);
  if (!stored) return fail("the file that the block was put into can't be read");
  if (block.header.stored_bytes != stored->size()) return fail("the block is cut off");
  if (block.header.form != BlockForm::rows && compute_block_hash(block.header, *stored) != block.header.xxh3)
    return fail("the block's check sum differs: bytes of it were changed");
  std::span<const std::uint8_t> payload = *stored;
  if (block.header.form == BlockForm::zstd_columns) {
    raw_.resize(block.header.raw_bytes);
    const std::size_t bytes =
        ZSTD_decompressDCtx(decompressor_->context, raw_.data(), raw_.size(), stored->data(), stored->size());
    if (ZSTD_isError(bytes) != 0 || bytes != raw_.size()) return fail("the block can't be decompressed");
    payload = raw_;
  }
  Parser parser(payload, out, choice);
  const char* wrong = block.header.form == BlockForm::rows ? parser.read_rows() : parser.read_columns();
  if (wrong != nullptr) return fail(wrong);
  if (!choice.has_times()) out.times_.clear();  // Blocks of rows always contain times.
  return std::nullopt;
}

}  // namespace hbmscope::wire
