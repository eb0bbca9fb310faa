#include "analysis/read/hlo/hlo_module.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "allocator/tpu/shape.h"
#include "analysis/read/hlo/wire_values.h"

namespace hbmscope::hlo {
namespace {

namespace tpu = allocator::tpu;
using pprof::ByteRange;
using pprof::WireField;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t tuple_type = 13;
constexpr int depth_max = 64;  // Of tuples in tuples, and of calls in calls.

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
    if (field.key == pprof::varint_key(2)) shape.type = field.varint;
    if (is_field(field, 3)) add_numbers(field, shape.dimensions);
    if (field.key == pprof::bytes_key(4)) shape.parts.push_back(field.bytes);
    if (field.key == pprof::bytes_key(5)) shape.layout = field.bytes;
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
    } else if (field.key == pprof::bytes_key(6)) {
      for_each_field(field.bytes, [&](const WireField& tile) { add_numbers(tile, numbers); });
      // The smallest number stands for "*".
      for (std::uint64_t& size : numbers)
        if (size >> 63 != 0) size = tpu::merged;
      layout.tiles.push_back(std::move(numbers));
    } else if (field.key == pprof::varint_key(7)) {
      layout.element_bits = static_cast<std::uint32_t>(field.varint);
    } else if (field.key == pprof::varint_key(8)) {
      layout.memory_space = static_cast<std::uint32_t>(field.varint);
    } else if (field.key == pprof::varint_key(16)) {
      layout.tail_alignment = field.varint;
    }
  });
  return layout;
}

std::string text_of_shape(ByteRange message, int depth) {
  const ShapeMessage shape = read_shape(message);
  if (shape.type == tuple_type) {
    if (depth == 0) return "(...)";
    std::string text = "(";
    for (const ByteRange part : shape.parts) text += (text.size() > 1 ? ", " : "") + text_of_shape(part, depth - 1);
    return text + ")";
  }
  const std::string_view name = shape.type < type_names.size() ? type_names[shape.type] : std::string_view();
  tpu::Shape array;
  array.type = tpu::find_element_type(name);
  if (array.type == nullptr) return std::string(name) + "[]";
  for (const std::uint64_t size : shape.dimensions) array.dimensions.push_back({size, false});
  if (shape.layout.begin != nullptr) array.layout = read_layout(shape.layout);
  return tpu::text_from_shape(array);
}

// Walks the schedule of a computation: what is called runs before the instruction that calls it is done.
class Order {
 public:
  Order(Module& module, const std::unordered_map<std::uint64_t, Numbers>& sequences)
      : module_(module), sequences_(sequences) {}

  void walk(std::uint64_t computation, int depth) {
    const auto sequence = sequences_.find(computation);
    if (sequence == sequences_.end() || depth == 0 || !seen_.insert(computation).second) return;
    for (const std::uint64_t id : sequence->second) {
      const auto instruction = module_.instructions.find(id);
      if (instruction == module_.instructions.end()) continue;
      for (const std::uint64_t called : instruction->second.called) walk(called, depth - 1);
      instruction->second.position = next_++;
    }
  }

 private:
  Module& module_;
  const std::unordered_map<std::uint64_t, Numbers>& sequences_;
  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t next_ = 0;
};

void read_instruction(ByteRange message, Module& module) {
  Instruction instruction;
  std::uint64_t id = 0;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == pprof::bytes_key(1)) instruction.name = text_of(field.bytes);
    if (field.key == pprof::bytes_key(3)) instruction.shape = field.bytes;
    if (field.key == pprof::varint_key(35)) id = field.varint;
    if (is_field(field, 38)) add_numbers(field, instruction.called);
    if (field.key == pprof::bytes_key(7))
      for_each_field(field.bytes, [&](const WireField& metadata) {
        if (metadata.key == pprof::bytes_key(2)) instruction.op_name = text_of(metadata.bytes);
        if (metadata.key == pprof::bytes_key(3)) instruction.source_file = text_of(metadata.bytes);
        if (metadata.key == pprof::varint_key(4)) instruction.source_line = static_cast<std::uint32_t>(metadata.varint);
      });
  });
  module.instructions[id] = std::move(instruction);
}

// map<int64, InstructionSequence>, an entry a field.
void read_schedule(ByteRange message, std::unordered_map<std::uint64_t, Numbers>& sequences) {
  for_each_field(message, [&](const WireField& entry) {
    if (entry.key != pprof::bytes_key(1)) return;
    std::uint64_t computation = 0;
    Numbers ids;
    for_each_field(entry.bytes, [&](const WireField& field) {
      if (field.key == pprof::varint_key(1)) computation = field.varint;
      if (field.key == pprof::bytes_key(2))
        for_each_field(field.bytes, [&](const WireField& sequence) { add_numbers(sequence, ids); });
    });
    sequences[computation] = std::move(ids);
  });
}

bool has_tiles(ByteRange shape, int depth) {
  const ShapeMessage message = read_shape(shape);
  if (message.layout.begin != nullptr && !read_layout(message.layout).tiles.empty()) return true;
  return depth > 0 && std::any_of(message.parts.begin(), message.parts.end(),
                                  [&](ByteRange part) { return has_tiles(part, depth - 1); });
}

}  // namespace

ShapeText shape_text(ByteRange shape, const std::vector<std::uint64_t>& index) {
  for (const std::uint64_t part : index) {
    const ShapeMessage message = read_shape(shape);
    if (part >= message.parts.size()) return {};
    shape = message.parts[part];
  }
  return {text_of_shape(shape, depth_max), read_shape(shape).type == tuple_type};
}

Module read_module(ByteRange message) {
  Module module;
  std::uint64_t entry = 0;
  std::unordered_map<std::uint64_t, Numbers> sequences;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == pprof::bytes_key(1)) module.name = text_of(field.bytes);
    if (field.key == pprof::varint_key(6)) entry = field.varint;
    if (field.key == pprof::bytes_key(7)) read_schedule(field.bytes, sequences);
    if (field.key == pprof::bytes_key(3))
      for_each_field(field.bytes, [&](const WireField& computation) {
        if (computation.key == pprof::bytes_key(2)) read_instruction(computation.bytes, module);
      });
  });
  Order(module, sequences).walk(entry, depth_max);
  module.has_tiles = std::any_of(module.instructions.begin(), module.instructions.end(),
                                 [](const auto& each) { return has_tiles(each.second.shape, 4); });
  return module;
}

}  // namespace hbmscope::hlo
