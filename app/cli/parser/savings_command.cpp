// hbmscope savings: its options.
#include <memory>

#include <CLI/CLI.hpp>

#include "app/cli/parser/commands.h"
#include "app/cli/report/savings.h"

namespace hbmscope::cli {

void add_savings(CommandList& commands) {
  CLI::App& command = commands.add("savings", "Compute what would lower the peak: the next peak without each line", R"(
  hbmscope savings snapshot.pickle                                each line of your code: how much the peak would fall
  hbmscope savings job.hbm --by category                          parameters, gradients, activations, ...
  hbmscope savings job.hbm --lower-by 2GiB                        the smallest set of lines that saves as much)");
  const auto options = std::make_shared<SavingsOptions>();
  add_files(command, options->files,
            "A recording, a PyTorch snapshot with history, a profiler's trace or a log of allocations. Several are the "
            "ranks of one job. - is standard input");
  command.add_option("--by", options->by, "What to remove: line, function, category or tag")
      ->check(one_of({"line", "function", "category", "tag"}))
      ->capture_default_str()
      ->type_name("GROUP");
  command
      .add_option("--heap", options->heap,
                  "The heap whose peak counts; default: the one that failed last, or has the highest peak")
      ->type_name("NAME");
  command
      .add_option("--lower-by", options->lower_by,
                  "Also find the smallest set that lowers the peak by this much, e.g. 500MiB")
      ->type_name("SIZE");
  add_count_option(command, "--top", options->top, "Print this many rows, 0: all");
  add_fail_if_option(command, options->gate, ", e.g. 'peak>40GiB' or 'saves>2GiB'");
  add_json_option(command, options->json);
  add_brief_option(command, options->brief);
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_savings(*options); });
}

}  // namespace hbmscope::cli
