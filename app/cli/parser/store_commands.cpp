// Commands for many runs, and for agents: digest, fleet, ledger, bisect, mcp. All but digest are programs in Python.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "app/cli/options.h"
#include "app/cli/parser/commands.h"

namespace hbmscope::cli {
namespace {

void add_python_option(CLI::App& command, std::string& python, const std::string& library) {
  command.add_option("--python", python, "The Python that has " + library)->capture_default_str()->type_name("PROGRAM");
}

}  // namespace

void add_digest(CommandList& commands) {
  CLI::App& command = commands.add(
      "digest", "Add what the processes of a job held to a store of Parquet files, to compare thousands of them", R"(
  hbmscope digest recordings/ -o store                            a run, named after the folder
  hbmscope digest rank_*.hbm -o store --run 2026-11-28            named otherwise
  hbmscope digest recordings/ -o store --layout tp=8,dp=16,pp=8   with the place of each rank, tp fastest)");
  const auto options = std::make_shared<DigestOptions>();
  add_files(command, options->files, "Recordings, snapshots, logs, or folders of them");
  command.add_option("-o,--output", options->store, "The store, a folder; it may have other runs")
      ->required()
      ->type_name("STORE");
  command.add_option("--run", options->run, "The name of the run; default: the folder of the first file")
      ->type_name("NAME");
  command.add_option("--layout", options->layout, "How ranks are numbered, from the part that changes fastest")
      ->type_name("tp=N,...");
  command.add_option("--jobs", options->jobs, "Files that are read at once; default: one per processor, at most 8")
      ->type_name("N");
  add_python_option(command, options->python, "DuckDB");
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_digest(*options); });
}

void add_fleet(CommandList& commands) {
  CLI::App& command =
      commands.add("fleet", "Find ranks that differ from their peers, who failed first, and what changed", R"(
  hbmscope fleet store                                            the newest run
  hbmscope fleet store --baseline monday                          and what changed since another run
  hbmscope fleet store --run friday --json                        for scripts)");
  const auto options = std::make_shared<FleetOptions>();
  command.add_option("STORE", options->store, "The folder that `hbmscope digest` wrote")->required()->type_name("");
  command.add_option("--run", options->run, "The run; default: the one that began last")->type_name("NAME");
  command.add_option("--baseline", options->baseline, "A run to compare with")->type_name("NAME");
  command.add_option("--top", options->top, "Rows of each table; 0: all")->capture_default_str()->type_name("N");
  add_json_option(command, options->json);
  add_python_option(command, options->python, "DuckDB");
  commands.set_action(command, [options] { return run_fleet(*options); });
}

void add_ledger(CommandList& commands) {
  CLI::App& command = commands.add("ledger", "The peak of each run of a store, such as one for each commit", R"(
  hbmscope ledger store                                           peak, pool and largest holder, the oldest run first
  hbmscope ledger store --top 20 --json                           the last 20, for scripts)");
  const auto options = std::make_shared<LedgerOptions>();
  command.add_option("STORE", options->store, "The folder that `hbmscope digest` wrote")->required()->type_name("");
  command.add_option("--top", options->top, "The last runs; 0: all")->capture_default_str()->type_name("N");
  add_json_option(command, options->json);
  add_python_option(command, options->python, "DuckDB");
  commands.set_action(command, [options] { return run_ledger(*options); });
}

void add_bisect(CommandList& commands) {
  CLI::App& command = commands.add("bisect", "Find the commit at which a command began to need more device memory", R"(
  hbmscope bisect --good v1.2 --bad main -- python train.py       records the command at some commits between
  hbmscope bisect --good v1.2 --bad main --emulate h100 -- python train.py    without a GPU)");
  const auto options = std::make_shared<BisectOptions>();
  command.add_option("--good", options->good, "A commit with the lower peak")->required()->type_name("COMMIT");
  command.add_option("--bad", options->bad, "A later one with the higher peak")->required()->type_name("COMMIT");
  command.add_option("--repository", options->repository, "The git repository; default: this folder's")
      ->type_name("FOLDER");
  command.add_option("--more", options->more, "By how much the peaks must differ; default: 16MiB")->type_name("SIZE");
  command.add_option("--emulate", options->emulate, "The device of dry runs, as for run")->type_name("DEVICE");
  command.add_option("--store", options->store, "Add the runs to this store, too")->type_name("STORE");
  add_json_option(command, options->json);
  command.add_option("--python", options->python, "A Python; with DuckDB for --store")
      ->capture_default_str()
      ->type_name("PROGRAM");
  command.add_option("COMMAND", options->command, "The command, after two dashes: -- python train.py")
      ->required()
      ->type_name("");
  commands.set_action(command, [options] { return run_bisect(*options); });
}

void add_mcp(CommandList& commands) {
  CLI::App& command = commands.add(
      "mcp", "Let agents ask about files by the Model Context Protocol, over standard input and output", R"(
  hbmscope mcp                                                    reads files; changes nothing
  hbmscope mcp --allow-run                                        also starts dry runs of the commands that an agent gives)");
  const auto options = std::make_shared<McpOptions>();
  command.add_flag("--allow-run", options->may_run, "Agents may run commands on emulated devices");
  command.add_flag("--answers", options->lists_answers, "Print the answers that the tool table and report --only know");
  command.add_option("--time-limit", options->time_limit, "Of each command, in seconds; default: 60")->type_name("N");
  command.add_option("--run-limit", options->run_limit, "Of a dry run, in seconds; default: 1800")->type_name("N");
  command.add_option("--fleet-python", options->fleet_python, "The Python that has DuckDB; default: the same")
      ->type_name("PROGRAM");
  add_python_option(command, options->python, "the package mcp");
  commands.set_action(command, [options] { return run_mcp(*options); });
}

}  // namespace hbmscope::cli
