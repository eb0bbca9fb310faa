// hbmscope tpu: what the TPU compiler makes of arrays and programs. Each part is a subcommand.
#pragma once

#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/tpu/tpu_run.h"

namespace hbmscope::cli {

struct TpuLayoutOptions {
  std::string layout;                     // "f32[129,1024]{1,0:T(8,128)}". Empty means from generation, type and shape.
  std::string generation, dtype, shape;   // "v5e", "bf16", "100x200".
  std::string second_minor = "compiled";  // Other values: compact, large.
  std::string batch;                      // A file of rows; "-": standard input.
  std::vector<std::string> listings;      // Files of named arrays, e.g. of a pytree or a checkpoint.
  std::string picture;                    // A PNG file to write; "-": prints it as characters. Empty if there is none.
  std::string theme;
  double scale = 1;
  bool json = false;
};

struct TpuFitOptions {
  std::vector<std::string> files, generations, topologies;  // If both of the last two are empty: all generations.
  std::string python = "python3";                           // For a script.
  std::string max_size = "4GiB";
  GateOptions gate;  // Empty: no condition. Not for a script.
  bool json = false;
};

struct TpuImportOptions {
  std::string folder;
  std::vector<std::string> generations;  // Empty: all.
  std::string record;                    // A file to write. Empty if there is none.
  std::string max_size = "4GiB";
  bool json = false;
};

struct TpuCompileOptions {
  std::string target;  // "step.py:train_step"
  std::vector<std::string> topologies;
  std::string python = "python3";
  std::string record;  // A file to write. Empty if there is none.
  std::string max_size = "4GiB";
  bool json = false;
};

struct TpuOptions {
  TpuLayoutOptions layout;
  TpuFitOptions fit;
  TpuRunOptions run;
  TpuImportOptions dumps;
  TpuCompileOptions compile;
  bool json = false;  // For the list of generations.
};

int run_tpu_layout(const TpuLayoutOptions& options, const OpenWindow& open_window);
int run_tpu_listing(const TpuLayoutOptions& options);
int run_tpu_generations(bool json);
int run_tpu_fit(const TpuFitOptions& options);
int run_tpu_import(const TpuImportOptions& options);
int run_tpu_compile(const TpuCompileOptions& options);

}  // namespace hbmscope::cli
