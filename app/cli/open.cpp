#include "app/cli/open.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/tpu_workload/open_workload.h"
#include "app/cli/load.h"
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
    return Failure(refusal(fmt::format("'{}' is not a window size", text),
                           "Write WIDTHxHEIGHT in pixels, e.g. 1600x1000 (320 to 16384 each)."));
  return {};
}

// The error in the use of --what-if, if any.
std::optional<Error> find_wrong_change(const OpenRequest& request) {
  if (request.files.empty() && !request.what_if.empty())
    return refusal("--what-if needs a file to open", "Use hbmscope open FILE.");
  if (request.other_side.empty() && !(request.other_what_if.empty() && request.other_heap.empty()))
    return refusal("--compare-what-if and --compare-heap need a second file", "Add --compare-with FILE.");
  for (const auto* list : {&request.what_if, &request.other_what_if})
    for (const std::string& text : *list)
      if (auto change = parse_workload_change(text); !change) return change.error();
  return std::nullopt;
}

}  // namespace

int open_window_or_say(const OpenRequest& request, const OpenWindow& open_window) {
  if (!open_window) {
    print_error(refusal("this hbmscope was built without the window",
                        "Use report, diff, check or export, or build with -DHBMSCOPE_GUI=ON."));
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
        std::pair("--compare-with", &request.other_side), std::pair("--select", &request.select),
        std::pair("--where", &request.where), std::pair("--at", &request.at), std::pair("--pin", &request.pin)})
    if (request.files.empty() && !value->empty())
      return fail(refusal(fmt::format("{} needs a file to open", option), "Use hbmscope open FILE."));
  if (request.other_side.empty() && !(request.lock + request.other_at + request.other_pin).empty())
    return fail(refusal("--lock, --compare-at and --compare-pin need a second file", "Add --compare-with FILE."));
  if (request.as_one_job && request.files.empty())
    return fail(refusal("--as-one-job needs files to open", "Use hbmscope open FILE FILE, or a folder."));
  if (request.as_one_job && !request.what_if.empty())
    return fail(refusal("--as-one-job and --what-if can't be combined", "Leave one of them out."));
  if (const auto refused = find_wrong_change(request)) return fail(*refused);
  return open_window_or_say(request, open_window);
}

}  // namespace hbmscope::cli
