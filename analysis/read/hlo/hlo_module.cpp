#include "analysis/read/hlo/hlo_module.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "analysis/read/hlo/shape_tree.h"
#include "analysis/read/hlo/wire_values.h"

namespace hbmscope::hlo {
namespace {

using protobuf::ByteRange;
using protobuf::WireField;
using Numbers = std::vector<std::uint64_t>;

constexpr int depth_max = 64;  // Nested calls.
constexpr std::size_t name_bytes_max = 1024;

// Truncated: each buffer of an instruction has a copy, so a file of a megabyte could expand to gigabytes.
std::string_view name_in(ByteRange bytes) {
  if (static_cast<std::size_t>(bytes.end - bytes.begin) > name_bytes_max) bytes.end = bytes.begin + name_bytes_max;
  return {reinterpret_cast<const char*>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin)};
}

// Walks the schedule of a computation: called computations run before the calling instruction is done.
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
    if (field.key == protobuf::bytes_key(1)) instruction.name = name_in(field.bytes);
    if (field.key == protobuf::bytes_key(3)) instruction.shape = field.bytes;
    if (field.key == protobuf::varint_key(35)) id = field.varint;
    if (is_field(field, 38)) add_numbers(field, instruction.called);
    if (field.key == protobuf::bytes_key(7))
      for_each_field(field.bytes, [&](const WireField& metadata) {
        if (metadata.key == protobuf::bytes_key(2)) instruction.op_name = name_in(metadata.bytes);
        if (metadata.key == protobuf::bytes_key(3)) instruction.source_file = name_in(metadata.bytes);
        if (metadata.key == protobuf::varint_key(4))
          instruction.source_line = static_cast<std::uint32_t>(metadata.varint);
        if (metadata.key == protobuf::varint_key(15))
          instruction.source_frame = static_cast<std::uint32_t>(metadata.varint);
      });
  });
  module.instructions[id] = std::move(instruction);
}

// map<int64, InstructionSequence>, one entry per field.
void read_schedule(ByteRange message, std::unordered_map<std::uint64_t, Numbers>& sequences) {
  for_each_field(message, [&](const WireField& entry) {
    if (entry.key != protobuf::bytes_key(1)) return;
    std::uint64_t computation = 0;
    Numbers ids;
    for_each_field(entry.bytes, [&](const WireField& field) {
      if (field.key == protobuf::varint_key(1)) computation = field.varint;
      if (field.key == protobuf::bytes_key(2))
        for_each_field(field.bytes, [&](const WireField& sequence) { add_numbers(sequence, ids); });
    });
    sequences[computation] = std::move(ids);
  });
}

// A StackFrameIndexProto: texts, source locations that refer to them, and frames that refer to locations. All count
// from 1.
void read_source_frames(ByteRange message, SourceFrames& source) {
  std::vector<SourceFrame> places;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == protobuf::bytes_key(1)) source.files.emplace_back(name_in(field.bytes));
    if (field.key == protobuf::bytes_key(2)) source.functions.emplace_back(name_in(field.bytes));
    if (field.key != protobuf::bytes_key(3) && field.key != protobuf::bytes_key(4)) return;
    SourceFrame frame;
    const bool is_place = field.key == protobuf::bytes_key(3);
    for_each_field(field.bytes, [&](const WireField& part) {
      const auto number = static_cast<std::uint32_t>(part.varint);
      if (is_place && part.key == protobuf::varint_key(1)) frame.file = number;
      if (is_place && part.key == protobuf::varint_key(2)) frame.function = number;
      if (is_place && part.key == protobuf::varint_key(3)) frame.line = number;
      if (!is_place && part.key == protobuf::varint_key(1) && number > 0 && number <= places.size())
        frame = {places[number - 1].file, places[number - 1].function, places[number - 1].line, frame.caller};
      if (!is_place && part.key == protobuf::varint_key(2)) frame.caller = number;
    });
    (is_place ? places : source.frames).push_back(frame);
  });
}

}  // namespace

Module read_module(ByteRange message) {
  Module module;
  std::uint64_t entry = 0;
  std::unordered_map<std::uint64_t, Numbers> sequences;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == protobuf::bytes_key(1)) module.name = text_of(field.bytes);
    if (field.key == protobuf::varint_key(6)) entry = field.varint;
    if (field.key == protobuf::bytes_key(7)) read_schedule(field.bytes, sequences);
    if (field.key == protobuf::bytes_key(17)) read_source_frames(field.bytes, module.source);
    if (field.key == protobuf::bytes_key(3))
      for_each_field(field.bytes, [&](const WireField& computation) {
        if (computation.key == protobuf::bytes_key(2)) read_instruction(computation.bytes, module);
      });
  });
  Order(module, sequences).walk(entry, depth_max);
  module.has_tiles = std::any_of(module.instructions.begin(), module.instructions.end(),
                                 [](const auto& each) { return has_tiles(each.second.shape, 4); });
  return module;
}

}  // namespace hbmscope::hlo
