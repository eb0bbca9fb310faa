#include "analysis/read/hlo/read_hlo_proto.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/hlo/program.h"
#include "analysis/read/hlo/shape_tree.h"
#include "analysis/read/hlo/wire_values.h"
#include "analysis/read/other_format.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::hlo {
namespace {

// The part of an HloModuleProto that names a program's values, and the order of its instructions.
struct Instruction {
  std::string_view name, op_name, source_file;  // Parts of the message.
  std::uint32_t source_line = 0, source_frame = 0;
  protobuf::ByteRange shape;          // A ShapeProto.
  std::vector<std::uint64_t> called;  // Computations.
  std::uint64_t position = 0;
};

struct Module {
  std::string name;
  std::unordered_map<std::uint64_t, Instruction> instructions;  // By id.
  SourceFrames source;
  bool has_tiles = false;
};

// Skips whatever is cut off; the caller has already validated the whole message, which must outlive the module.
Module read_module(protobuf::ByteRange message);

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

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::varint_key;
using protobuf::WireField;
using Numbers = std::vector<std::uint64_t>;

ByteRange range_of(std::span<const std::uint8_t> bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

class AssignmentReader {
 public:
  AssignmentReader(const Module& module, Program& program) : module_(module), program_(program) {}

  bool read(ByteRange message) {
    std::vector<ByteRange> allocations, traces;
    const bool is_whole = for_each_field(message, [&](const WireField& field) {
      if (field.key == bytes_key(1)) read_buffer(field.bytes);
      if (field.key == bytes_key(3)) allocations.push_back(field.bytes);
      if (field.key == bytes_key(4)) traces.push_back(field.bytes);
    });
    for (const ByteRange each : allocations) read_allocation(each);
    for (const ByteRange each : traces) read_trace(each);
    return is_whole;
  }

 private:
  void read_buffer(ByteRange message) {
    LogicalBuffer buffer;
    Numbers index;
    std::uint64_t instruction = 0;
    for_each_field(message, [&](const WireField& field) {
      if (field.key == varint_key(1)) buffer.id = field.varint;
      if (field.key == varint_key(2)) buffer.size = field.varint;
      if (field.key == varint_key(4)) buffer.color = field.varint;
      if (field.key == bytes_key(3))
        for_each_field(field.bytes, [&](const WireField& place) {
          if (place.key == bytes_key(2)) buffer.instruction = text_of(place.bytes);
          if (is_field(place, 3)) add_numbers(place, index);
          if (place.key == varint_key(4)) instruction = place.varint;
        });
    });
    const auto found = module_.instructions.find(instruction);
    if (found != module_.instructions.end())
      describe(found->second, shape_of(instruction, found->second), index, buffer);
    places_[buffer.id] = program_.buffers.size();
    program_.buffers.push_back(std::move(buffer));
  }

  const ShapeTree& shape_of(std::uint64_t id, const Instruction& instruction) {
    return shapes_.try_emplace(id, instruction.shape).first->second;
  }

  static void describe(const Instruction& instruction, const ShapeTree& whole, const Numbers& index,
                       LogicalBuffer& buffer) {
    buffer.instruction = instruction.name;
    buffer.op_name = instruction.op_name;
    buffer.source_file = instruction.source_file;
    buffer.source_line = instruction.source_line;
    buffer.source_frame = instruction.source_frame;
    buffer.position = instruction.position;
    const ShapeTree* shape = whole.find(index);
    if (shape != nullptr) buffer.shape = shape->text();
    buffer.is_tuple = shape != nullptr && shape->is_tuple();
    if (!index.empty() || buffer.is_tuple) buffer.index = fmt::format("{{{}}}", fmt::join(index, ","));
  }

  std::optional<std::uint64_t> place_of(std::uint64_t id) {
    const auto found = places_.find(id);
    if (found != places_.end()) return found->second;
    ++program_.unknown_buffers;
    return std::nullopt;
  }

  void read_allocation(ByteRange message) {
    Allocation allocation;
    std::uint64_t parameter = 0;
    for_each_field(message, [&](const WireField& field) {
      switch (field.key) {
        case varint_key(1): allocation.index = field.varint; break;
        case varint_key(2): allocation.size = field.varint; break;
        case varint_key(3): allocation.is_thread_local = field.varint != 0; break;
        case varint_key(5): allocation.is_parameter = field.varint != 0; break;
        case varint_key(6): parameter = field.varint; break;
        case varint_key(7): allocation.maybe_live_out = field.varint != 0; break;
        case varint_key(8): allocation.color = field.varint; break;
        case varint_key(12): allocation.is_constant = field.varint != 0; break;
        case bytes_key(9): read_assigned(field.bytes, allocation); break;
        default: break;
      }
    });
    if (allocation.is_parameter) allocation.parameter = parameter;
    program_.allocations.push_back(std::move(allocation));
  }

  void read_assigned(ByteRange message, Allocation& allocation) {
    Assigned assigned;
    std::uint64_t id = 0;
    for_each_field(message, [&](const WireField& field) {
      if (field.key == varint_key(1)) id = field.varint;
      if (field.key == varint_key(2)) assigned.offset = field.varint;
      if (field.key == varint_key(3)) assigned.size = field.varint;
    });
    const auto place = place_of(id);
    if (!place) return;
    assigned.buffer = *place;
    allocation.assigned.push_back(assigned);
  }

  void read_trace(ByteRange message) {
    HeapTrace trace;
    for_each_field(message, [&](const WireField& field) {
      if (field.key == varint_key(3)) trace.allocation = field.varint;
      if (field.key == bytes_key(1)) read_event(field.bytes, trace);
    });
    program_.traces.push_back(std::move(trace));
  }

  void read_event(ByteRange message, HeapTrace& trace) {
    std::uint64_t kind = 0, buffer = 0, canonical = 0;
    for_each_field(message, [&](const WireField& field) {
      if (field.key == varint_key(1)) kind = field.varint;
      if (field.key == varint_key(2)) buffer = field.varint;
      if (field.key == varint_key(5)) canonical = field.varint;
    });
    constexpr std::uint64_t kinds = 3;
    const auto place = place_of(buffer);
    if (!place || kind >= kinds) return;
    HeapEvent event{static_cast<HeapEventKind>(kind), *place, *place};
    if (event.kind == HeapEventKind::share_with) {
      const auto other = place_of(canonical);
      if (!other) return;
      event.canonical = *other;
    }
    trace.events.push_back(event);
  }

  const Module& module_;
  Program& program_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // By id.
  std::unordered_map<std::uint64_t, ShapeTree> shapes_;      // By instruction.
};

// On CPUs the trace names its arena by the number that it had before allocations were numbered anew, which by now is
// that of something else. The values of the trace show which arena it is.
void correct_arenas(Program& program) {
  std::unordered_map<std::uint64_t, std::uint64_t> arena_of;  // By buffer: the index of the allocation.
  std::unordered_set<std::uint64_t> arenas;
  for (const Allocation& allocation : program.allocations) {
    if (!allocation.is_temporary()) continue;
    arenas.insert(allocation.index);
    for (const Assigned& assigned : allocation.assigned) arena_of[assigned.buffer] = allocation.index;
  }
  for (const HeapTrace& trace : program.traces) arenas.erase(trace.allocation);  // Those without a trace are left.
  for (HeapTrace& trace : program.traces) {
    const bool is_right = std::any_of(program.allocations.begin(), program.allocations.end(), [&](const auto& each) {
      return each.index == trace.allocation && each.is_temporary();
    });
    const auto known = std::find_if(trace.events.begin(), trace.events.end(),
                                    [&](const HeapEvent& event) { return arena_of.contains(event.buffer); });
    if (is_right || known == trace.events.end()) continue;
    const std::uint64_t arena = arena_of[known->buffer];
    if (arenas.erase(arena) > 0) trace.allocation = arena;
  }
}

// Printable characters only.
bool is_name(ByteRange bytes) {
  return bytes.begin != bytes.end &&
         std::all_of(bytes.begin, bytes.end, [](std::uint8_t c) { return c > ' ' && c < 0x7f; });
}

// `rest` follows the field's key and length, and may be incomplete.
bool begins_with_name(ByteRange rest) {
  if (rest.end - rest.begin < 4 || *rest.begin != bytes_key(1)) return false;
  protobuf::WireCursor cursor({rest.begin + 1, rest.end});
  std::uint64_t length = 0;
  if (!cursor.read_varint(length) || length == 0) return false;
  const auto there = static_cast<std::uint64_t>(rest.end - cursor.at());
  if (!is_name({cursor.at(), cursor.at() + std::min(there, length)})) return false;
  return there > length && *(cursor.at() + length) == bytes_key(2);  // entry_computation_name follows.
}

// An HloModuleProto that is not inside an HloProto: its name, that of its entry, and its computations.
bool is_module_alone(ByteRange message) {
  protobuf::WireCursor cursor(message);
  for (const std::uint32_t number : {1U, 2U}) {
    WireField field;
    if (!cursor.next_field(field) || field.key != bytes_key(number) || !is_name(field.bytes)) return false;
  }
  return cursor.at() != message.end && *cursor.at() == bytes_key(3);
}

Failure without_assignment(const std::string& name) {
  return Failure(
      other_format("this is an HLO module without a buffer assignment",
                   "XLA writes it for the module after optimizations: --xla_dump_hlo_as_proto. The text of "
                   "the same module opens without it: the .txt of the same dump, or compiled.as_text() of JAX.",
                   name));
}

// A LogicalBufferProto: numbers, and the location that defines it, which no message of a profile has.
bool is_buffer(ByteRange message) {
  bool has_place = false, has_others = false;
  const bool is_whole = for_each_field(message, [&](const WireField& field) {
    if (field.key == bytes_key(3)) {
      has_place = true;
      for_each_field(field.bytes, [&](const WireField& place) {
        if ((place.key & 7) == 0 && !is_field(place, 3) && !is_field(place, 4)) has_others = true;
      });
    } else if (field.key != varint_key(1) && field.key != varint_key(2) && field.key != varint_key(4)) {
      has_others = true;
    }
  });
  return is_whole && has_place && !has_others;
}

}  // namespace

bool looks_like_hlo_proto(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes_key(1) || find_other_format(bytes).is_sure) return false;
  const ByteRange all = range_of(bytes);
  protobuf::WireCursor cursor({all.begin + 1, all.end});
  std::uint64_t length = 0;
  if (!cursor.read_varint(length)) return false;
  const auto there = static_cast<std::uint64_t>(all.end - cursor.at());
  if ((begins_with_name({cursor.at(), all.end}) && length > 8) || is_module_alone(all)) return true;
  return length <= there && is_buffer({cursor.at(), cursor.at() + length});
}

Result<Program> read_hlo_proto(std::span<const std::uint8_t> bytes, const std::string& name) {
  const ByteRange all = range_of(bytes);
  if (is_module_alone(all)) return without_assignment(name);
  ByteRange module_bytes, assignment;
  bool is_whole = true;
  protobuf::WireCursor cursor({all.begin + 1, all.end});
  std::uint64_t length = 0;
  const bool is_module = cursor.read_varint(length) && begins_with_name({cursor.at(), all.end});
  if (is_module) {
    is_whole = for_each_field(all, [&](const WireField& field) {
      if (field.key == bytes_key(1)) module_bytes = field.bytes;
      if (field.key == bytes_key(3)) assignment = field.bytes;
    });
  } else {
    assignment = all;
  }
  if (!is_whole) return Failure(refusal("the message is cut off, or damaged", "Was the dump copied whole?", name));
  if (assignment.begin == nullptr) return without_assignment(name);
  Program program;
  const Module module = is_module ? read_module(module_bytes) : Module{};
  program.name = module.name;
  program.source = module.source;
  if (!AssignmentReader(module, program).read(assignment))
    return Failure(refusal("the buffer assignment is cut off, or damaged", "Was the dump copied whole?", name));
  correct_arenas(program);
  const bool has_vmem = std::any_of(program.allocations.begin(), program.allocations.end(),
                                    [](const Allocation& each) { return each.color == 1; });
  leave_out_impossible(program);
  lend_sources(program);
  program.is_tpu = module.has_tiles || (!is_module && has_vmem);
  return program;
}

}  // namespace hbmscope::hlo
