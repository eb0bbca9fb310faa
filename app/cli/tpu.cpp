#include "app/cli/tpu.h"

#include <CLI/CLI.hpp>

#include "allocator/tpu/generation.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

CLI::App& add_tpu(CLI::App& app, TpuOptions& options) {
  CLI::App& command = *app.add_subcommand("tpu", "What the TPU compiler makes of arrays: layouts, padding, memories");
  command.require_subcommand(1);
  CLI::App& layout = *command.add_subcommand("layout", "How an array lies in tiles, and the bytes that it takes");
  TpuLayoutOptions& wanted = options.layout;
  layout.add_option("LAYOUT", wanted.layout, "As XLA writes it, e.g. 'f32[129,1024]{1,0:T(8,128)}'");
  layout.add_option(
      "--generation", wanted.generation,
      allocator::tpu::text_from_generations() +
          ": the compiler's own layout, and the one with the least padding (those from v4 on are alike)");
  layout.add_option("--dtype", wanted.dtype, "Of the array: f32, bf16, s8, ...; float32 and bfloat16 too");
  layout.add_option("--shape", wanted.shape, "Of the array, e.g. 100x200, or scalar");
  layout
      .add_option("--second-minor", wanted.second_minor,
                  "How many rows a tile has: compiled (what parameters get), compact (at most 8) or large")
      ->check(CLI::IsMember({"compiled", "compact", "large"}))
      ->capture_default_str();
  layout.add_option("--batch", wanted.batch,
                    "A file of rows between tabs, with a head line: layout, or generation, dtype and shape; prints it "
                    "with the bytes of each, and sums on standard error");
  layout.add_option("--listing", wanted.listings,
                    "Named arrays of a pytree or a checkpoint, several files as one: .safetensors (its head alone is "
                    "read), JSON of dtype and shape, or rows between tabs; prints what wastes the most first");
  layout.add_option("--picture", wanted.picture,
                    "Of its tiles, padding hatched: a PNG to write, with no display; - prints one in characters");
  layout.add_option("--theme", wanted.theme, "Of the PNG: dark or light")->check(CLI::IsMember({"dark", "light"}));
  layout.add_option("--scale", wanted.scale, "Of the PNG: size of text and spacing, 0.75 to 2")
      ->capture_default_str()
      ->check(CLI::Range(0.75, 2.0));
  layout.add_flag("--json", wanted.json, "Print JSON (described in app/cli/README.md)");
  CLI::App& fit = *command.add_subcommand("fit", "Does a program fit, on which generation, and what would make it fit?");
  fit.add_option("FILE", options.fit.files,
                 "Dumps of XLA's buffer assignment (HloProto or buffer-assignment.txt), workloads (emulated, with one "
                 "thing changed after the other), or SCRIPT.py:NAME, of which the compiler is asked (tpu compile)")
      ->required();
  fit.add_option("--generation", options.fit.generations, "Only this one; may be given several times");
  fit.add_option("--topology", options.fit.topologies, "E.g. v5e:2x2, which has 4 devices; may be given several times");
  fit.add_option("--python", options.fit.python, "Of a script: the Python that has jax and libtpu")
      ->capture_default_str();
  fit.add_flag("--json", options.fit.json, "Print JSON (described in app/cli/README.md)");
  add_max_size_option(fit, options.fit.max_size);
  CLI::App& run =
      *command.add_subcommand("run", "A workload file, emulated: what fits, what fails, and the trace of it");
  run.add_option("FILE", options.run.file, "The workload (analysis/read/tpu_workload/README.md); samples/tpu has some")
      ->required();
  run.add_option("--generation", options.run.generation, "Instead of the one that the file names");
  run.add_option(
      "--what-if", options.run.what_if,
      "KEY=VALUE, several times: a parameter or mesh.AXIS of the file, checkpointing (none, dots, full, "
      "offload), donation, defragmentation, gpu (on, off), buffers (of every ring), vmem.KEY (on, off, numbers: "
      "which values are in VMEM)");
  run.add_option("--record", options.run.record, "Keep it as a recording (*.hbm), which report and the window open");
  run.add_option("--oom-log", options.run.oom_log,
                 "Write what compiler and runtime would say of failures to this file");
  run.add_flag("--timed", options.run.timed,
               "Give the events times, modelled by bandwidths; else they are in order only");
  run.add_flag("--window", options.run.window,
               "Open it in the window instead, with controls for all that can be changed: hbmscope open FILE");
  run.add_flag("--json", options.run.json, "Print JSON (described in app/cli/README.md)");
  add_max_size_option(run, options.run.max_size);
  CLI::App& dumps = *command.add_subcommand("import", "The programs of a folder that XLA dumped into (--xla_dump_to)");
  dumps.add_option("DIR", options.dumps.folder, "The folder")->required();
  dumps.add_option("--generation", options.dumps.generations, "Only this one; may be given several times");
  dumps.add_option("--record", options.dumps.record, "Keep the program that needs the most as a recording (*.hbm)");
  dumps.add_flag("--json", options.dumps.json, "Print JSON (described in app/cli/README.md)");
  add_max_size_option(dumps, options.dumps.max_size);
  CLI::App& compile = *command.add_subcommand(
      "compile", "What the real compiler makes of a program, with no TPU: needs a Python with jax and libtpu");
  compile
      .add_option("SCRIPT:NAME", options.compile.target,
                  "A function that takes nothing and returns a jax.stages.Lowered, or (function, args, kwargs) of "
                  "jax.ShapeDtypeStruct")
      ->required();
  compile.add_option("--topology", options.compile.topologies, "E.g. v5e:2x2; may be given several times")->required();
  compile.add_option("--python", options.compile.python, "The Python that has them")->capture_default_str();
  compile.add_option("--record", options.compile.record, "Keep the program as a recording (*.hbm)");
  compile.add_flag("--json", options.compile.json, "Print JSON (described in app/cli/README.md)");
  add_max_size_option(compile, options.compile.max_size);
  CLI::App& generations =
      *command.add_subcommand("generations", "The memories of each generation, and where each figure is from");
  generations.add_flag("--json", options.json, "Print JSON");
  return command;
}

int run_tpu(const CLI::App& command, const TpuOptions& options, const OpenWindow& open_window) {
  if (command.got_subcommand("layout")) return run_tpu_layout(options.layout, open_window);
  if (command.got_subcommand("fit")) return run_tpu_fit(options.fit);
  if (command.got_subcommand("run"))
    return options.run.window ? open_tpu_workload(options.run, open_window) : run_tpu_workload(options.run);
  if (command.got_subcommand("import")) return run_tpu_import(options.dumps);
  if (command.got_subcommand("compile")) return run_tpu_compile(options.compile);
  return run_tpu_generations(options.json);
}

}  // namespace hbmscope::cli
