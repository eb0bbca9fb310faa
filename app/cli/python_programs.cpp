#include "app/cli/python_programs.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/units/utf8.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// Runs a program of app/fleet that answers from a store, and prints its answer.
int answer_from_store(const std::string& name, const std::string& python, std::vector<std::string> words) {
  constexpr int nothing_in_store = 4;  // An exit code of these programs.
  const auto program = find_python_program(name);
  if (!program) return fail(python_program_is_missing(name));
  words.insert(words.begin(), {python, *program});
  const auto done = run_and_read(std::move(words));
  if (!done) return fail(done.error());
  if (done->exit_code == python_without_duckdb) return exit_usage;
  if (done->text.size() >= child_output_bytes_max)
    return fail(refusal("the answer is longer than 16 MiB", "Ask the store with SQL (app/fleet/README.md)."));
  if (!print_lines_to_stdout(done->text)) return exit_unreadable;
  return done->exit_code == 0 ? exit_ok : done->exit_code == nothing_in_store ? exit_usage : exit_unreadable;
}

// The program takes the place of this one, with its input and output.
int become(const std::string& name, const std::string& python, std::vector<std::string> words) {
  const auto program = find_python_program(name);
  if (!program) return fail(python_program_is_missing(name));
  words.insert(words.begin(), {python, *program, program_path()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return fail(refusal(fmt::format("cannot start '{}': {}", printable(python), std::strerror(errno)),
                      "Name a Python with --python."));
}

// Options with their values, as far as they were given.
void add_given(std::vector<std::string>& words, std::initializer_list<std::pair<const char*, std::string>> options) {
  for (const auto& [name, value] : options)
    if (!value.empty()) words.insert(words.end(), {name, value});
}

}  // namespace

Error python_program_is_missing(const std::string& name) {
  return refusal(name + " is missing", "Install share/hbmscope next to hbmscope.");
}

int run_fleet(const FleetOptions& options) {
  std::vector<std::string> words{options.store, "--top", std::to_string(options.top)};
  add_given(words, {{"--run", options.run}, {"--baseline", options.baseline}});
  if (options.json) words.emplace_back("--json");
  return answer_from_store("fleet/fleet.py", options.python, std::move(words));
}

int run_ledger(const LedgerOptions& options) {
  std::vector<std::string> words{options.store, "--top", std::to_string(options.top)};
  if (options.json) words.emplace_back("--json");
  return answer_from_store("fleet/ledger.py", options.python, std::move(words));
}

int run_bisect(const BisectOptions& options) {
  std::vector<std::string> words{"--good", options.good, "--bad", options.bad};
  add_given(words, {{"--repository", options.repository},
                    {"--more", options.more},
                    {"--emulate", options.emulate},
                    {"--store", options.store}});
  if (options.json) words.emplace_back("--json");
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return become("fleet/bisection.py", options.python, std::move(words));
}

int run_mcp(const McpOptions& options) {
  if (options.lists_answers) {
    std::string text;
    for (const AnswerRow* row : answer_table())
      if (row->value_name.empty()) text += fmt::format("{}: {}\n", row->name, row->help);
    return print_to_stdout(text) ? exit_ok : exit_unreadable;
  }
  std::vector<std::string> words;
  if (options.may_run) words.emplace_back("--allow-run");
  add_given(words, {{"--fleet-python", options.fleet_python},
                    {"--time-limit", options.time_limit},
                    {"--run-limit", options.run_limit}});
  return become("mcp/server.py", options.python, std::move(words));
}

}  // namespace hbmscope::cli
