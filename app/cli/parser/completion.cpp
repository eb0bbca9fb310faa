// What shells and man want to know about the commands, from their declarations.
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "allocator/emulated/gpus/gpus.h"
#include "allocator/emulated/workload/workloads.h"
#include "app/cli/parser/commands.h"
#include "app/cli/terminal.h"
#include "app/cli/version.h"

namespace hbmscope::cli {
namespace {

struct OptionWords {
  std::vector<std::string> names;  // "-o", "--output". Empty means an argument.
  std::string title;               // "-o, --output"; of an argument "FILE"
  std::string help;
  std::string value;  // "TIME"; "N=20" with its default
  bool takes_value = false;
  std::vector<std::string> values;  // Those that it may have. Empty: files, or anything.
};

struct Subcommand {
  std::string name, help;
};

struct Command {
  std::vector<std::string> path;  // "tpu", "fit"
  std::string help, footer;
  std::vector<OptionWords> options;  // And arguments.
  std::vector<Subcommand> subcommands;
};

// The first words of a path: "tpu fit".
std::string joined(const std::vector<std::string>& path, std::size_t words) {
  return fmt::format("{}", fmt::join(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(words), " "));
}

std::string name_of(const Command& command) {
  return joined(command.path, command.path.size());
}

// The first sentence or clause, without its example.
std::string short_help(std::string help) {
  help.resize(std::min(help.find_first_of("\n;"), help.size()));
  for (std::size_t dot = help.find(". "); dot != std::string::npos; dot = help.find(". ", dot + 1))
    if (dot + 2 < help.size() && std::isupper(static_cast<unsigned char>(help[dot + 2])) != 0) help.resize(dot);
  if (const std::size_t example = help.find(", e.g. "); example != std::string::npos) help.resize(example);
  return help;
}

// In the name of its check (one_of); empty if there is none.
std::string checked_values(const CLI::Option& option) {
  try {
    return const_cast<CLI::Option&>(option).get_validator(0)->get_name();  // Only asked.
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

// A checked option has its values in braces, also in the name of its type: "KIND:{worst,zeros}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string name = option.get_name(), listed = option.get_type_name() + checked_values(option);
  if (name == "--by") return {"function", "line", "file", "package", "address", "device", "kind"};
  if (name == "--at") return {"start", "end", "peak", "oom", "first-oom"};
  if (name == "--what") return {"events", "blocks"};
  if (name == "--to")
    return {"pprof", "folded", "svg", "csv", "json", "html", "perfetto", "parquet", "prometheus", "otlp"};
  std::vector<std::string> values;
  if (name == "--emulate")
    for (const allocator::DevicePreset& device : allocator::all_devices()) values.emplace_back(device.name);
  if (name == "--workload")
    for (const allocator::workload::Description& one : allocator::workload::all_workloads())
      values.emplace_back(one.name);
  const std::size_t open = listed.find('{'), close = listed.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return values;
  std::string value;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (listed[i] != ',' && listed[i] != '}')
      value += listed[i];
    else
      values.push_back(std::exchange(value, {}));
  }
  return values;
}

// Those that are listed, parents first.
void add_commands_below(const CLI::App& app, const std::vector<std::string>& path, std::vector<Command>& found) {
  Command command{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Not listed in --help either.
    OptionWords words{{},
                      option->get_name(),
                      option->get_description(),
                      option->get_type_name(),
                      option->get_items_expected_max() > 0,
                      values_of(*option)};
    if (!option->get_default_str().empty()) words.value += "=" + option->get_default_str();
    for (const std::string& name : option->get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.names.push_back("--" + name);
    if (!words.names.empty()) words.title = fmt::format("{}", fmt::join(words.names, ", "));
    command.options.push_back(std::move(words));
  }
  const auto listed = app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  for (const CLI::App* one : listed) command.subcommands.push_back({one->get_name(), one->get_description()});
  found.push_back(std::move(command));
  for (const CLI::App* one : listed) {
    std::vector<std::string> below = path;
    below.push_back(one->get_name());
    add_commands_below(*one, below, found);
  }
}

std::vector<Command> listed_commands(const CLI::App& app) {
  std::vector<Command> found;
  add_commands_below(app, {}, found);
  return found;
}

// Commands and options.
std::string completion_words(const Command& command) {
  std::vector<std::string> words;
  for (const Subcommand& one : command.subcommands) words.push_back(one.name);
  for (const OptionWords& option : command.options) words.insert(words.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(words, " "));
}

// In single quotes.
std::string in_quotes(const std::string& text) {
  std::string quotes = "'";
  for (const char letter : text) quotes += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quotes + "'";
}

constexpr const char* bash_script = R"SH(# Completion of hbmscope in bash: source <(hbmscope completion bash)
_hbmscope() {
  local current=${COMP_WORDS[COMP_CWORD]} command="" words="" offered=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then  # The job's own command.
      declare -F _command_offset >/dev/null && { _command_offset $((i + 1)); return; }
      mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
      return
    fi
    case "$command ${COMP_WORDS[i]}" in
@COMMANDS@
    esac
  done
  case "$command ${COMP_WORDS[COMP_CWORD - 1]}" in
@VALUES@
  esac
  [[ -n $words ]] && { mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"); return; }
  case "$command" in
@WORDS@
  esac
  for i in $words; do
    [[ $i == -* && $current != -* ]] || offered+=("$i")
  done
  mapfile -t COMPREPLY < <(compgen -W "${offered[*]}" -- "$current"; [[ $current == -* ]] || compgen -f -- "$current")
}
complete -o filenames -F _hbmscope hbmscope
)SH";

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  const std::size_t at = text.find(what);
  return text.replace(at, what.size(), by);
}

// For a shell's `case "$command $word"`: from a command and the next word to the command that they are together.
std::string case_lines(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& command : commands) {
    if (command.path.empty()) continue;
    text += fmt::format("      {}) command={} ;;\n",
                        in_quotes(joined(command.path, command.path.size() - 1) + " " + command.path.back()),
                        in_quotes(name_of(command)));
  }
  return text;
}

// For `case "$command $word_before"`: after an option, the values that it may have. `use`: with {} for them.
std::string value_lines(const std::vector<Command>& commands, std::string_view use) {
  std::string text;
  for (const Command& command : commands)
    for (const OptionWords& option : command.options)
      for (const std::string& name : option.names)
        if (!option.values.empty())
          text += fmt::format("    {}) {} ;;\n", in_quotes(name_of(command) + " " + name),
                              replaced(std::string(use), "{}", fmt::format("{}", fmt::join(option.values, " "))));
  return text;
}

std::string bash_completion(const std::vector<Command>& commands) {
  std::string words;
  for (const Command& command : commands)
    words += fmt::format("    {}) words={} ;;\n", in_quotes(name_of(command)), in_quotes(completion_words(command)));
  std::string script = replaced(replaced(bash_script, "@COMMANDS@\n", case_lines(commands)), "@WORDS@\n", words);
  return replaced(std::move(script), "@VALUES@\n", value_lines(commands, "words='{}'"));
}

// A colon separates a word from its help.
std::string zsh_text(std::string text) {
  std::string escaped;
  for (const char letter : text)
    escaped += letter == ':' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  return escaped;
}

std::string zsh_completion(const std::vector<Command>& commands) {
  std::string text =
      "#compdef hbmscope\n# Completion of hbmscope in zsh: source <(hbmscope completion zsh)\n_hbmscope() {\n"
      "  local command='' word\n  local -a offers\n  for word in ${words[2,CURRENT-1]}; do\n"
      "    [[ $word == -- ]] && { _command_names -e; _files; return }\n    case \"$command $word\" in\n";
  text += case_lines(commands) + "    esac\n  done\n  case \"$command ${words[CURRENT-1]}\" in\n" +
          value_lines(commands, "compadd -- {}; return") + "  esac\n  case $command in\n";
  for (const Command& command : commands) {
    text += fmt::format("    {}) offers=(\n", in_quotes(name_of(command)));
    for (const Subcommand& one : command.subcommands)
      text += "      " + in_quotes(one.name + ":" + zsh_text(short_help(one.help))) + "\n";
    for (const OptionWords& option : command.options)
      for (const std::string& name : option.names)
        text += "      " + in_quotes(name + ":" + zsh_text(short_help(option.help))) + "\n";
    text += "    ) ;;\n";
  }
  return text +
         "  esac\n  [[ $PREFIX == -* ]] || { offers=(${offers:#-*}); _files }\n  _describe hbmscope offers\n}\n"
         "if [[ $funcstack[1] == _hbmscope ]]; then _hbmscope \"$@\"; else compdef _hbmscope hbmscope; fi\n";
}

std::string fish_completion(const std::vector<Command>& commands) {
  std::string text = "# Completion of hbmscope in fish: hbmscope completion fish | source\n";
  for (const Command& command : commands) {
    std::string condition = command.path.empty() ? "__fish_use_subcommand" : "";
    for (const std::string& word : command.path)
      condition += (condition.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + word;
    // `tpu run` is not `run`, and no longer `tpu`.
    if (!command.path.empty())
      for (const Subcommand& one : command.subcommands)
        condition += "; and not __fish_seen_subcommand_from " + one.name;
    for (const Command& other : commands)
      if (command.path.size() == 1 && other.path.size() > 1 && other.path.back() == command.path.back())
        condition += "; and not __fish_seen_subcommand_from " + other.path.front();
    const std::string when = fmt::format("complete -c hbmscope -n {}", in_quotes(condition));
    for (const Subcommand& one : command.subcommands)
      text += fmt::format("{} -a {} -d {}\n", when, one.name, in_quotes(short_help(one.help)));
    for (const OptionWords& option : command.options) {
      if (option.names.empty()) continue;
      text += when;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string values =
          option.values.empty() ? std::string()
                                : fmt::format(" -f -a {}", in_quotes(fmt::format("{}", fmt::join(option.values, " "))));
      text += fmt::format("{}{} -d {}\n", option.takes_value ? " -r" : "", values, in_quotes(short_help(option.help)));
    }
  }
  return text;
}

// A line that begins with a dot or a quote would be a request of roff.
std::string roff_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if ((letter == '.' || letter == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (letter == '\\')
      escaped += "\\e";
    else if (letter == '-')
      escaped += "\\-";
    else
      escaped += letter;
  }
  return escaped;
}

// `shell`: "bash", "zsh" or "fish".
std::string completion_for(const CLI::App& app, std::string_view shell) {
  const std::vector<Command> commands = listed_commands(app);
  if (shell == "bash") return bash_completion(commands);
  return shell == "zsh" ? zsh_completion(commands) : fish_completion(commands);
}

// In the format of man(7).
std::string manual_page(const CLI::App& app, std::string_view version) {
  std::string text = fmt::format(
      ".TH HBMSCOPE 1 \"\" \"hbmscope {}\" \"User commands\"\n.SH NAME\nhbmscope \\- shows every byte of device "
      "memory\n"
      ".SH SYNOPSIS\n.B hbmscope\n.I FILE\n.br\n.B hbmscope\n.I COMMAND\n.RI [ OPTIONS ]\n.SH DESCRIPTION\n{}\n",
      roff_text(version), roff_text(app.get_description()));
  for (const Command& command : listed_commands(app)) {
    if (!command.path.empty())
      text += fmt::format(".SH hbmscope {}\n{}\n", roff_text(name_of(command)), roff_text(command.help));
    for (const OptionWords& option : command.options)
      text += fmt::format(".TP\n.B {}{}{}\n{}\n", roff_text(option.title),
                          option.takes_value && !option.value.empty() ? " " : "",
                          option.takes_value ? roff_text(option.value) : "", roff_text(option.help));
    if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(command.footer));
  }
  return text;
}

}  // namespace

void add_completion(CommandList& commands, const CLI::App& app) {
  CLI::App& completion =
      commands.add("completion", "Print a script that completes commands, options and files in a shell", R"(
  source <(hbmscope completion bash)          in ~/.bashrc; with zsh in ~/.zshrc
  hbmscope completion fish | source           in ~/.config/fish/config.fish)");
  const auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("");
  commands.set_action(
      completion, [shell, &app] { return print_to_stdout(completion_for(app, *shell)) ? exit_ok : exit_unreadable; });
}

void add_manual_page(CommandList& commands, const CLI::App& app) {
  const CLI::App& page = commands.add("manual-page", "The manual page, which a package installs", "");
  commands.set_action(page,
                      [&app] { return print_to_stdout(manual_page(app, version_text())) ? exit_ok : exit_unreadable; });
}

}  // namespace hbmscope::cli
