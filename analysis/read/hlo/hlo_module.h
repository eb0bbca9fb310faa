// Of an HloModuleProto: what names the values of a program, and in which order its instructions run.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/read/pprof/wire_cursor.h"

namespace hbmscope::hlo {

struct Instruction {
  std::string name, op_name, source_file;
  std::uint32_t source_line = 0;
  pprof::ByteRange shape;             // A ShapeProto.
  std::vector<std::uint64_t> called;  // Computations.
  std::uint64_t position = 0;
};

struct Module {
  std::string name;
  std::unordered_map<std::uint64_t, Instruction> instructions;  // By id.
  bool has_tiles = false;
};

// What a message has that is cut off is missing from the module; the caller has walked over the whole of it before.
Module read_module(pprof::ByteRange message);

// "f32[8,128]{1,0:T(8,128)}", "(f32[8], u32[])"; of a part of it, named by its index. Empty: it can't be told.
struct ShapeText {
  std::string text;
  bool is_tuple = false;
};
ShapeText shape_text(pprof::ByteRange shape, const std::vector<std::uint64_t>& index);

}  // namespace hbmscope::hlo
