#include "app/cli/dry_run/tpu_program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/load.h"
#include "app/cli/dry_run/program_files.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

// Versions with which tests/real passes.
constexpr const char *jax_on_tpu_seen_to_work = "0.7.2, 0.9.0, 0.10.2 and 0.12.0.1", *torch_xla_seen_to_work = "2.9.0";

// The frameworks for TPUs: "JAX 0.10.2", "torch_xla 2.9.0" or both.
std::string text_from_tpu_frameworks(const FoundFrameworks& found, bool with_tested) {
  std::string text;
  const auto add = [&](const char* name, const std::string& version, const char* tested) {
    if (version.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", name, version);
    if (with_tested) text += fmt::format(" (tested: {})", tested);
  };
  add("JAX", found.jax, jax_on_tpu_seen_to_work);
  add("torch_xla", found.torch_xla, torch_xla_seen_to_work);
  return text;
}

Error find_fault(const FoundFrameworks& found, bool is_quick) {
  if (!found.is_python)
    return refusal("hbmscope can't find the Python that the command starts; TPUs are emulated for JAX and torch_xla",
                   "Name the Python first: -- python train.py.");
  if (found.jax.empty() && found.torch_xla.empty()) {
    if (found.torch.empty())
      return refusal("the command's Python has neither JAX nor torch_xla, and TPUs are emulated for these",
                     "pip install \"jax[tpu]\" (no TPU is needed).");
    return refusal(fmt::format("the command's Python has PyTorch {}, but not torch_xla, which PyTorch needs for TPUs",
                               found.torch),
                   "For a GPU: --emulate h100. For a TPU: pip install \"torch_xla[tpu]\" (no TPU is needed).");
  }
  if (found.libtpu.empty())
    return refusal(fmt::format("libtpu, whose compiler is needed, is not installed in the Python with {}",
                               text_from_tpu_frameworks(found, false)),
                   fmt::format("pip install \"{}\" on x86-64 Linux (no TPU is needed).",
                               found.jax.empty() ? "torch_xla[tpu]==" + found.torch_xla : "jax[tpu]==" + found.jax));
  if (is_quick && found.jax.empty())
    return refusal("--quick is for JAX: torch_xla has no level of optimisation to lower", "Leave --quick out.");
  return {};
}

std::string find_doubt(const std::vector<std::string>& command, const FoundPython& python,
                       const FoundFrameworks& found) {
  if (std::string isolation = find_isolation(command, python); !isolation.empty())
    return "the job may stay on the CPU: " + isolation;
  const std::string platforms = environment_variable("JAX_PLATFORMS"), device = environment_variable("PJRT_DEVICE");
  if (!found.jax.empty() && !platforms.empty() && platforms.find("tpu") == std::string::npos)
    return "JAX may stay on the CPU: JAX_PLATFORMS is " + printable(platforms);
  if (!found.torch_xla.empty() && !device.empty() && device != "TPU")
    return "torch_xla may stay on another device: PJRT_DEVICE is " + printable(device);
  return {};
}

// At most so many bytes of the newest programs stay. Other runs may add and remove files meanwhile.
void prune(const std::string& folder) {
  constexpr std::uintmax_t bytes_max = std::uintmax_t{2} << 30;
  struct File {
    fs::file_time_type time;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    File file{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (!gone && file.path.filename().string().find(".program") != std::string::npos) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.time > b.time; });
  std::uintmax_t sum = 0;
  for (const File& file : files)
    if ((sum += file.bytes) > bytes_max) fs::remove(file.path, error);
}

}  // namespace

std::string tpu_program_folder() {
  if (const char* given = std::getenv("HBMSCOPE_TPU_CACHE")) return given;
  std::string base = environment_variable("XDG_CACHE_HOME");
  if (base.empty() && !environment_variable("HOME").empty()) base = environment_variable("HOME") + "/.cache";
  return base.empty() ? base : base + "/hbmscope/tpu_programs";
}

Result<EmulatedProgram> prepare_tpu_program(const std::vector<std::string>& command, const EmulatedMachine& machine,
                                            const TpuProgramOptions& options) {
  const auto plugin = find_tpu_plugin();
  if (!plugin)
    return Failure(refusal("the library of the emulated TPU is missing",
                           "Install hbmscope, or build it: cmake --build build/release --target emulated_tpu."));
  const FoundPython python = find_python(command);
  const auto found = ask_for_frameworks(python.program);
  if (!found) return Failure(found.error());
  if (Error fault = find_fault(*found, options.is_quick); !fault.what.empty()) return Failure(std::move(fault));
  EmulatedProgram program;
  program.variables = variables_of(machine);
  const auto set = [&](const char* name, std::string value) { program.variables.emplace_back(name, std::move(value)); };
  set("TPU_LIBRARY_PATH", plugin->string());
  set("HBMSCOPE_TPU_LIBRARY", found->libtpu);
  if (const std::string cache = tpu_program_folder(); !cache.empty()) {
    prune(cache);
    set("HBMSCOPE_TPU_CACHE", cache);
  }
  if (!options.plans.empty()) set("HBMSCOPE_TPU_PLANS", options.plans);
  const std::string path = environment_variable("PYTHONPATH");
  set("PYTHONPATH", (find_emulated_folder() / "python").string() + (path.empty() ? "" : ":" + path));
  // Without them JAX looks for chips first, and libtpu warns that it doesn't know the machine; the slice is the
  // topology's all the same.
  if (environment_variable("JAX_PLATFORMS").empty()) set("JAX_PLATFORMS", "tpu,cpu");
  if (environment_variable("TPU_ACCELERATOR_TYPE").empty()) set("TPU_ACCELERATOR_TYPE", "v5litepod-4");
  if (!found->torch_xla.empty()) {
    if (environment_variable("PJRT_DEVICE").empty()) set("PJRT_DEVICE", "TPU");
    // It asks the cloud's metadata server otherwise.
    if (environment_variable("TPU_SKIP_MDS_QUERY").empty()) set("TPU_SKIP_MDS_QUERY", "1");
  }
  if (options.runs_ahead != 0) set("HBMSCOPE_TPU_RUNS_AHEAD", std::to_string(options.runs_ahead));
  if (options.is_quick) set("JAX_OPTIMIZATION_LEVEL", "O1");
  program.doubt = find_doubt(command, python, *found);
  program.notes.push_back(
      fmt::format("emulating {}: nothing is computed, values are zeros; {}, compiled by libtpu {}{}",
                  text_from_machine(machine), text_from_tpu_frameworks(*found, true),
                  found->libtpu_version.empty() ? "of an unknown version" : found->libtpu_version,
                  options.is_quick ? " at optimization level O1 (--quick)" : ""));
  if (!program.doubt.empty()) program.notes.push_back(program.doubt);
  return program;
}

}  // namespace hbmscope::cli
