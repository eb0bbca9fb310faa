// The errors that the TPU compiler and runtime print when memory is insufficient, in their exact grammar
// (analysis/read/tpu_oom/tpu_report.h reads these forms). Wording from libtpu 0.0.51 and openxla.org/xla/errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/emulated/tpu/emulation/program_memory.h"
#include "allocator/emulated/tpu/runtime_text.h"

namespace hbmscope::allocator::tpu {

// A program that needs more memory than there is. If it exceeds the limit even without its code, the compiler prints
// one sentence; if only with its code, all tables (observed in 50 texts of libtpu 0.0.51).
std::string compile_oom_text(const Program& program, const ProgramMemory& memory, const Generation& generation);
// "... in memory space vmem. Used 256.00M of 128.00M vmem": values in VMEM or CMEM.
std::string on_chip_oom_text(const Program& program, const ProgramMemory& memory, Place place, std::uint64_t bytes,
                             std::uint64_t limit_bytes);
// The stack of a kernel: its blocks and scratch.
std::string scoped_vmem_text(std::string_view kernel, const Shape& output, std::uint64_t bytes, std::uint64_t limit);
// One allocation that is larger than its memory ("vmem", "smem").
std::string allocation_text(std::string_view kernel, const Shape& shape, std::string_view space, std::uint64_t bytes,
                            std::uint64_t limit, std::string_view tag);
std::string buffer_text(std::uint64_t bytes, const HbmMemory& memory);
std::string load_text(std::string_view program, std::uint64_t bytes, const HbmMemory& memory);
// TensorCore and SparseCore together need more memory than there is.
std::string cores_text(std::uint64_t tensor_bytes, std::uint64_t sparse_bytes, std::uint64_t available_bytes);
std::string sparse_core_text(std::uint64_t end_words, std::uint64_t limit_words, std::uint64_t requested_words);

}  // namespace hbmscope::allocator::tpu
