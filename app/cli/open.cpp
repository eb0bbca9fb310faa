#include "app/cli/open.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/read/tpu_workload/open_workload.h"
#include "app/cli/load.h"
#include "app/cli/moment_option.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<void> parse_size(const std::string& text, OpenRequest& request) {
  if (text.empty()) return {};
  const char* end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, request.width);
  const bool has_cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = has_cross ? std::from_chars(width.ptr + 1, end, request.height) : width;
  const auto is_possible = [](int pixels) { return pixels >= 320 && pixels <= 16384; };
  if (!has_cross || height.ec != std::errc() || height.ptr != end || !is_possible(request.width) ||
      !is_possible(request.height))
    return Failure(Error{fmt::format("'{}' is no size of a window", text),
                         "Write width x height in pixels, such as 1600x1000 (320 to 16384 each).",
                         {},
                         {},
                         false});
  return {};
}

// What --what-if can't be.
std::optional<Error> find_wrong_change(const OpenRequest& request) {
  if (request.files.empty() && !request.what_if.empty())
    return Error{"--what-if says nothing without a file to open", "Name one: hbmscope open FILE.", {}, {}, false};
  if (request.beside.empty() && !(request.beside_what_if.empty() && request.beside_heap.empty()))
    return Error{
        "--beside-what-if and --beside-heap are about a second file", "Name it: --beside FILE.", {}, {}, false};
  for (const auto* list : {&request.what_if, &request.beside_what_if})
    for (const std::string& text : *list)
      if (auto change = parse_workload_change(text); !change) return change.error();
  return std::nullopt;
}

}  // namespace

void add_open_options(CLI::App& command, OpenRequest& request, std::string& size) {
  command.add_option("--view", request.view,
                     "The view in front: heap-map, timeline, address-time, failure, fragmentation, blocks, events, "
                     "summary, flame, top, "
                     "tree, diff, source, sizes, range, compare, beside, totals, import, tpu");
  command.add_option("--select", request.select,
                     "A function, or an address such as 0x7f3a14000000, to select in all views");
  command.add_option("--find", request.find, "Blocks of a trace to mark, e.g. 'size>1GiB age>10s', or an address");
  command.add_option("--where", request.where, "Filter, as in report --where");
  add_moment_option(command, "--at", request.at,
                    "The moment of a trace: start, end, peak, oom, #EVENT or a time such as 12.5s");
  add_moment_option(command, "--from", request.from, "Selects the time of a trace from this moment to --at");
  add_moment_option(command, "--pin", request.pin,
                    "Compares --at with this moment of the trace: heap map and --view compare");
  command
      .add_option("--color", request.color,
                  "Of the heap map: auto, code, size, age, lifetime, state, tag, stream, waste, or with --pin change")
      ->check(CLI::IsMember({"auto", "code", "size", "age", "lifetime", "state", "tag", "stream", "waste", "change"}));
  command.add_option("--rows", request.rows, "Of the heap map: by address, or each region in rows of its own (region)")
      ->check(CLI::IsMember({"address", "region"}));
  command.add_option("--heap", request.heap,
                     "Of a trace with several: the one to show, by its name, such as GPU_1_bfc");
  command.add_option("--baseline", request.baseline, "A profile to compare with");
  command.add_option("--beside", request.beside,
                     "A file to show side by side with it; the same one: at another moment");
  command.add_option("--beside-heap", request.beside_heap, "Of --beside: the heap to show, as --heap");
  command.add_option("--what-if", request.what_if,
                     "KEY=VALUE, several times: of FILE, a TPU workload, emulated with that changed, as in tpu run");
  command.add_option("--beside-what-if", request.beside_what_if, "The same of --beside");
  command.add_option("--beside-at", request.beside_at, "Of --beside: its moment, as --at");
  add_moment_option(command, "--beside-pin", request.beside_pin, "Of --beside: compares it with this moment, as --pin");
  command.add_option("--lock", request.lock, "Of --beside: both at the same time, or after as many requests")
      ->check(CLI::IsMember({"time", "requests", "none"}));
  command.add_option("--theme", request.theme, "dark or light")->check(CLI::IsMember({"dark", "light"}));
  command.add_option("--scale", request.scale, "Size of text and spacing, 0.75 to 2")->check(CLI::Range(0.75, 2.0));
  command.add_option("--screenshot", request.screenshot,
                     "Write a picture of the window to this PNG file, with no display, and end");
  command.add_option("--size", size, "Of the window or picture, e.g. 1600x1000");
}

int open_window_or_say(const OpenRequest& request, const OpenWindow& open_window) {
  if (!open_window) {
    print_error({"this hbmscope was built without a window",
                 "Use report, diff, check or export; or build with -DHBMSCOPE_GUI=ON.",
                 {},
                 {},
                 false});
    return exit_usage;
  }
  const auto code = open_window(request);
  if (code) return *code;
  print_error(code.error());
  return exit_unreadable;
}

int run_open(OpenRequest& request, const std::string& size, const OpenWindow& open_window) {
  if (auto parsed = parse_size(size, request); !parsed) {
    print_error(parsed.error());
    return exit_usage;
  }
  for (const auto& [option, value] :
       {std::pair("--baseline", &request.baseline), std::pair("--heap", &request.heap),
        std::pair("--beside", &request.beside), std::pair("--select", &request.select),
        std::pair("--where", &request.where), std::pair("--at", &request.at), std::pair("--pin", &request.pin)})
    if (request.files.empty() && !value->empty())
      return fail({fmt::format("{} says nothing without a file to open", option),
                   "Name one: hbmscope open FILE.",
                   {},
                   {},
                   false});
  if (request.beside.empty() && !(request.lock + request.beside_at + request.beside_pin).empty())
    return fail({"--lock, --beside-at and --beside-pin are about two files",
                 "Name the second one: --beside FILE.",
                 {},
                 {},
                 false});
  if (const auto refused = find_wrong_change(request)) return fail(*refused);
  return open_window_or_say(request, open_window);
}

}  // namespace hbmscope::cli
