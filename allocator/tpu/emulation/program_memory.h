// What a program takes on one device: arguments, outputs, what of both is the same memory, and its temporaries packed
// as XLA packs them, by when they live in the order of the operations.
//
// argument, output and alias are XLA's own sums (CompiledMemoryStats); several outputs come in a tuple, whose table of
// pointers is an output too. Needed = argument + output - alias + temp + code. What is in VMEM all its life takes
// nothing of HBM, what is there for a part of it does as long as it is in HBM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/tpu/emulation/program_spaces.h"

namespace hbmscope::allocator::tpu {

struct PlacedValue {
  std::uint32_t value = 0;              // In Program::values.
  std::uint64_t offset = 0, bytes = 0;  // In the memory of its place.
  std::size_t begin = 0, end = 0;       // Operations, both included.
  std::optional<std::uint32_t> over;    // The value over which it is written in place, which ends where this begins.
};

struct ProgramMemory {
  std::uint64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0;
  std::uint64_t temp_bytes = 0, temp_peak_bytes = 0;                  // The packed heap; the most that lives at a time.
  std::uint64_t temp_bytes_without_vmem = 0;                          // The heap if no value were in VMEM: as a GPU's.
  std::uint64_t temp_unpadded_bytes = 0;                              // Of what lives when the most does.
  std::uint64_t host_temp_bytes = 0, vmem_bytes = 0, cmem_bytes = 0;  // Packed heaps too.
  std::uint64_t tuple_bytes = 0;                                      // Of output_bytes: the table of several outputs.
  std::uint64_t unused_donation_bytes = 0;                            // Donated, and no output has such a shape.
  std::optional<std::uint64_t> code_bytes;

  Assignment spaces;                              // Of values to VMEM, behind the program's own temporaries there.
  std::uint64_t vmem_share_bytes = 0;             // What it had for that.
  std::vector<std::uint64_t> vmem_bytes_touched;  // By operation: of what it reads and writes, what is in VMEM.

  std::vector<PlacedValue> placed;                           // Temporaries, in the order in which they begin.
  std::vector<std::optional<std::uint32_t>> argument_under;  // By value: of an output the argument whose memory it is.

  std::uint64_t needed_without_code_bytes() const { return argument_bytes + output_bytes - alias_bytes + temp_bytes; }
  std::uint64_t needed_bytes() const { return needed_without_code_bytes() + code_bytes.value_or(0); }
};

// The table of pointers to that many outputs: 4 bytes each, rounded up to 512 bytes, on v2 and v3 to 1,024, on v5p, v6e
// and tpu7x to 32, as libtpu 0.0.51 does.
std::uint64_t tuple_table_bytes(const Generation& generation, std::uint64_t outputs);

// `work`: as much as there may be; null: all.
// Donated arguments go to outputs of the same shape and type, in order, as jax.jit gives them. `share`: of VMEM with
// the program's own temporaries there, which come first.
ProgramMemory compute_program_memory(const Program& program, const Generation& generation, bool donates,
                                     const VmemShare& share = {}, Work* work = nullptr);

}  // namespace hbmscope::allocator::tpu
