#include "app/cli/parser/parser.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/read/pprof/read_pprof.h"
#include "analysis/read/source/formats.h"
#include "analysis/units/utf8.h"
#ifdef HBMSCOPE_RUN
#include "app/cli/dry_run/program_files.h"
#include "app/cli/jobs/display.h"
#endif
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/parser/commands.h"
#include "app/cli/parser/help.h"
#include "app/cli/terminal.h"
#include "app/cli/version.h"
#ifdef HBMSCOPE_RUN
#include "app/cli/remote/far_start.h"
#include "collector/view/far_host.h"
#endif

namespace hbmscope::cli {
namespace {

constexpr const char* footer = R"(
Examples:
  hbmscope memory.prof                        open a profile in the window
  hbmscope report snapshot.pickle --at oom    what held the memory when a request failed
  hbmscope run -- python train.py             record a job and watch it live

hbmscope COMMAND --help shows the options and more examples of a command.

How to get a file:
  JAX      jax.profiler.save_device_memory_profile("memory.prof")
  PyTorch  torch.cuda.memory._record_memory_history(), then torch.cuda.memory._dump_snapshot("snapshot.pickle")
  any job  hbmscope run -- COMMAND

Exit codes: 0 success; 1 --fail-if was true, replay --check found a difference, check an incomplete file, or a run of a sweep failed; 2 wrong usage; 3 a file could not be read or written)";

void add_commands(CommandList& commands, const CLI::App& app) {
  commands.begin_group("What holds the memory, and what changed");
  add_open(commands);
  add_report(commands);
  add_explain(commands);
  add_diff(commands);
  add_savings(commands);
  add_check(commands);
  add_fleet(commands);
  add_ledger(commands);
  add_bisect(commands);
#ifdef HBMSCOPE_RUN
  commands.begin_group("What a running job does");
  add_run(commands);
  add_emulate(commands);
  add_attach(commands);
  add_detach(commands);
  add_watch(commands);
  add_ps(commands);
#endif
  commands.begin_group("What would happen with another allocator, GPU or TPU");
  add_what_if(commands);
  add_replay(commands);
  add_tpu(commands);
#ifdef HBMSCOPE_RUN
  add_demo(commands);
#endif
  commands.begin_group("Save and share");
  add_convert(commands);
  add_digest(commands);
  add_export(commands);
  add_mcp(commands);
  add_completion(commands, app);
  commands.begin_group("");
  add_manual_page(commands, app);
#ifdef HBMSCOPE_RUN
  add_internal_commands(commands);
#endif
}

#ifdef HBMSCOPE_RUN
// `run HOST -- COMMAND`. attach and ps take a host this way, but for run it can't be distinguished from a command.
std::optional<std::string> host_before_dashes(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (words.empty() || words.front() != "run" || dashes == words.end() || dashes - words.begin() < 2)
    return std::nullopt;
  const std::string& host = *(dashes - 1);
  return host.starts_with('-') ? std::nullopt : std::optional(host);
}

// The counterpart of far_command().
int run_from_afar(std::vector<std::string> words) {
  words.erase(words.begin());
  for (std::string& word : words) {
    auto meant = view::decoded(word);
    if (!meant) return fail(refusal("cannot decode the argument " + word, {}));
    word = std::move(*meant);
  }
  const auto run_words = [](const std::vector<std::string>& wanted) {
    std::vector<std::string> kept{"hbmscope"};
    kept.insert(kept.end(), wanted.begin(), wanted.end());
    std::vector<char*> arguments;
    for (std::string& word : kept) arguments.push_back(word.data());
    return run(static_cast<int>(arguments.size()), arguments.data(), {});
  };
  if (words.empty() || words.front() != "far-start") return run_words(words);
  words.erase(words.begin());
  return run_far_start(words, run_words);
}
#endif

// "report: FILE is required. hbmscope report --help lists its arguments."
Error usage_error(const CLI::App& app, const CLI::Error& error) {
  std::string command = "hbmscope", part, what = error.what();
  const CLI::App* parsed = &app;
  for (auto inner = parsed->get_subcommands(); !inner.empty(); inner = parsed->get_subcommands()) {
    parsed = inner.front();
    part += (part.empty() ? "" : " ") + parsed->get_name();
  }
  if (!part.empty()) command += " " + part;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::vector<std::string> extra = app.remaining(true);
    const auto option = std::find_if(extra.begin(), extra.end(),
                                     [](const std::string& word) { return word.starts_with('-') && word != "--"; });
    if (option != extra.end())
      what = fmt::format("there is no option {}.{}", *option, text_from_nearest(*option, *parsed));
  }
  return refusal((part.empty() ? "" : part + ": ") + what, command + " --help lists its arguments.");
}

// Help and the version are errors of CLI11, too.
int exit_after(const CLI::App& app, const CLI::Error& error, const std::vector<std::string>& words) {
  if (error.get_exit_code() == 0) return app.exit(error);
  fail(usage_error(app, error));
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::find(words.begin(), end, "--json") != end) print_to_stdout(json_from_error(*last_error()));
  return exit_usage;
}

bool can_show(const OpenWindow& open_window) {
#ifdef HBMSCOPE_RUN
  return open_window && has_display();
#else
  return static_cast<bool>(open_window);
#endif
}

// What answers the first question about a file where there is no window: a profile doesn't know of failures.
std::string command_without_window(const std::string& file) {
  auto input = InputFile::open(file, FileOptions().max_inflated_bytes, nullptr);
  return input && find_format(*input) == &pprof_format ? "report" : "explain";
}

// `hbmscope memory.prof` opens the file, as in other viewers; without a display it is answered in text. `help`, `help
// report` and `version` are what many programs know. Returns the exit code if it is neither a command nor a file.
std::optional<int> complete_words(const CLI::App& app, const OpenWindow& open_window, std::vector<std::string>& words) {
  if (words.empty()) words.emplace_back(can_show(open_window) ? "open" : "--help");
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  } else if (words.front() == "version" || words.front() == "-v" || words.front() == "-V") {
    words.front() = "--version";
  }
  if (words.front().starts_with('-')) return std::nullopt;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_command =
      std::any_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == words.front(); });
  if (is_command) return std::nullopt;
  std::error_code error;
  const bool is_name = words.front().find_first_of("./") == std::string::npos;
  std::string nearest = text_from_nearest(words.front(), app);
  if (!nearest.empty()) nearest.erase(0, 1);
  if (is_name && !std::filesystem::exists(words.front(), error)) {
    fail(refusal(fmt::format("'{}' is neither a command nor a file", words.front()),
                 fmt::format("{}hbmscope --help lists the commands.", nearest.empty() ? "" : nearest + " ")));
    return exit_usage;
  }
  // With options it is meant as `open`: a picture (--screenshot) needs no display.
  const bool is_alone =
      std::none_of(words.begin(), words.end(), [](const std::string& word) { return word.starts_with('-'); });
  const std::string command = can_show(open_window) || !is_alone ? "open" : command_without_window(words.front());
  if (command != "open")
    say(fmt::format("there is no display for the window; this is hbmscope {} {}", command, printable(words.front())));
  words.insert(words.begin(), command);
  return std::nullopt;
}

// Also of one of its subcommands.
bool wants_json(const CLI::App& command) {
  const auto is_given = [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  };
  const auto inner = command.get_subcommands();
  return is_given("--json") || is_given("--brief") ||
         std::any_of(inner.begin(), inner.end(), [](const CLI::App* one) { return wants_json(*one); });
}

}  // namespace

CLI::App& CommandList::add(const std::string& name, const std::string& description, const std::string& examples) {
  CLI::App& command = *app_.add_subcommand(name, description)->group(group_);
  command.footer(examples.empty() ? "" : "Examples:" + examples);
  return command;
}

int CommandList::run() const {
  for (const auto& [command, action] : actions_) {
    if (!command->parsed()) continue;
    const CLI::Option* condition = command->get_option_no_throw("--fail-if");
    const int code = condition == nullptr ? action()
                                          : run_with_gate({.condition = condition->as<std::string>(),
                                                           .junit = command->get_option("--junit")->as<std::string>(),
                                                           .command = "hbmscope " + command->get_name()},
                                                          action);
    if (wants_json(*command) && last_error() && !has_printed_to_stdout())
      print_to_stdout(json_from_error(*last_error()));
    return code;
  }
  return exit_usage;
}

int run(int argc, char** argv, const OpenWindow& open_window) {
  std::vector<std::string> words(argv + 1, argv + argc);
#ifdef HBMSCOPE_RUN
  if (!words.empty() && words.front() == "far") return run_from_afar(words);
#endif
  CLI::App app(
      "hbmscope shows every byte of device memory: what holds it, what changed, and which line of code allocated it.",
      "hbmscope");
  app.set_version_flag(
      "--version", [&] { return about_text(static_cast<bool>(open_window)); },
      "Print the version, its commit and what this installation can do, and exit");
  app.require_subcommand(0, 1);
  app.footer(footer);
#ifdef HBMSCOPE_RUN
  if (const std::string pages = find_documentation(); !pages.empty())
    app.footer(
        fmt::format("{}\n\nGuides for PyTorch, JAX, TPU, CUDA, operations and tools: {}/samples/guides\nAll "
                    "documentation: {}",
                    footer, pages, pages));
#endif
  app.formatter(make_help_formatter());
  CommandList commands(app, open_window);
  add_commands(commands, app);
  if (const auto refused = complete_words(app, open_window, words)) return *refused;
#ifdef HBMSCOPE_RUN
  // The examples of help and pages work in any folder.
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::error_code error;
    if (!words[i].starts_with("samples/") || std::filesystem::exists(words[i], error)) continue;
    const std::vector<std::string> samples = find_samples(words[i]);
    if (samples.empty()) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), samples.begin(), samples.end());
    i += samples.size() - 1;
  }
#endif
  const std::vector<std::string> given = words;
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ExtrasError& error) {
#ifdef HBMSCOPE_RUN
    const auto host = host_before_dashes({argv + 1, argv + argc});
    const std::vector<std::string> extra = app.remaining(true);
    const bool has_option = std::any_of(extra.begin(), extra.end(),
                                        [](const std::string& word) { return word.size() > 2 && word[0] == '-'; });
    if (host && !has_option) {
      fail(refusal(fmt::format("unexpected '{}' before the two dashes; the command comes after them", *host),
                   fmt::format("To run on another machine: hbmscope run --on {} -- COMMAND.", *host)));
      return exit_usage;
    }
#endif
    return exit_after(app, error, given);
  } catch (const CLI::ParseError& error) {
    return exit_after(app, error, given);
  }
  try {
    return commands.run();
  } catch (const std::bad_alloc&) {
    return fail(
        refusal("not enough memory",
                "Close other programs, or use a machine with more memory. A damaged file may also claim to be larger "
                "than it is."));
  }
}

}  // namespace hbmscope::cli
