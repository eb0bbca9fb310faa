// Compiled programs inside the memory of a job: which block of a pool holds the temporaries, an argument or an output
// of a program whose buffer assignment is in the same trace (a dump, or a profile that contains it).
//
// The program's plan has sizes and offsets, but no addresses, and the pool has no names; so they are matched by size.
// A runtime asks its allocator for exactly the size of each allocation of the plan (xla/service/gpu/gpu_executable.cc,
// GenerateBufferAllocations). Where the pool also knows the running program or the array, those must agree. Several
// matches are all returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/block_labels.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// An allocation of a program's plan.
struct ProgramPart {
  std::size_t stream = 0;               // The program's.
  std::uint32_t heap = 0;               // The program's memory space.
  AddressRange range;                   // In it.
  std::string_view program;             // "jit_step(17)"
  std::string_view kind, value, shape;  // "temporary"; for others the value's name and shape, if known.
  bool is_temporary() const { return kind == "temporary"; }
};

// A value of the program that lies in a part, from one event of the program's stream to another.
struct ProgramValue {
  std::uint64_t offset = 0, size = 0;  // In the part, in bytes.
  std::uint64_t begin = 0, end = 0;    // Events of the program's stream, which are in the order of its instructions.
  std::uint32_t tag = 0, stack = 0;    // In the program's stream.
  std::string_view shape;
};

class ProgramParts {
 public:
  // The trace must outlive it. Costs a pass over the streams of programs.
  explicit ProgramParts(const Trace& trace);

  bool is_empty() const { return parts_.empty(); }
  // What a block may be, all equally good. Empty if there is nothing. Blocks of programs themselves are none.
  std::vector<ProgramPart> find(std::size_t stream, const LiveBlock& block) const;

 private:
  void add_program(std::size_t stream);

  const Trace& trace_;
  std::vector<ProgramPart> parts_;
  std::multimap<std::uint64_t, std::size_t> by_size_;  // Index in `parts_`.
  std::vector<BlockLabels> labels_;                    // By stream.
  std::vector<bool> is_program_;                       // By stream.
};

// Its values in the order in which they begin.
std::vector<ProgramValue> find_program_values(const Trace& trace, const ProgramPart& part);

// "temporaries of jit_step(17)", "argument w of jit_step(17)"; of several: "temporaries of jit_step(17) or
// jit_step(19)", "one of 12 values of 3 programs".
std::string text_from_parts(const std::vector<ProgramPart>& parts);

// The live blocks that hold temporaries of a program, largest first.
struct ProgramBlock {
  std::size_t stream = 0;
  std::uint32_t slot = 0;
  std::vector<ProgramPart> parts;
};
std::vector<ProgramBlock> find_program_blocks(const Trace& trace, const std::vector<StreamState>& states,
                                              const ProgramParts& parts);

}  // namespace hbmscope
