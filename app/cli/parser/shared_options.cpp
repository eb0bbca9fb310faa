// Options that several commands share.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "analysis/units/format.h"
#include "app/cli/options.h"
#include "app/cli/parser/commands.h"
#ifdef HBMSCOPE_RUN
#include "app/cli/jobs/flight.h"
#include "app/cli/jobs/listen.h"
#include "app/cli/remote/far_bundle.h"
#endif

namespace hbmscope::cli {

CLI::Validator one_of(std::vector<std::string> values) {
  std::string name = fmt::format("{{{}}}", fmt::join(values, ","));  // For completion; help has the values in its text.
  const auto find_fault = [values = std::move(values)](const std::string& text) {
    if (std::find(values.begin(), values.end(), text) != values.end()) return std::string();
    return fmt::format("'{}' is not one of {}", text, fmt::join(values, ", "));
  };
  return {find_fault, "", std::move(name)};
}

CLI::Validator between(double low, double high) {
  const auto find_fault = [low, high](const std::string& text) {
    double number = 0;
    const bool is_number = CLI::detail::lexical_cast(text, number);
    return is_number && number >= low && number <= high
               ? std::string()
               : fmt::format("'{}' is not a number between {} and {}", text, low, high);
  };
  return {find_fault, ""};
}

void add_files(CLI::App& command, std::vector<std::string>& files, const std::string& help) {
  command.add_option("FILE", files, help)->required()->type_name("");
}

CLI::Option* add_count_option(CLI::App& command, const std::string& name, std::size_t& count, const std::string& help) {
  return command.add_option(name, count, help)->check(find_count_fault)->capture_default_str()->type_name("N");
}

CLI::Option* add_time_option(CLI::App& command, const std::string& name, std::string& time, const std::string& help) {
  const auto find_fault = [](const std::string& text) {
    return text.empty() ? "the time is empty; write start, end, peak, oom, first-oom, a time such as 12.5s, #EVENT, or "
                          "a marker's name"
                        : std::string();
  };
  return command.add_option(name, time, help)
      ->check(CLI::Validator(find_fault, ""))
      ->transform(CLI::ignore_case)
      ->type_name("TIME");
}

CLI::Option* add_seconds_option(CLI::App& command, const std::string& name, double& seconds, const std::string& help,
                                SecondsRange range) {
  const auto in_seconds = [range](std::string& text) {
    const auto given = parse_seconds(text);
    if (!given) return fmt::format("'{}' is not a duration; write e.g. 90s, 500ms, 5m or 1.5h", text);
    if (*given < range.least || *given > range.most)
      return fmt::format("'{}' is not between {}s and {}s", text, range.least, range.most);
    text = fmt::format("{}", *given);
    return std::string();
  };
  return command.add_option(name, seconds, help)->transform(CLI::Validator(in_seconds, ""))->type_name("DURATION");
}

CLI::Option* add_fail_if_option(CLI::App& command, GateOptions& gate, const std::string& help) {
  const CLI::App* parent = command.get_parent();
  const bool is_inner = parent != nullptr && parent->get_parent() != nullptr;
  gate.command = "hbmscope " + (is_inner ? parent->get_name() + " " : "") + command.get_name();
  CLI::Option* fail_if =
      command.add_option("--fail-if", gate.condition, "Exit with 1 if this is true" + help)->type_name("CONDITION");
  command.add_option("--junit", gate.junit, "Also write the result of --fail-if to this file, as JUnit's XML")
      ->type_name("FILE")
      ->needs(fail_if)
      // So that the result of an earlier run is not taken for that of one that ends before its gate.
      ->each([](const std::string& file) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(file, ignored)) std::filesystem::remove(file, ignored);
      });
  return fail_if;
}

CLI::Option* add_brief_option(CLI::App& command, std::size_t& characters) {
  return command.add_flag("--brief{6000}", characters,
                          "JSON for agents: without what is unknown, and at most so many characters long (6000)");
}

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON; the keys are in the documentation (app/cli/JSON.md)");
}

void add_max_size_option(CLI::App& command, std::string& max_size) {
  command.add_option("--max-size", max_size, "Refuse a file that is larger than this when decompressed, e.g. 16GiB")
      ->capture_default_str()
      ->type_name("SIZE");
}

void add_max_memory_option(CLI::App& command, std::string& max_memory) {
  command
      .add_option("--max-memory", max_memory,
                  "Keep at most this much of a running job's events in memory; older ones move to a temporary file and "
                  "are read again when needed. 0: no limit")
      ->capture_default_str()
      ->type_name("SIZE")
      ->check([](const std::string& text) {
        const auto bytes = parse_bytes(text);
        if (!bytes) return bytes.error().text();
        return *bytes >= 0 ? std::string() : fmt::format("'{}' is negative; 0 means no limit", text);
      });
}

void add_view_options(CLI::App& command, ViewOptions& options) {
  constexpr const char* filters = "Filters";
  ViewRequest& request = options.request;
  add_time_option(
      command, "--at", options.at,
      "The time of a trace to look at: start, end, peak, oom, first-oom, 12.5s (after the first event), "
      "#EVENT or the name of a marker; default: end, or in report, export and diff the first out-of-memory if there is "
      "one, or the peak of a dry run");
  command
      .add_option("--what-if", options.what_if,
                  "Emulate a TPU workload with this change, as in tpu run; repeat for more. With two files: the second")
      ->type_name("KEY=VALUE");
  add_max_size_option(command, options.max_size);
  command
      .add_option("--where", request.where,
                  "Count only what matches, e.g. 'size>1GiB stack:adam device:0 -kind:executable'")
      ->type_name("FILTER")
      ->group(filters);
  const auto add_regex = [&](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, help)->type_name("REGEX")->group(filters);
  };
  add_regex("--focus", request.focus, "Keep only stacks with a matching frame");
  add_regex("--ignore", request.ignore, "Drop stacks with a matching frame");
  add_regex("--hide", request.hide, "Remove matching frames from stacks");
  add_regex("--show", request.show, "Remove all other frames from stacks");
  command
      .add_option("--value", request.value_type,
                  "Which values to count: of a profile e.g. alloc_space; of a trace live (default) or allocated, which "
                  "counts everything allocated up to that time")
      ->type_name("NAME")
      ->group(filters);
  command
      .add_flag("--keep-dropped-frames", request.keep_dropped_frames,
                "Keep frames that the profile's drop_frames removes; of a trace, those of the Python interpreter")
      ->group(filters);
  command.add_flag("--relative", options.relative, "Show percentages of what the filter leaves, not of the whole file")
      ->group(filters);
}

UsedOptions used_options_of(const CLI::App& command) {
  UsedOptions used;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) used.add(option->get_name());
  return used;
}

#ifdef HBMSCOPE_RUN
void add_far_options(CLI::App& command, FarOptions& options) {
  constexpr const char* group = "On another machine";
  command.add_option("--on", options.host, "Do it on this machine, over your own ssh; a name that ssh knows")
      ->check([](const std::string& host) { return view::find_host_fault(host); })
      ->type_name("HOST")
      ->group(group);
  command.add_flag("--yes", options.yes, "Copy hbmscope there, if it is missing, without a prompt")->group(group);
  command.add_option("--ssh", options.ssh, "The command to use instead of ssh, e.g. 'ssh -p 2222'; also HBMSCOPE_SSH")
      ->type_name("COMMAND")
      ->group(group);
}

void add_listen_options(CLI::App& command, ListenOptions& options) {
  constexpr const char* group = "Viewers over TCP";
  command
      .add_option("--listen", options.address,
                  "Also accept viewers over TCP: PORT for this machine only, or ADDRESS:PORT. They need a token, which "
                  "is printed once")
      ->type_name("PORT")
      ->check([](const std::string& text) {
        return link::listen_address_from(text)
                   ? std::string()
                   : text + " is not a port or a numeric address and port, such as 9000, 192.168.1.2:9000 or [::]:9000";
      })
      ->group(group);
  command
      .add_option("--token-file", options.token_file,
                  "Write the token to this file, readable by you alone (mode 0600), instead of printing it")
      ->type_name("FILE")
      ->needs("--listen")
      ->group(group);
}

void add_flight_options(CLI::App& command, FlightOptions& flight) {
  constexpr const char* group = "Flight recorder: what is kept when a job runs out of memory or crashes";
  command
      .add_option("--flight", flight.folder,
                  "The folder for the recording, standard error and dumps of failed jobs; default: hbmscope/flights in "
                  "$XDG_STATE_HOME")
      ->type_name("DIR")
      ->group(group);
  command.add_flag("--on-exit", flight.on_exit, "Keep them for a job that ends well, too")->group(group);
  command.add_flag("--no-flight", flight.is_off, "Keep nothing, and leave the job's standard error alone")
      ->group(group);
  command.add_option("--flight-keep", flight.keep, "Keep at most this many jobs")
      ->check(between(1, 1e6))
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
  command.add_option("--flight-size", flight.size, "Keep at most this much in total; the newest job always stays")
      ->check([](const std::string& text) {
        const auto bytes = parse_bytes(text);
        return bytes ? std::string() : bytes.error().what;
      })
      ->capture_default_str()
      ->type_name("SIZE")
      ->group(group);
  command.add_option("--flight-days", flight.days, "Keep them for at most this many days")
      ->check(between(0, 1e6))
      ->capture_default_str()
      ->type_name("DAYS")
      ->group(group);
}
#endif

}  // namespace hbmscope::cli
