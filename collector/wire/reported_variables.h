// The environment variables of a process that are recorded. No others are, because some are secrets. The library inside
// the job uses this too, so it needs no C++ library.
#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>

#include "collector/wire/masked_arguments.h"

namespace hbmscope::wire {

// Who reads a variable. From then on a change has no effect; `several` means that it can't be said when that is.
enum class Reader : unsigned { several = 0, xla = 1, tensorflow = 2, torch = 4, driver = 8 };

struct ReportedVariable {
  const char* name;
  Reader reader;
};

// Read to size or place device memory.
inline constexpr ReportedVariable reported_variables[] = {
    {"XLA_PYTHON_CLIENT_PREALLOCATE", Reader::xla},
    {"XLA_CLIENT_MEM_FRACTION", Reader::xla},
    {"XLA_PYTHON_CLIENT_MEM_FRACTION", Reader::xla},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", Reader::xla},
    {"XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB", Reader::xla},
    {"XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT", Reader::xla},
    {"XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB", Reader::xla},
    {"XLA_PJRT_GPU_HOST_MEMORY_PREALLOCATE", Reader::xla},
    {"TF_FORCE_UNIFIED_MEMORY", Reader::xla},
    {"TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC", Reader::xla},
    {"TF_GPU_ALLOCATOR", Reader::tensorflow},
    {"TF_FORCE_GPU_ALLOW_GROWTH", Reader::tensorflow},
    {"TF_GPU_HOST_MEM_LIMIT_IN_MB", Reader::tensorflow},
    {"TF_ENABLE_GPU_GARBAGE_COLLECTION", Reader::tensorflow},
    {"XLA_FLAGS", Reader::several},
    {"JAX_PLATFORMS", Reader::several},
    {"PYTORCH_CUDA_ALLOC_CONF", Reader::torch},
    {"PYTORCH_HIP_ALLOC_CONF", Reader::torch},
    {"PYTORCH_ALLOC_CONF", Reader::torch},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", Reader::torch},
    {"PYTORCH_NO_HIP_MEMORY_CACHING", Reader::torch},
    {"CUBLAS_WORKSPACE_CONFIG", Reader::several},
    {"CUDA_VISIBLE_DEVICES", Reader::driver},
    {"CUDA_DEVICE_ORDER", Reader::driver},
    {"CUDA_MODULE_LOADING", Reader::several},  // PyTorch sets it itself.
};

// Where launchers put a process's rank: torchrun, Open MPI, MPICH and Intel MPI, jax.distributed, Slurm. The first one
// that is set counts: processes that mpirun starts in a Slurm script also have the script's rank, the same for all.
inline constexpr const char* rank_variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JAX_PROCESS_ID",
                                                 "SLURM_PROCID"};

inline bool is_rank(const char* text) {
  constexpr std::size_t digits_max = 9;
  const std::size_t length = std::strlen(text);
  return length != 0 && length <= digits_max && std::strspn(text, "0123456789") == length;
}

// The value in the line if it belongs to that variable, otherwise null.
inline const char* value_of(const char* line, const char* variable) {
  const std::size_t length = std::strlen(variable);
  return std::strncmp(line, variable, length) == 0 && line[length] == '=' ? line + length + 1 : nullptr;
}

// Whether the line "NAME=value" belongs to one of the variables above.
inline bool is_reported_line(const char* line) {
  for (const ReportedVariable& variable : reported_variables)
    if (value_of(line, variable.name) != nullptr) return true;
  for (const char* variable : rank_variables)
    if (value_of(line, variable) != nullptr) return true;
  return false;
}

// Reads zero-terminated lines up to `end`, as in /proc/PID/environ. Calls report_variable(variable, value) for each
// recorded variable, in which secrets are masked in place, and report_rank(digits) for the rank, at most once.
template <class ReportVariable, class ReportRank>
void find_reported_variables(char* begin, char* end, const ReportVariable& report_variable,
                             const ReportRank& report_rank) {
  const char* ranks[std::size(rank_variables)] = {};
  std::size_t length = 0;
  for (char* line = begin; line < end; line += length + 1) {
    length = std::strlen(line);
    for (const ReportedVariable& variable : reported_variables) {
      if (value_of(line, variable.name) == nullptr) continue;
      char* value = line + std::strlen(variable.name) + 1;
      *mask_words(value, line + length) = 0;  // It never grows.
      report_variable(variable, value);
    }
    for (std::size_t i = 0; i < std::size(ranks); ++i)
      if (const char* value = value_of(line, rank_variables[i]); value != nullptr && is_rank(value)) ranks[i] = value;
  }
  for (const char* rank : ranks) {
    if (rank == nullptr) continue;
    report_rank(rank);
    return;
  }
}

}  // namespace hbmscope::wire
