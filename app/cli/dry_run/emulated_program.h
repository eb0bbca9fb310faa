// What a program needs so that it runs on an emulated device: libraries to preload and variables, nothing outside its
// own processes. allocator/emulated/cuda/README.md describes the libraries.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/cli/dry_run/emulated_machine.h"

namespace hbmscope::cli {

// The frameworks of the program's Python, as python_probe.h finds them.
std::string environment_variable(const char* name);  // Empty: not set.

struct FoundFrameworks {
  bool is_python = false;     // Otherwise the rest is unknown.
  std::string jax, torch;     // Versions. Empty if not installed.
  std::vector<int> jax_cuda;  // The majors of CUDA that a plugin of JAX is installed for.
  std::string torch_cuda;     // "12.8". Empty if it was built without CUDA.
  std::string torch_xla;      // PyTorch for TPUs.
  std::string tensorflow, tensorflow_cuda;
  std::vector<std::string> cudnn;      // The versions of its wheels.
  bool can_split_k = false;            // JAX's plugin has XLA's flag for it.
  std::string libtpu, libtpu_version;  // The library's path. Empty if not installed.
  bool has_cupy = false;
  bool has_ptxas = true, has_libdevice = true;
};
// Parses the probe's output. Errors: it does not end with what the probe prints.
Result<FoundFrameworks> frameworks_from(const std::string& output);

// The Python that the command runs in, and where its own arguments begin. An empty program: none was found.
struct FoundPython {
  std::string program;
  std::size_t arguments_at = 0;
};
FoundPython find_python(const std::vector<std::string>& command);
// Runs the probe. An empty program: nothing is known. Errors: it did not answer.
Result<FoundFrameworks> ask_for_frameworks(const std::string& python);
// What keeps Python from importing our sitecustomize. Empty if there is nothing.
std::string find_isolation(const std::vector<std::string>& command, const FoundPython& python);

// Why a program with these frameworks can't run on an emulated GPU; `what` is empty if it can.
Error find_framework_fault(const FoundFrameworks& found);

struct EmulatedProgram {
  std::vector<std::string> preload;                            // Libraries, in their order.
  std::vector<std::pair<std::string, std::string>> variables;  // To set; values include what the user has set.
  std::vector<std::string> notes;                              // Lines to say before it starts.
  // Why a framework might stay off the devices: "python -I ignores PYTHONPATH". Empty means no reason.
  std::string doubt;
};
// Looks at the command's Python, if it finds one. Errors: the libraries are missing, or the program can't run here.
Result<EmulatedProgram> prepare_program(const std::vector<std::string>& command, const EmulatedMachine& machine);

}  // namespace hbmscope::cli
