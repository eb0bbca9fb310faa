// The commands and their options, declared with CLI11. Only this folder includes CLI11; each command gets a plain
// struct.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/used_options.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace hbmscope::cli {

struct FarOptions;
struct FlightOptions;
struct GateOptions;
struct ListenOptions;
struct ViewOptions;

// The commands that `hbmscope --help` lists, by group, and the action of each.
class CommandList {
 public:
  CommandList(CLI::App& app, const OpenWindow& open_window) : app_(app), open_window_(open_window) {}

  // The following commands answer this question. Empty if they are not listed.
  void begin_group(std::string title) { group_ = std::move(title); }
  // `examples`: the command lines at the end of its --help.
  CLI::App& add(const std::string& name, const std::string& description, const std::string& examples);
  void set_action(const CLI::App& command, std::function<int()> action) { actions_[&command] = std::move(action); }
  // Runs the parsed command and returns its exit code.
  int run() const;

  const OpenWindow& open_window() const { return open_window_; }

 private:
  CLI::App& app_;
  const OpenWindow& open_window_;
  std::string group_;
  std::map<const CLI::App*, std::function<int()>> actions_;
};

// One function per command. They are called in the order of the help.
void add_open(CommandList& commands);
void add_report(CommandList& commands);
void add_explain(CommandList& commands);
void add_diff(CommandList& commands);
void add_savings(CommandList& commands);
void add_check(CommandList& commands);
void add_convert(CommandList& commands);
void add_digest(CommandList& commands);
void add_fleet(CommandList& commands);
void add_ledger(CommandList& commands);
void add_bisect(CommandList& commands);
void add_mcp(CommandList& commands);
void add_export(CommandList& commands);
void add_what_if(CommandList& commands);
void add_replay(CommandList& commands);
void add_completion(CommandList& commands, const CLI::App& app);  // `app`: all commands.
void add_manual_page(CommandList& commands, const CLI::App& app);
void add_tpu(CommandList& commands);
// Commands for running jobs; Linux only.
void add_run(CommandList& commands);
void add_emulate(CommandList& commands);
void add_attach(CommandList& commands);
void add_detach(CommandList& commands);
void add_watch(CommandList& commands);
void add_ps(CommandList& commands);
void add_demo(CommandList& commands);
void add_internal_commands(CommandList& commands);  // Commands that hbmscope itself starts.

// Options that several commands share (shared_options.cpp).
// The option takes one of these; another value is an error that lists them.
CLI::Validator one_of(std::vector<std::string> values);
// The option takes a number in [low, high].
CLI::Validator between(double low, double high);
void add_files(CLI::App& command, std::vector<std::string>& files, const std::string& help);
CLI::Option* add_count_option(CLI::App& command, const std::string& name, std::size_t& count, const std::string& help);
// "PEAK" is read as "peak". An empty time is an error, so that a script with an empty variable does not silently get
// the end.
CLI::Option* add_time_option(CLI::App& command, const std::string& name, std::string& time, const std::string& help);
struct SecondsRange {
  double least = 0, most = 1e9;
};
CLI::Option* add_seconds_option(CLI::App& command, const std::string& name, double& seconds, const std::string& help,
                                SecondsRange range = {});
// "Exit with 1 if this is true, e.g. " and the examples.
CLI::Option* add_fail_if_option(CLI::App& command, GateOptions& gate, const std::string& help);
void add_json_option(CLI::App& command, bool& json);
CLI::Option* add_brief_option(CLI::App& command, std::size_t& characters);
void add_max_size_option(CLI::App& command, std::string& max_size);
void add_max_memory_option(CLI::App& command, std::string& max_memory);  // For viewers of running jobs.
void add_view_options(CLI::App& command, ViewOptions& options);
void add_far_options(CLI::App& command, FarOptions& options);  // --on HOST, --yes and --ssh.
void add_listen_options(CLI::App& command, ListenOptions& options);
void add_flight_options(CLI::App& command, FlightOptions& flight);

UsedOptions used_options_of(const CLI::App& command);  // Call it after parsing.

}  // namespace hbmscope::cli
