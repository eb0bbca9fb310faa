#include "analysis/read/hlo/shape_tree.h"

#include <array>
#include <string_view>
#include <utility>

#include "allocator/emulated/tpu/shape.h"
#include "analysis/read/hlo/wire_values.h"

namespace hbmscope::hlo {
namespace {

namespace tpu = allocator::tpu;
using protobuf::ByteRange;
using protobuf::WireField;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t tuple_type = 13;

// PrimitiveType of xla_data.proto.
constexpr std::array<std::string_view, 34> type_names = {
    "",     "pred",   "s8",       "s16", "s32",   "s64",           "u8",         "u16",        "u32",
    "u64",  "f16",    "f32",      "f64", "tuple", "opaque",        "c64",        "bf16",       "token",
    "c128", "f8e5m2", "f8e4m3fn", "s4",  "u4",    "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2",
    "u2",   "f8e4m3", "f8e3m4",   "s1",  "u1",    "f4e2m1fn",      "f8e8m0fnu"};

struct ShapeMessage {
  std::uint64_t type = 0;
  Numbers dimensions;
  std::vector<ByteRange> parts;
  ByteRange layout;
};

ShapeMessage read_shape(ByteRange message) {
  ShapeMessage shape;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == protobuf::varint_key(2)) shape.type = field.varint;
    if (is_field(field, 3)) add_numbers(field, shape.dimensions);
    if (field.key == protobuf::bytes_key(4)) shape.parts.push_back(field.bytes);
    if (field.key == protobuf::bytes_key(5)) shape.layout = field.bytes;
  });
  return shape;
}

tpu::Layout read_layout(ByteRange message) {
  tpu::Layout layout;
  for_each_field(message, [&](const WireField& field) {
    Numbers numbers;
    if (is_field(field, 1)) {
      add_numbers(field, numbers);
      for (const std::uint64_t number : numbers) layout.minor_to_major.push_back(static_cast<std::uint32_t>(number));
    } else if (field.key == protobuf::bytes_key(6)) {
      for_each_field(field.bytes, [&](const WireField& tile) { add_numbers(tile, numbers); });
      // The smallest number means "*".
      for (std::uint64_t& size : numbers)
        if (size >> 63 != 0) size = tpu::merged;
      layout.tiles.push_back(std::move(numbers));
    } else if (field.key == protobuf::varint_key(7)) {
      layout.element_bits = static_cast<std::uint32_t>(field.varint);
    } else if (field.key == protobuf::varint_key(8)) {
      layout.memory_space = static_cast<std::uint32_t>(field.varint);
    } else if (field.key == protobuf::varint_key(16)) {
      layout.tail_alignment = field.varint;
    }
  });
  return layout;
}

std::string text_of_array(const ShapeMessage& shape) {
  const std::string_view name = shape.type < type_names.size() ? type_names[shape.type] : std::string_view();
  tpu::Shape array;
  array.type = tpu::find_element_type(name);
  if (array.type == nullptr) return std::string(name) + "[]";
  for (const std::uint64_t size : shape.dimensions) array.dimensions.push_back({size, false});
  if (shape.layout.begin != nullptr) array.layout = read_layout(shape.layout);
  return tpu::text_from_shape(array);
}

}  // namespace

ShapeTree::ShapeTree(ByteRange message, int depth) : message_(message) {
  const ShapeMessage shape = read_shape(message);
  is_tuple_ = shape.type == tuple_type;
  is_deeper_ = depth == 0 && !shape.parts.empty();
  if (depth > 0)
    for (const ByteRange part : shape.parts) parts_.emplace_back(part, depth - 1);
}

const ShapeTree* ShapeTree::find(const std::vector<std::uint64_t>& index) const {
  const ShapeTree* found = this;
  for (const std::uint64_t part : index) {
    if (part >= found->parts_.size()) return nullptr;
    found = &found->parts_[part];
  }
  return found;
}

const std::string& ShapeTree::text() const {
  if (!text_) text_ = make_text();
  return *text_;
}

std::string ShapeTree::make_text() const {
  if (is_tuple_ && is_deeper_) return "(...)";
  std::string text = is_tuple_ ? "(" : text_of_array(read_shape(message_));
  if (is_tuple_) {
    for (auto part = parts_.begin(); part != parts_.end() && text.size() <= text_bytes_max; ++part)
      text += (text.size() > 1 ? ", " : "") + part->text();
    text += ")";
  }
  if (text.size() > text_bytes_max) text = text.substr(0, text_bytes_max) + "...";
  return text;
}

// Without making anything of the shape: it is asked of each instruction.
bool has_tiles(ByteRange shape, int depth) {
  bool is_tiled = false;
  for_each_field(shape, [&](const WireField& field) {
    if (field.key == protobuf::bytes_key(4) && depth > 0 && !is_tiled) is_tiled = has_tiles(field.bytes, depth - 1);
    if (field.key == protobuf::bytes_key(5))
      for_each_field(field.bytes, [&](const WireField& part) {
        if (part.key == protobuf::bytes_key(6)) is_tiled = true;
      });
  });
  return is_tiled;
}

}  // namespace hbmscope::hlo
