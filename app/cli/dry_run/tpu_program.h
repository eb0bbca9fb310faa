// What a JAX program needs so that it runs on an emulated TPU slice: the plugin that JAX loads in libtpu's place
// (allocator/emulated/tpu/plugin), libtpu itself for its compiler, and variables; nothing outside its own processes.
#pragma once

#include "app/cli/dry_run/emulated_program.h"

namespace hbmscope::cli {

struct TpuProgramOptions {
  bool is_quick = false;  // Compile at a lower level of optimisation.
  std::uint32_t runs_ahead = 0;
  std::string plans;  // A folder for the memory plans of its programs. Empty if there is none.
};

// Errors: the plugin is missing, or the command's Python has no JAX or no libtpu.
Result<EmulatedProgram> prepare_tpu_program(const std::vector<std::string>& command, const EmulatedMachine& machine,
                                            const TpuProgramOptions& options);

// Compiled programs are kept here, for later runs; the oldest are removed when they take too much. Empty means nowhere.
std::string tpu_program_folder();

}  // namespace hbmscope::cli
