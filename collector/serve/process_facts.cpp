#include "collector/serve/process_facts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "collector/serve/proc_file.h"
#include "collector/wire/told_names.h"

namespace hbmscope::serve {
namespace {

// Read by XLA, JAX, PyTorch and the CUDA driver to size or place device memory.
constexpr std::array<std::string_view, 16> allowed_variables{
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB",
    "XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB",
    "XLA_PJRT_GPU_HOST_MEMORY_PREALLOCATE",
    "TF_FORCE_UNIFIED_MEMORY",
    "TF_GPU_ALLOCATOR",
    "TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC",
    "XLA_FLAGS",
    "JAX_PLATFORMS",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "CUDA_VISIBLE_DEVICES",
};

// Where launchers put a process' number: torchrun, Open MPI, MPICH and Intel MPI, jax.distributed, Slurm. The first
// that is set counts: what mpirun starts in a script of Slurm's has the script's number too, the same for all.
constexpr std::array<std::string_view, 5> rank_variables{"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JAX_PROCESS_ID",
                                                         "SLURM_PROCID"};

bool is_number(std::string_view text) {
  constexpr std::size_t digits_max = 9;
  return !text.empty() && text.size() <= digits_max && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ProcessFacts read_process_facts(std::int64_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  ProcessFacts facts;
  facts.emplace_back("process", std::to_string(pid));
  const std::string command = read_command_line(pid);
  if (!command.empty()) facts.emplace_back("command", command);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) facts.emplace_back("host", host.data());
  std::array<std::string_view, rank_variables.size()> ranks;
  const std::string environment = read_proc_file(folder + "environ");
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::string_view line(environment.data() + begin);
    begin += line.size() + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    if (std::find(allowed_variables.begin(), allowed_variables.end(), name) != allowed_variables.end())
      facts.emplace_back("variable." + std::string(name), line.substr(equals + 1));
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (name == rank_variables[i] && is_number(line.substr(equals + 1))) ranks[i] = line.substr(equals + 1);
  }
  const auto rank = std::find_if(ranks.begin(), ranks.end(), [](std::string_view text) { return !text.empty(); });
  if (rank != ranks.end()) facts.emplace_back(wire::rank_fact, *rank);
  return facts;
}

}  // namespace hbmscope::serve
