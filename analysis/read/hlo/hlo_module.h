// The part of an HloModuleProto that names a program's values, and the order of its instructions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/read/hlo/program.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::hlo {

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

}  // namespace hbmscope::hlo
