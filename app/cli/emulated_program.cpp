#include "app/cli/emulated_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/read/json_fields.h"
#include "app/cli/child_process.h"
#include "app/cli/program_files.h"
#include "app/cli/python_probe.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

// Versions with which tests/real passes.
constexpr const char* seen_to_work = "JAX 0.6.2 and 0.10.2, PyTorch 2.6.0 and 2.9.1";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string joined(const std::string& first, const std::string& second, const char* separator) {
  return second.empty() ? first : first + separator + second;
}

std::vector<std::string> libraries_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

// As a shell finds it; empty if it doesn't.
std::string find_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const std::string path = variable("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

bool is_python(const std::string& program) {
  return fs::path(program).filename().string().starts_with("python");
}

// The Python that the command runs in: itself, or the one in the first line of a script such as torchrun. Empty: none.
std::string find_python(const std::vector<std::string>& command) {
  const std::string program = find_in_path(command.front());
  if (program.empty() || is_python(program)) return program;
  std::ifstream file(program, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!") || line.size() > 4096) return {};
  std::string word;
  for (const char c : line.substr(2) + " ") {
    if (c != ' ') {
      word += c;
      continue;
    }
    if (is_python(word)) return find_in_path(word);
    word.clear();
  }
  return {};
}

Result<FoundFrameworks> look_at(const std::string& python) {
  if (python.empty()) return FoundFrameworks{};
  const auto output = run_and_read({python, "-c", python_probe});
  if (!output) return Failure(output.error());
  if (output->exit_code != 0)
    return Failure(
        refusal(fmt::format("{} ended with code {} instead of listing its packages", python, output->exit_code),
                "Its message is above."));
  return frameworks_from(output->text);
}

void set_variables(const FoundFrameworks& found, const fs::path& folder, EmulatedProgram& program) {
  const std::string libraries = (folder / "lib").string();
  program.variables.emplace_back("LD_LIBRARY_PATH", joined(libraries, variable("LD_LIBRARY_PATH"), ":"));
  if (!found.is_python) return;
  program.variables.emplace_back("PYTHONPATH", joined((folder / "python").string(), variable("PYTHONPATH"), ":"));
  if (found.jax_cuda.empty()) return;
  // JAX asks the driver for versions of libraries that aren't there.
  program.variables.emplace_back("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1");
  if (variable("JAX_PLATFORMS").empty()) program.variables.emplace_back("JAX_PLATFORMS", "cuda,cpu");
  // Kernels do nothing, so trying out several of them decides nothing, and takes memory and time.
  if (const std::string flags = variable("XLA_FLAGS"); flags.find("xla_gpu_autotune_level") == std::string::npos)
    program.variables.emplace_back("XLA_FLAGS", joined("--xla_gpu_autotune_level=0", flags, " "));
}

std::string text_from_frameworks(const FoundFrameworks& found) {
  if (!found.is_python) return "the command is not a Python program that hbmscope knows; nothing else was checked";
  std::vector<std::string> names;
  if (!found.jax.empty())
    names.push_back("JAX " + found.jax + (found.jax_cuda.empty() ? " (without CUDA: it stays on the CPU)" : ""));
  if (!found.torch.empty())
    names.push_back("PyTorch " + found.torch +
                    (found.torch_cuda.empty() ? " (without CUDA: it stays on the CPU)" : ""));
  if (names.empty()) return "neither JAX nor PyTorch is installed in its Python";
  return fmt::format("found {}; seen to work with {}", fmt::join(names, " and "), seen_to_work);
}

}  // namespace

Result<FoundFrameworks> frameworks_from(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return Failure(refusal("Python did not list its packages", "Its output is above."));
  FoundFrameworks found;
  found.is_python = true;
  found.jax = text_at(parsed, "jax");
  found.torch = text_at(parsed, "torch");
  found.torch_cuda = text_at(parsed, "torch_cuda");
  if (const auto majors = parsed.find("jax_cuda"); majors != parsed.end() && majors->is_array())
    for (const auto& major : *majors)
      if (major.is_number_integer()) found.jax_cuda.push_back(major.get<int>());
  found.has_ptxas = parsed.value("has_ptxas", true);
  found.has_libdevice = parsed.value("has_libdevice", true);
  return found;
}

Error find_framework_fault(const FoundFrameworks& found) {
  const bool has_cuda_jax = !found.jax_cuda.empty(), has_cuda_torch = !found.torch_cuda.empty();
  if (!found.jax.empty() && !has_cuda_jax && !has_cuda_torch)
    return refusal(fmt::format("JAX {} in this Python has no CUDA plugin, so it would run on the CPU", found.jax),
                   fmt::format("pip install \"jax[cuda12]=={}\" (no GPU is needed).", found.jax));
  if (!found.torch.empty() && !has_cuda_torch && !has_cuda_jax)
    return refusal(
        fmt::format("PyTorch {} in this Python was built without CUDA", found.torch),
        fmt::format("pip install torch=={} --index-url https://download.pytorch.org/whl/cu128 (no GPU is needed).",
                    found.torch.substr(0, found.torch.find('+'))));
  if (const int major = std::atoi(found.torch_cuda.c_str()); has_cuda_torch && major != 12 && major != 13)
    return refusal(fmt::format("PyTorch {} in this Python was built for CUDA {}", found.torch, found.torch_cuda),
                   "CUDA 12 and 13 can be emulated.");
  const int major = has_cuda_jax ? found.jax_cuda.back() : 0;
  if (has_cuda_jax && !found.has_ptxas)
    return refusal("JAX's compiler needs ptxas, which is not in this Python's packages and not in PATH",
                   major == 12 ? "pip install nvidia-cuda-nvcc-cu12." : "pip install nvidia-cuda-nvcc.");
  if (has_cuda_jax && !found.has_libdevice)
    return refusal("JAX's compiler needs libdevice, which is not in this Python's packages",
                   major == 12 ? "pip install nvidia-cuda-nvcc-cu12." : "pip install nvidia-nvvm.");
  return {};
}

Result<EmulatedProgram> prepare_program(const std::vector<std::string>& command, const EmulatedMachine& machine) {
  const fs::path folder = find_emulated_folder();
  if (folder.empty())
    return Failure(refusal("the libraries of the emulated device are missing",
                           "Install hbmscope, or build them: cmake --build build/release --target emulated_device."));
  if (auto fault = find_preload_fault("the emulated libraries", folder.string())) return Failure(std::move(*fault));
  const auto found = look_at(find_python(command));
  if (!found) return Failure(found.error());
  if (Error fault = find_framework_fault(*found); !fault.what.empty()) return Failure(std::move(fault));
  EmulatedProgram program;
  program.variables = variables_of(machine);
  set_variables(*found, folder, program);
  program.preload = libraries_in(folder / "lib");
  std::string names;
  for (const auto& [name, value] : program.variables)
    if (!name.starts_with("HBMSCOPE_")) names += (names.empty() ? "" : ", ") + name;
  program.notes.push_back(fmt::format("emulating {}: kernels do nothing, values are zeros; {}",
                                      text_from_machine(machine), text_from_frameworks(*found)));
  program.notes.push_back(
      fmt::format("set for the job only: {} libraries in LD_PRELOAD, {}", program.preload.size(), names));
  return program;
}

}  // namespace hbmscope::cli
