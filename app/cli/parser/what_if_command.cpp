// hbmscope whatif: its options.
#include <memory>

#include <CLI/CLI.hpp>

#include "app/cli/dry_run/device_size.h"
#include "app/cli/parser/commands.h"
#include "app/cli/report/what_if.h"

namespace hbmscope::cli {

void add_what_if(CommandList& commands) {
  CLI::App& command =
      commands.add("whatif", "Replay a job's requests under other settings: which of them make it fit?", R"(
  hbmscope whatif job.hbm                                         the settings that people try, each alone
  hbmscope whatif snapshot.pickle --device h100                   a source that doesn't say which device it was
  hbmscope whatif job.hbm --try XLA_CLIENT_MEM_FRACTION=.87 --try 'XLA_CLIENT_MEM_FRACTION=.87 device=h200'
  hbmscope whatif job.hbm --try free=train.py:48                  the line frees what it made before it makes more
  hbmscope whatif job.hbm --try donate=train.py:48                its arrays are donated to later ones of their size)");
  const auto options = std::make_shared<WhatIfOptions>();
  add_files(command, options->files,
            "A recording, a PyTorch snapshot with history, a profiler's trace or a log of allocations. - is standard "
            "input");
  command
      .add_option(
          "--try", options->tries,
          "A setting instead of the usual ones: NAME=VALUE of a variable, allocator=NAME, version=NAME or "
          "device=NAME; several together in quotes. Or what the program does otherwise: free=LINE (blocks of this "
          "line of your code are freed before it requests the next ones) or donate=LINE (they are donated to "
          "the next request of the same size). Repeat for more")
      ->type_name("WORDS")
      ->allow_extra_args(false);
  command
      .add_option("--device", options->device,
                  "The number of a device in the source, default: the one with the most requests; or the GPU that the "
                  "job had, where the source doesn't say: h100-80, a100-40, ...")
      ->check(find_device_fault)
      ->type_name("NAME");
  command.add_option("--device-bytes", options->device_bytes, "The memory of the job's device, e.g. 80GiB")
      ->type_name("SIZE");
  command
      .add_option("--outside", options->outside,
                  "The memory of the device that something else takes, e.g. 600MiB; default: as recorded")
      ->type_name("SIZE");
  add_fail_if_option(command, options->gate, ", e.g. 'setting:recorded peak>70GiB' or 'setting:a100 fits=no'");
  add_json_option(command, options->json);
  add_brief_option(command, options->brief);
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_what_if(*options); });
}

}  // namespace hbmscope::cli
