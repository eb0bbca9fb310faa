#include "app/cli/dry_run/emulated_program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/cuda/model/settings.h"
#include "analysis/read/json_fields.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/dry_run/python_probe.h"
#include "app/cli/jobs/child_process.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

// Versions with which tests/real passes.
constexpr const char* jax_seen_to_work = "0.4.38, 0.6.2, 0.10.2 and 0.12.0.1";
constexpr const char* torch_seen_to_work = "2.4.1, 2.6.0, 2.9.1 and 2.15.0";
constexpr const char* tensorflow_seen_to_work = "2.20.0";

std::string with(const std::string& value, const std::string& others, const char* separator) {
  return others.empty() ? value : value + separator + others;
}

std::vector<std::string> libraries_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error))
    found.push_back(entry->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

// As a shell finds it; empty if it doesn't.
std::string find_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const std::string path = environment_variable("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

// "python", "python3", "python3.11": nothing that merely begins so is started as one.
bool is_python(const std::string& program) {
  static const std::regex pattern(R"(python(3(\.\d+)?)?)");
  return std::regex_match(fs::path(program).filename().string(), pattern);
}

// Programs that start the rest of their words as a command.
bool is_starter(const std::string& program) {
  constexpr std::array names{"env",    "ionice", "nice",    "nohup", "numactl",
                             "setsid", "stdbuf", "taskset", "time",  "timeout"};
  const std::string name = fs::path(program).filename().string();
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

// The Python in the first line of a script such as torchrun. Empty if there is none.
std::string find_python_of_script(const std::string& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!") || line.size() > 4096) return {};
  std::istringstream words(line.substr(2));
  for (std::string word; words >> word;)
    if (is_python(word)) return find_in_path(word);
  return {};
}

std::string find_doubt(const std::vector<std::string>& command, const FoundPython& python) {
  if (std::string isolation = find_isolation(command, python); !isolation.empty()) return isolation;
  if (const std::string platforms = environment_variable("JAX_PLATFORMS");
      !platforms.empty() && platforms.find("cuda") == std::string::npos && platforms.find("gpu") == std::string::npos)
    return "JAX_PLATFORMS is " + printable(platforms);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      visible != nullptr && (*visible == 0 || *visible == '-'))
    return fmt::format("CUDA_VISIBLE_DEVICES is '{}', which hides all devices", printable(visible));
  return {};
}

// NVIDIA's own runtime stops on a driver without private tables; in a shared library it is replaced, but not in here.
std::optional<Error> find_static_runtime(const std::string& program) {
  constexpr std::string_view sign = "libcudart_static_";
  constexpr std::size_t part_bytes = 1 << 20;
  std::ifstream file(program, std::ios::binary);
  std::string part(4, 0);
  if (!file.read(part.data(), 4) || part != "\177ELF") return std::nullopt;
  while (part.find(sign) == std::string::npos) {
    if (!file) return std::nullopt;
    const std::string rest = part.substr(part.size() - std::min(part.size(), sign.size()));
    part.assign(part_bytes, 0);
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    part.resize(static_cast<std::size_t>(file.gcount()));
    part.insert(0, rest);
  }
  return refusal(fmt::format("{} has NVIDIA's CUDA runtime linked into it, which does not run on an emulated device",
                             printable(program)),
                 "Link it as a shared library: nvcc -cudart shared.");
}

// Harmless to programs that need none of it: what runs behind a shell or `uv run` isn't known. sitecustomize sets what
// depends on the packages.
void set_variables(const fs::path& folder, const FoundFrameworks& found, EmulatedProgram& program) {
  const auto set = [&](const char* name, std::string value) { program.variables.emplace_back(name, std::move(value)); };
  set("LD_LIBRARY_PATH", with((folder / "lib").string(), environment_variable("LD_LIBRARY_PATH"), ":"));
  set("PYTHONPATH", with((folder / "python").string(), environment_variable("PYTHONPATH"), ":"));
  // JAX asks the driver for versions of libraries that aren't there.
  set("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1");
  // Kernels do nothing, so trying out several of them decides nothing, and takes memory and time.
  std::string flags = environment_variable("XLA_FLAGS");
  const auto add_flag = [&](const std::string& name, const char* value) {
    if (flags.find(name) == std::string::npos) flags = with("--" + name + "=" + value, flags, " ");
  };
  add_flag("xla_gpu_autotune_level", "0");
  // It splits untried, and then refuses a dot whose contracting dimension is too small to be split.
  if (found.can_split_k) add_flag("xla_gpu_enable_split_k_autotuning", "false");
  set("XLA_FLAGS", flags);
  // PyTorch refuses a cuDNN that is older than the one that it was built with.
  const int least = device::Settings{}.cudnn_version;
  int cudnn = least;
  for (const std::string& version : found.cudnn)
    if (const auto [major, minor, patch] = release_numbers(version); major == 9)
      cudnn = std::max(cudnn, 10000 * major + 100 * minor + patch);
  if (cudnn > least) set("HBMSCOPE_DEVICE_CUDNN", std::to_string(cudnn));
}

std::string text_from_frameworks(const FoundFrameworks& found) {
  if (!found.is_python) return "which framework the command uses is not known";
  std::vector<std::string> names;
  const auto add = [&](const char* title, const std::string& version, bool has_cuda, const char* seen_to_work) {
    if (version.empty()) return;
    names.push_back(has_cuda ? fmt::format("{} {} (tested: {})", title, version, seen_to_work)
                             : fmt::format("{} {} (without CUDA: it stays on the CPU)", title, version));
  };
  add("JAX", found.jax, !found.jax_cuda.empty(), jax_seen_to_work);
  add("PyTorch", found.torch, !found.torch_cuda.empty(), torch_seen_to_work);
  add("TensorFlow", found.tensorflow, !found.tensorflow_cuda.empty(), tensorflow_seen_to_work);
  std::string text = names.empty() ? "neither JAX, PyTorch nor TensorFlow is installed in its Python"
                                   : fmt::format("found {}", fmt::join(names, " and "));
  if (found.has_cupy) text += "; CuPy brings a CUDA runtime of its own, which fails on an emulated device";
  return text;
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

FoundPython find_python(const std::vector<std::string>& command) {
  const bool is_started = is_starter(command.front());
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (is_python(command[i])) return {find_in_path(command[i]), i + 1};
    if (i > 0 || !is_started)
      if (std::string python = find_python_of_script(find_in_path(command[i])); !python.empty())
        return {std::move(python), command.size()};
    if (!is_started) break;
  }
  return {};
}

std::string find_isolation(const std::vector<std::string>& command, const FoundPython& python) {
  if (python.program.empty()) return {};
  for (std::size_t i = python.arguments_at; i < command.size() && command[i].starts_with("-"); ++i) {
    const std::string& word = command[i];
    if (word == "-c" || word == "-m") break;
    if (word.starts_with("--")) continue;
    if (const std::size_t at = word.find_first_of("IES"); at != std::string::npos)
      return fmt::format("python -{} keeps it from loading what JAX needs to find the devices", word[at]);
  }
  return {};
}

Result<FoundFrameworks> ask_for_frameworks(const std::string& python) {
  if (python.empty()) return FoundFrameworks{};
  const auto output = run_and_read({python, "-c", python_probe});
  if (!output) return Failure(output.error());
  if (output->exit_code != 0)
    return Failure(
        refusal(fmt::format("{} ended with code {} instead of listing its packages", python, output->exit_code),
                "Its message is above."));
  return frameworks_from(output->text);
}

Result<FoundFrameworks> frameworks_from(const std::string& output) {
  // Packages may print something at Python's start; the list is the last line.
  const std::size_t end = output.find_last_not_of('\n');
  const std::size_t before = end == std::string::npos ? end : output.rfind('\n', end);
  const auto parsed =
      nlohmann::json::parse(before == std::string::npos ? output : output.substr(before + 1), nullptr, false);
  if (!parsed.is_object())
    return Failure(
        refusal(fmt::format("Python printed '{}' instead of a list of its packages", printable(output.substr(0, 200))),
                "Try another Python, or name it first: -- python3 train.py."));
  FoundFrameworks found;
  found.is_python = true;
  found.jax = text_at(parsed, "jax");
  found.torch = text_at(parsed, "torch");
  found.torch_cuda = text_at(parsed, "torch_cuda");
  found.torch_xla = text_at(parsed, "torch_xla");
  found.tensorflow = text_at(parsed, "tensorflow");
  found.tensorflow_cuda = text_at(parsed, "tensorflow_cuda");
  found.libtpu = text_at(parsed, "libtpu");
  found.libtpu_version = text_at(parsed, "libtpu_version");
  if (const auto versions = parsed.find("cudnn"); versions != parsed.end() && versions->is_array())
    for (const auto& version : *versions)
      if (version.is_string()) found.cudnn.push_back(version.get<std::string>());
  found.can_split_k = parsed.value("can_split_k", false);
  found.has_cupy = parsed.value("has_cupy", false);
  if (const auto majors = parsed.find("jax_cuda"); majors != parsed.end() && majors->is_array())
    for (const auto& major : *majors)
      if (major.is_number_integer()) found.jax_cuda.push_back(major.get<int>());
  found.has_ptxas = parsed.value("has_ptxas", true);
  found.has_libdevice = parsed.value("has_libdevice", true);
  return found;
}

Error find_framework_fault(const FoundFrameworks& found) {
  const bool has_cuda_jax = !found.jax_cuda.empty(), has_cuda_torch = !found.torch_cuda.empty();
  const bool has_any_cuda = has_cuda_jax || has_cuda_torch || !found.tensorflow_cuda.empty();
  if (!found.jax.empty() && !has_any_cuda)
    return refusal(fmt::format("JAX {} in this Python has no CUDA plugin, so it would run on the CPU", found.jax),
                   fmt::format("pip install \"jax[cuda12]=={}\" (no GPU is needed).", found.jax));
  if (!found.torch.empty() && !has_any_cuda)
    return refusal(
        fmt::format("PyTorch {} in this Python was built without CUDA", found.torch),
        fmt::format("pip install torch=={} --index-url https://download.pytorch.org/whl/cu128 (no GPU is needed).",
                    found.torch.substr(0, found.torch.find('+'))));
  if (!found.tensorflow.empty() && !has_any_cuda)
    return refusal(fmt::format("TensorFlow {} in this Python was built without CUDA", found.tensorflow),
                   fmt::format("pip install tensorflow=={} (no GPU is needed).", found.tensorflow));
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
  const FoundPython python = find_python(command);
  if (python.program.empty())
    if (auto fault = find_static_runtime(find_in_path(command.front()))) return Failure(std::move(*fault));
  const auto found = ask_for_frameworks(python.program);
  if (!found) return Failure(found.error());
  if (Error fault = find_framework_fault(*found); !fault.what.empty()) return Failure(std::move(fault));
  EmulatedProgram program;
  program.variables = variables_of(machine);
  set_variables(folder, *found, program);
  program.doubt = find_doubt(command, python);
  program.preload = libraries_in(folder / "lib");
  program.notes.push_back(
      fmt::format("emulating {}: kernels do nothing, values that only they would know are assumed; {}",
                  text_from_machine(machine), text_from_frameworks(*found)));
  if (!program.doubt.empty()) program.notes.push_back("frameworks may stay on the CPU: " + program.doubt);
  return program;
}

}  // namespace hbmscope::cli
