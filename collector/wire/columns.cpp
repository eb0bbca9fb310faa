#include "collector/wire/columns.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hbmscope::wire {

void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  std::uint8_t bytes[varint_bytes_max];
  out.insert(out.end(), bytes, write_varint(bytes, value));
}

constexpr std::size_t length_bytes = 5;

std::size_t begin_length(std::vector<std::uint8_t>& out) {
  out.resize(out.size() + length_bytes);
  return out.size();
}

void end_length(std::vector<std::uint8_t>& out, std::size_t begin) {
  std::uint64_t length = out.size() - begin;
  for (std::size_t i = 0; i < length_bytes; ++i, length >>= 7)
    out[begin - length_bytes + i] = static_cast<std::uint8_t>((length & 0x7f) | (i + 1 < length_bytes ? 0x80 : 0));
}

// --- writing ---

void ColumnNumbers::clear() {
  values_.clear();
  rows_ = 0;
}

void ColumnNumbers::append(const std::uint64_t* numbers, std::size_t count) {
  if (count == 0) return;
  if (rows_ == 0) first_ = numbers[0];
  if (values_.empty()) {
    std::uint64_t differences = 0;
    for (std::size_t i = 0; i < count; ++i) differences |= numbers[i] ^ first_;
    if (differences != 0) values_.assign(rows_, first_);
    if (differences == 0) {
      rows_ += count;
      return;
    }
  }
  values_.insert(values_.end(), numbers, numbers + count);
  rows_ += count;
}

void ColumnNumbers::write_varints(bool is_signed, std::vector<std::uint8_t>& out) const {
  const std::size_t begin = begin_length(out);
  out.resize(begin + values_.size() * varint_bytes_max);
  std::uint8_t* at = out.data() + begin;
  for (const std::uint64_t value : values_) at = write_varint(at, is_signed ? zigzag(value) : value);
  out.resize(static_cast<std::size_t>(at - out.data()));
  end_length(out, begin);
}

void ColumnNumbers::write_planes(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>& cuts) {
  // Offsets from the smallest value, so neither a sign nor a large base takes bits in every number.
  const std::uint64_t flip = is_signed ? std::uint64_t{1} << 63 : 0;
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const std::uint64_t value : values_) {
    least = std::min(least, value ^ flip);
    most = std::max(most, value ^ flip);
  }
  const unsigned width = (static_cast<unsigned>(std::bit_width(most - least)) + 7) / 8;
  least ^= flip;
  append_varint(out, zigzag(least));
  out.push_back(static_cast<std::uint8_t>(width));
  const std::size_t begin = out.size(), count = values_.size();
  out.resize(begin + width * count);
  for (std::size_t row = 0; row < count; row += column_tile_rows) {
    std::uint64_t* tile = values_.data() + row;
    const std::size_t rows = std::min(column_tile_rows, count - row);
    for (std::size_t i = 0; i < rows; ++i) tile[i] -= least;
    for (unsigned plane = 0; plane < width; ++plane) {
      std::uint8_t* to = out.data() + begin + plane * count + row;
      for (std::size_t i = 0; i < rows; ++i) to[i] = static_cast<std::uint8_t>(tile[i] >> 8 * plane);
    }
  }
  for (unsigned plane = 0; plane <= width; ++plane) cuts.push_back(begin + plane * count);
}

void ColumnNumbers::write(bool is_signed, std::vector<std::uint8_t>& out, std::vector<std::size_t>* cuts) {
  if (rows_ == 0) first_ = 0;
  std::uint64_t bits = first_;
  for (const std::uint64_t value : values_) bits |= value;
  const bool has_planes = !values_.empty() && cuts != nullptr && rows_ >= plane_rows_min;
  const ColumnForm form = values_.empty() ? ColumnForm::constant
                          : has_planes    ? ColumnForm::planes
                                          : ColumnForm::varints;
  const unsigned shift = bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits));
  out.push_back(static_cast<std::uint8_t>(form));
  out.push_back(static_cast<std::uint8_t>(shift));
  // Preserves the sign.
  const auto shifted = [&](std::uint64_t value) {
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> shift) : value >> shift;
  };
  if (shift != 0)
    for (std::uint64_t& value : values_) value = shifted(value);
  if (form == ColumnForm::planes) return write_planes(is_signed, out, *cuts);
  if (form == ColumnForm::varints) return write_varints(is_signed, out);
  append_varint(out, is_signed ? zigzag(shifted(first_)) : shifted(first_));
}

namespace {

template <class Integer>
std::uint64_t load(const std::uint8_t* at) {
  Integer value{};
  std::memcpy(&value, at, sizeof(value));
  return static_cast<std::uint64_t>(value);
}

template <class Integer>
void append_field(const FieldDescription& field, const std::uint8_t* structs, std::size_t stride, std::size_t count,
                  const std::uint8_t* before, ColumnNumbers& out) {
  const std::uint8_t* at = structs + field.offset;
  std::uint64_t tile[column_tile_rows];
  for (std::size_t row = 0; row < count; ++row) tile[row] = load<Integer>(at + row * stride);
  if (field.coding == Coding::delta) {
    std::uint64_t last = before == nullptr ? 0 : load<Integer>(before + field.offset);
    for (std::size_t row = 0; row < count; ++row) {
      const std::uint64_t difference = tile[row] - last;
      last = tile[row];
      tile[row] = difference;
    }
  } else if (field.coding == Coding::from) {
    // All such fields have 8 bytes, and so does the field before them.
    for (std::size_t row = 0; row < count; ++row)
      tile[row] = load<std::uint64_t>(at + row * stride - sizeof(std::uint64_t)) - tile[row];
  }
  out.append(tile, count);
}

}  // namespace

void append_field(const FieldDescription& field, const std::uint8_t* structs, std::size_t stride, std::size_t count,
                  const std::uint8_t* before, ColumnNumbers& out) {
  if (field.bytes == 8)
    append_field<std::uint64_t>(field, structs, stride, count, before, out);
  else if (field.bytes == 4)
    append_field<std::uint32_t>(field, structs, stride, count, before, out);
  else
    append_field<std::uint8_t>(field, structs, stride, count, before, out);
}

// --- reading ---

namespace {

constexpr bool is_signed(Coding coding) {
  return coding == Coding::delta || coding == Coding::zigzag;
}

// Passes `count` numbers to `store`, with the shift undone. While at least ten bytes are left, no bounds check is
// needed.
template <bool is_signed, class Store>
bool read_varints(VarintReader& reader, std::size_t count, const Store& store) {
  const std::uint64_t bytes = reader.read();
  const std::uint8_t* at = reader.take(bytes);
  if (at == nullptr) return false;
  const std::uint8_t* const end = at + bytes;
  const auto number = [](std::uint64_t value) { return is_signed ? unzigzag(value) : value; };
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
    store(row, number(value));
  }
  VarintReader rest(at, end);
  for (; row < count; ++row) store(row, number(rest.read()));
  return !rest.failed() && rest.remaining() == 0;
}

template <unsigned width, class Store>
void read_planes(const std::uint8_t* planes, std::size_t count, std::uint64_t least, const Store& store) {
  for (std::size_t row = 0; row < count; ++row) {
    std::uint64_t value = least;
    for (unsigned plane = 0; plane < width; ++plane) value += std::uint64_t{planes[plane * count + row]} << 8 * plane;
    store(row, value);
  }
}

template <class Store>
bool read_planes(VarintReader& reader, std::size_t count, const Store& store) {
  const std::uint64_t least = unzigzag(reader.read());
  const unsigned width = reader.read_byte();
  if (width == 0 || width > 8) return false;
  const std::uint8_t* planes = reader.take(std::uint64_t{count} * width);
  if (planes == nullptr) return false;
  switch (width) {
    case 1: read_planes<1>(planes, count, least, store); break;
    case 2: read_planes<2>(planes, count, least, store); break;
    case 3: read_planes<3>(planes, count, least, store); break;
    case 4: read_planes<4>(planes, count, least, store); break;
    case 5: read_planes<5>(planes, count, least, store); break;
    case 6: read_planes<6>(planes, count, least, store); break;
    case 7: read_planes<7>(planes, count, least, store); break;
    default: read_planes<8>(planes, count, least, store); break;
  }
  return true;
}

// Reads one column into one field of all rows, without branches in the loop.
template <class Integer, Coding coding>
bool read_field(ColumnForm form, unsigned shift, const ColumnTarget& target, VarintReader& reader) {
  std::uint64_t last = 0;
  std::uint8_t* const out = target.out;
  const std::size_t stride = target.stride;
  const auto store = [&last, out, stride, shift](std::size_t row, std::uint64_t number) {
    std::uint64_t value = number << shift;
    std::uint8_t* place = out + row * stride;
    if constexpr (coding == Coding::delta) value = last += value;
    if constexpr (coding == Coding::from) {
      std::uint64_t before = 0;  // All such fields have 8 bytes, and so does the field before them.
      std::memcpy(&before, place - sizeof(before), sizeof(before));
      value = before - value;
    }
    const auto field = static_cast<Integer>(value);
    std::memcpy(place, &field, sizeof(field));
  };
  return form == ColumnForm::planes ? read_planes(reader, target.count, store)
                                    : read_varints<is_signed(coding)>(reader, target.count, store);
}

// Writes the same number into every row.
template <class Integer, Coding coding>
bool fill_field(unsigned shift, const ColumnTarget& target, VarintReader& reader) {
  const std::uint64_t number = reader.read();
  const std::uint64_t step = (is_signed(coding) ? unzigzag(number) : number) << shift;
  if (reader.failed()) return false;
  std::size_t row = 0;
  if (coding != Coding::delta && coding != Coding::from && target.filled != nullptr) {
    if (target.filled->value == step) row = std::min(target.filled->rows, target.count);
    *target.filled = {step, std::max(row == 0 ? 0 : target.filled->rows, target.count)};
  }
  std::uint64_t value = step;
  std::uint8_t* place = target.out + row * target.stride;
  for (; row < target.count; ++row, place += target.stride) {
    if constexpr (coding == Coding::delta) value = row == 0 ? step : value + step;
    if constexpr (coding == Coding::from) {
      std::memcpy(&value, place - sizeof(value), sizeof(value));
      value -= step;
    }
    const auto field = static_cast<Integer>(value);
    std::memcpy(place, &field, sizeof(field));
  }
  return true;
}

template <class Integer, Coding coding>
bool read_any(ColumnForm form, unsigned shift, const ColumnTarget& target, VarintReader& reader) {
  if (form == ColumnForm::constant) return fill_field<Integer, coding>(shift, target, reader);
  return read_field<Integer, coding>(form, shift, target, reader);
}

template <class Integer>
bool read_any(ColumnForm form, unsigned shift, const ColumnTarget& target, VarintReader& reader) {
  switch (target.field->coding) {
    case Coding::plain: return read_any<Integer, Coding::plain>(form, shift, target, reader);
    case Coding::zigzag: return read_any<Integer, Coding::zigzag>(form, shift, target, reader);
    case Coding::delta: return read_any<Integer, Coding::delta>(form, shift, target, reader);
    case Coding::from:
      if constexpr (sizeof(Integer) == 8) return read_any<Integer, Coding::from>(form, shift, target, reader);
      break;
  }
  return false;
}

// Checks that there are `count` numbers, without decoding them.
bool pass_over_varints(VarintReader& reader, std::size_t count) {
  const std::uint64_t bytes = reader.read();
  const std::uint8_t* at = reader.take(bytes);
  if (at == nullptr) return false;
  std::size_t numbers = 0, length = 0;
  for (const std::uint8_t* const end = at + bytes; at != end; ++at) {
    if (++length > varint_bytes_max) return false;
    if (*at >= 0x80) continue;
    ++numbers;
    length = 0;
  }
  return numbers == count && length == 0;
}

bool pass_over(ColumnForm form, std::size_t count, VarintReader& reader) {
  if (form == ColumnForm::varints) return pass_over_varints(reader, count);
  reader.read();  // The value of all rows, or the smallest one.
  if (form == ColumnForm::constant) return !reader.failed();
  const unsigned width = reader.read_byte();
  return width > 0 && width <= 8 && reader.take(std::uint64_t{count} * width) != nullptr;
}

}  // namespace

bool read_column(const ColumnTarget& target, VarintReader& reader) {
  const std::uint8_t form_byte = reader.read_byte(), shift = reader.read_byte();
  if (form_byte > static_cast<std::uint8_t>(ColumnForm::planes) || shift > 63) return false;
  const auto form = static_cast<ColumnForm>(form_byte);
  if (target.field == nullptr) return pass_over(form, target.count, reader);
  if (target.filled != nullptr && form != ColumnForm::constant) target.filled->rows = 0;
  if (target.field->bytes == 8) return read_any<std::uint64_t>(form, shift, target, reader);
  if (target.field->bytes == 4) return read_any<std::uint32_t>(form, shift, target, reader);
  return read_any<std::uint8_t>(form, shift, target, reader);
}

}  // namespace hbmscope::wire
