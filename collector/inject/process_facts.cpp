#include "collector/inject/process_facts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>

#include "collector/inject/line.h"
#include "collector/inject/rings.h"
#include "collector/wire/told_names.h"

namespace hbmscope::inject {
namespace {

// Read by XLA, JAX, PyTorch and the CUDA driver to size or place device memory.
constexpr const char* told_variables[] = {
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
constexpr const char* rank_variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JAX_PROCESS_ID", "SLURM_PROCID"};

bool is_number(const char* text) {
  constexpr std::size_t digits_max = 9;
  const std::size_t length = std::strlen(text);
  return length != 0 && length <= digits_max && std::strspn(text, "0123456789") == length;
}

// A file of /proc, and a zero behind it.
class ProcFile {
 public:
  explicit ProcFile(const char* path) {
    void* at = mmap(nullptr, bytes_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    text_ = static_cast<char*>(at);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (ssize_t more = 1; more > 0 && bytes_ < bytes_max - 1;) {
      more = read(file, text_ + bytes_, bytes_max - 1 - bytes_);
      if (more > 0) bytes_ += static_cast<std::size_t>(more);
    }
    ::close(file);
  }
  ~ProcFile() {
    if (text_ != nullptr) munmap(text_, bytes_max);
  }
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  char* begin() { return text_; }
  char* end() { return text_ + bytes_; }

 private:
  // Arguments and environment together are less: six MiB at most (Linux, fs/exec.c, bprm_set_stack_limit).
  static constexpr std::size_t bytes_max = std::size_t{7} << 20;

  char* text_ = nullptr;
  std::size_t bytes_ = 0;
};

void tell_command() {
  ProcFile arguments("/proc/self/cmdline");
  char* end = arguments.end();
  while (end != arguments.begin() && end[-1] == 0) --end;
  for (char* at = arguments.begin(); at != end; ++at)
    if (*at == 0) *at = ' ';
  if (end != arguments.begin()) rings.define_job_fact(wire::command_fact.data(), arguments.begin());
}

// What the line says of that variable; null: it is another one's.
const char* value_of(const char* line, const char* variable) {
  const std::size_t length = std::strlen(variable);
  return std::strncmp(line, variable, length) == 0 && line[length] == '=' ? line + length + 1 : nullptr;
}

void tell_variables() {
  ProcFile environment("/proc/self/environ");
  const char* ranks[std::size(rank_variables)] = {};
  for (const char* line = environment.begin(); line < environment.end(); line += std::strlen(line) + 1) {
    for (const char* variable : told_variables) {
      if (const char* value = value_of(line, variable))
        rings.define_job_fact(Line().add(wire::variable_facts.data()).add(variable).text, value);
    }
    for (std::size_t i = 0; i < std::size(ranks); ++i)
      if (const char* value = value_of(line, rank_variables[i]); value != nullptr && is_number(value)) ranks[i] = value;
  }
  for (const char* rank : ranks) {
    if (rank == nullptr) continue;
    rings.define_job_fact(wire::rank_fact.data(), rank);
    break;
  }
}

}  // namespace

void tell_process_facts() {
  tell_command();
  tell_variables();
}

}  // namespace hbmscope::inject
