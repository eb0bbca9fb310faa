// The memory of a program on one device: arguments, outputs, the memory that they share, and the temporaries.
// Temporaries are packed as XLA packs them, by their lifetimes in the order of the operations.
//
// argument, output and alias are XLA's sums (CompiledMemoryStats). Several outputs come in a tuple, whose table of
// pointers is an output too. Needed = argument + output - alias + temp + code. A value that is in VMEM all its life
// takes no HBM; a value that is there for part of its life takes HBM for the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/emulated/tpu/emulation/program_spaces.h"

namespace hbmscope::allocator::tpu {

struct PlacedValue {
  std::uint32_t value = 0;              // In Program::values.
  std::uint64_t offset = 0, bytes = 0;  // Within the memory of its place.
  std::size_t begin = 0, end = 0;       // Operations, both inclusive.
  std::optional<std::uint32_t> over;    // The value that it overwrites in place, which ends where this one begins.
};

struct ProgramMemory {
  std::uint64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0;
  std::uint64_t temp_bytes = 0, temp_peak_bytes = 0;  // The packed heap; the most that is live at a time.
  std::uint64_t temp_bytes_without_vmem = 0;          // The heap if no value were in VMEM, as on a GPU.
  std::uint64_t temp_unpadded_bytes = 0;              // The values that are live at the peak.
  std::uint64_t host_temp_bytes = 0, vmem_bytes = 0, cmem_bytes = 0;  // Packed heaps too.
  std::uint64_t tuple_bytes = 0;            // Part of output_bytes: the table of several outputs.
  std::uint64_t unused_donation_bytes = 0;  // Donated, but no output has the same shape.
  std::optional<std::uint64_t> code_bytes;

  Assignment spaces;                              // Which values are in VMEM, above the program's temporaries there.
  std::uint64_t vmem_share_bytes = 0;             // The VMEM that was available for them.
  std::vector<std::uint64_t> vmem_bytes_touched;  // By operation: the bytes in VMEM that it reads or writes.

  std::vector<PlacedValue> placed;  // Temporaries, in the order in which they begin.
  // By value: for an output, the argument whose memory it takes.
  std::vector<std::optional<std::uint32_t>> argument_under;

  std::uint64_t needed_without_code_bytes() const { return argument_bytes + output_bytes - alias_bytes + temp_bytes; }
  std::uint64_t needed_bytes() const { return needed_without_code_bytes() + code_bytes.value_or(0); }
};

// The table of pointers to that many outputs: 4 bytes each, rounded up to 512 bytes (1,024 on v2 and v3; 32 on v5p, v6e
// and tpu7x), as in libtpu 0.0.51.
std::uint64_t tuple_table_bytes(const Generation& generation, std::uint64_t outputs);

// Donated arguments go to outputs of the same shape and type, in order, as in jax.jit. `share`: the VMEM for values and
// the program's temporaries there, which come first. `work` is the limit, which may be null.
ProgramMemory compute_program_memory(const Program& program, const Generation& generation, bool donates,
                                     const VmemShare& share = {}, Work* work = nullptr);

}  // namespace hbmscope::allocator::tpu
