// Commands for allocators and TPUs: replay, tpu.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "allocator/emulated/tpu/generation.h"
#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/xla_gpu/version.h"
#include "app/cli/dry_run/device_size.h"
#include "app/cli/options.h"
#include "app/cli/parser/commands.h"
#include "app/cli/tpu/tpu.h"

namespace hbmscope::cli {
namespace {

std::string names_of_versions() {
  std::string names;
  for (const auto& rules : allocator::xla_gpu::all_versions())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", rules.name);
  return names;
}

void set_examples(CLI::App& command, const std::string& examples) {
  command.footer("Examples:" + examples);
}

void add_layout(CLI::App& tpu, TpuLayoutOptions& options) {
  CLI::App& command = *tpu.add_subcommand("layout", "Show how an array is tiled and padded, and the memory it takes");
  set_examples(command, R"(
  hbmscope tpu layout --generation v5e --dtype f32 --shape 1000x1     what padding does to an array
  hbmscope tpu layout 'f32[129,1024]{1,0:T(8,128)}' --picture -       its tiles, drawn in the terminal
  hbmscope tpu layout --listing model.safetensors                     which arrays of a checkpoint waste the most)");
  command.add_option("LAYOUT", options.layout, "A layout in XLA's notation, e.g. 'f32[129,1024]{1,0:T(8,128)}'")
      ->type_name("");
  command
      .add_option("--generation", options.generation,
                  "Use the layout that the compiler chooses for " + allocator::tpu::text_from_generations() +
                      "; v4 and later are alike")
      ->type_name("NAME");
  command.add_option("--dtype", options.dtype, "The type of the array: f32, bf16, s8, ...; also float32 and bfloat16")
      ->type_name("TYPE");
  command.add_option("--shape", options.shape, "The shape of the array, e.g. 100x200, or scalar")->type_name("SHAPE");
  command
      .add_option("--second-minor", options.second_minor,
                  "Rows per tile: compiled (what parameters get), compact (at most 8) or large")
      ->check(one_of({"compiled", "compact", "large"}))
      ->type_name("ROWS")
      ->capture_default_str();
  command
      .add_option(
          "--batch", options.batch,
          "Read a tab-separated file with a header line (layout, or generation, dtype and shape), print it with "
          "the bytes of each row, and the totals on standard error")
      ->type_name("FILE");
  command
      .add_option("--listing", options.listings,
                  "Read the named arrays of a pytree or checkpoint (.safetensors, JSON, or tab-separated rows; several "
                  "files are added up) and print those that waste the most first")
      ->type_name("FILE");
  command
      .add_option("--picture", options.picture,
                  "Draw the tiles, with padding hatched, into this PNG (no display is needed); - draws them in the "
                  "terminal")
      ->type_name("FILE");
  command.add_option("--theme", options.theme, "Of the PNG: dark or light")
      ->check(one_of({"dark", "light"}))
      ->type_name("THEME");
  command.add_option("--scale", options.scale, "Of the PNG: the size of text and spacing, 0.75 to 2")
      ->capture_default_str()
      ->check(between(0.75, 2.0))
      ->type_name("FACTOR");
  add_json_option(command, options.json);
}

void add_fit(CLI::App& tpu, TpuFitOptions& options) {
  CLI::App& command =
      *tpu.add_subcommand("fit", "Check whether a program fits on each TPU generation, and what would make it fit");
  set_examples(command, R"(
  hbmscope tpu fit module.hlo.pb --generation v5e                     a compiled program
  hbmscope tpu fit samples/tpu/fsdp.json                              a workload, emulated on each generation
  hbmscope tpu fit step.py:train_step --topology v5e:2x2              asks the real compiler)");
  command
      .add_option("FILE", options.files,
                  "Dumps of XLA's buffer assignment (HloProto or buffer-assignment.txt), folders with such dumps, "
                  "workload files, which are emulated, or SCRIPT.py:NAME, a function without arguments whose result is "
                  "compiled (tpu compile --help)")
      ->required()
      ->type_name("");
  command.add_option("--generation", options.generations, "Check only this generation; repeat for more")
      ->type_name("NAME");
  command
      .add_option("--topology", options.topologies, "Check this topology, e.g. v5e:2x2 (4 devices); repeat for more")
      ->type_name("NAME");
  command.add_option("--python", options.python, "For a script: the Python that has jax and libtpu")
      ->capture_default_str()
      ->type_name("PROGRAM");
  add_fail_if_option(command, options.gate, ", e.g. 'target:v5e margin<1GiB' or 'fits=no'");
  add_json_option(command, options.json);
  add_max_size_option(command, options.max_size);
}

void add_run(CLI::App& tpu, TpuRunOptions& options) {
  CLI::App& command = *tpu.add_subcommand("run", "Emulate a workload file on a TPU: what fits, what fails, and when");
  set_examples(command, R"(
  hbmscope tpu run samples/tpu/server.json                            as the file describes it
  hbmscope tpu run samples/tpu/server.json --what-if defragmentation=off
  hbmscope tpu run samples/tpu/fsdp.json --window                     with controls for every parameter)");
  command
      .add_option("FILE", options.file,
                  "The workload; samples/tpu has some, analysis/read/tpu_workload/README.md describes the format")
      ->required()
      ->type_name("");
  command.add_option("--generation", options.generation, "Emulate this generation instead of the file's")
      ->type_name("NAME");
  command
      .add_option("--what-if", options.what_if,
                  "Change a parameter or mesh.AXIS of the file, checkpointing (none, dots, full, offload), donation, "
                  "defragmentation or gpu (on, off), buffers (of every ring), or vmem.KEY; repeat for more")
      ->type_name("KEY=VALUE");
  command.add_option("--record", options.record, "Save a recording (*.hbm), which report and the window open")
      ->type_name("FILE");
  command.add_option("--oom-log", options.oom_log, "Write the error messages of the compiler and runtime to this file")
      ->type_name("FILE");
  command.add_flag("--timed", options.timed, "Model the times of events by bandwidths; default: only their order");
  add_fail_if_option(command, options.gate, ", e.g. 'fits=no' or 'margin<1GiB'");
  command.add_flag("--window", options.window, "Open it in the window, with controls for every parameter");
  add_json_option(command, options.json);
  add_max_size_option(command, options.max_size);
}

void add_import(CLI::App& tpu, TpuImportOptions& options) {
  CLI::App& command = *tpu.add_subcommand("import", "Check every program in a folder that XLA dumped (--xla_dump_to)");
  set_examples(command, R"(
  hbmscope tpu import /tmp/xla_dump                                   every program, on every generation
  hbmscope tpu import /tmp/xla_dump --record largest.hbm              and the largest one for the window)");
  command.add_option("DIR", options.folder, "The folder")->required()->type_name("");
  command.add_option("--generation", options.generations, "Check only this generation; repeat for more")
      ->type_name("NAME");
  command.add_option("--record", options.record, "Save the program that needs the most memory as a recording (*.hbm)")
      ->type_name("FILE");
  add_json_option(command, options.json);
  add_max_size_option(command, options.max_size);
}

void add_compile(CLI::App& tpu, TpuCompileOptions& options) {
  CLI::App& command = *tpu.add_subcommand(
      "compile", "Compile a program with the real TPU compiler, without a TPU; needs a Python with jax and libtpu");
  set_examples(command, R"(
  hbmscope tpu compile step.py:train_step --topology v5e:2x2          what the compiler says it needs
  hbmscope tpu compile step.py:train_step --topology v5e:2x2 --record step.hbm)");
  command
      .add_option("SCRIPT:NAME", options.target,
                  "A function without arguments that returns a jax.stages.Lowered, or (function, args, kwargs) with "
                  "jax.ShapeDtypeStruct")
      ->required()
      ->type_name("");
  command.add_option("--topology", options.topologies, "The topology to compile for, e.g. v5e:2x2; repeat for more")
      ->required()
      ->type_name("NAME");
  command.add_option("--python", options.python, "The Python that has jax and libtpu")
      ->capture_default_str()
      ->type_name("PROGRAM");
  command.add_option("--record", options.record, "Save the program as a recording (*.hbm)")->type_name("FILE");
  add_json_option(command, options.json);
  add_max_size_option(command, options.max_size);
}

void add_generations(CLI::App& tpu, bool& json) {
  CLI::App& command =
      *tpu.add_subcommand("generations", "List the memories of each TPU generation, and the source of each figure");
  set_examples(command, R"(
  hbmscope tpu generations                                            a table
  hbmscope tpu generations --json                                     for scripts)");
  add_json_option(command, json);
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

}  // namespace

void add_tpu(CommandList& commands) {
  CLI::App& command =
      commands.add("tpu", "Check whether a program fits on a TPU: layouts, padding, memory, emulation", R"(
  hbmscope tpu fit module.hlo.pb --generation v5e                     does this compiled program fit?
  hbmscope tpu run samples/tpu/server.json                            a workload on an emulated TPU
  hbmscope tpu layout --generation v5e --dtype f32 --shape 1000x1     what padding does to an array

hbmscope tpu SUBCOMMAND --help shows the options of each.)");
  command.require_subcommand(1);
  const auto options = std::make_shared<TpuOptions>();
  add_fit(command, options->fit);
  add_run(command, options->run);
  add_layout(command, options->layout);
  add_compile(command, options->compile);
  add_import(command, options->dumps);
  add_generations(command, options->json);
  commands.set_action(command,
                      [options, &command, &commands] { return run_tpu(command, *options, commands.open_window()); });
}

void add_replay(CommandList& commands) {
  CLI::App& command = commands.add(
      "replay", "Replay recorded requests in an allocator: JAX's, PyTorch's, ... What would fail, and why?", R"(
  hbmscope replay snapshot.pickle --allocator pytorch --device h100-80      on another GPU
  hbmscope replay snapshot.pickle --device-bytes 40GiB --set XLA_CLIENT_MEM_FRACTION=.9
  hbmscope replay requests.jsonl.zst --version spatial_v1 --check           compare with the recorded addresses)");
  const auto options = std::make_shared<ReplayOptions>();
  command
      .add_option(
          "FILE", options->file,
          "A trace that report opens, or a stream of requests (JSON lines, plain or zstd; app/cli/dry_run/README.md "
          "describes the format). - is standard input")
      ->required()
      ->type_name("");
  command
      .add_option(
          "--allocator", options->allocator,
          "The allocator: " + allocator::text_from_allocators() + "; default: as JAX's settings choose, xla_gpu")
      ->type_name("NAME");
  command
      .add_option("--version", options->version,
                  "The version of JAX's allocator: " + names_of_versions() +
                      "; default: as the configuration says, classic_align or spatial_v1")
      ->type_name("NAME");
  command
      .add_option("--device-bytes", options->device_bytes,
                  "The memory of the device, e.g. 80GiB; replaces the configuration of a stream of requests")
      ->type_name("SIZE");
  command
      .add_option(
          "--device", options->device,
          "A GPU instead of --device-bytes: h100-80, a100-40, mi300x, ... (allocator/emulated/gpus/README.md); or the "
          "number of a device in the trace, default: the one with the most requests")
      ->check(find_device_fault)
      ->type_name("NAME");
  command
      .add_option("--set", options->settings,
                  "A setting of JAX, e.g. XLA_CLIENT_MEM_FRACTION=.9 (allocator/reference/catalog/README.md lists "
                  "them), or PyTorch's "
                  "PYTORCH_CUDA_ALLOC_CONF; repeat for more")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_flag("--check", options->check,
                   "Compare each address with the recorded one, and exit with 1 at the first difference");
  command.add_flag("--time", options->time, "Also measure the time per operation: the best of three passes");
  command.add_flag("--with-hang", options->with_hang,
                   "Reproduce the hang of versions before 2026-08-14, when a small request finds the driver full");
  command
      .add_option("-o,--output", options->output, "Save the replay as a recording, which report and the window open")
      ->type_name("FILE");
  command
      .add_option("--oom-log", options->oom_log,
                  "Write what XLA would log for the first ten failures, in that version's words, to this file")
      ->type_name("FILE");
  command
      .add_option("--memory-dump", options->memory_dump,
                  "Write the MemoryDump protobuf of the first failure to this file, as TF_BFC_MEMORY_DUMP does")
      ->type_name("FILE");
  command
      .add_option("--traceme", options->trace_events,
                  "Write the trace event that XLA's profiler gets for each block to this file, one per line")
      ->type_name("FILE");
  command
      .add_option("--allocator-name", options->allocator_name,
                  "The name of the allocator in these files; default: GPU_0_bfc, or GPU_0_ and the allocator")
      ->type_name("NAME");
  add_json_option(command, options->json);
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options, &command] {
    options->used = used_options_of(command);
    return run_replay(*options);
  });
}

}  // namespace hbmscope::cli
