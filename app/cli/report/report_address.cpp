#include "app/cli/report/report_address.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/address.h"
#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<std::uint64_t> parse_address(std::string_view text) {
  std::string_view digits = text;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, is_hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Failure(refusal(fmt::format("'{}' is not an address", text), "Write one such as 0x7f3a14000000."));
  return address;
}

}  // namespace

int run_report_address(const ReportOptions& options, const Source& source) {
  const auto address = parse_address(options.blocks.address);
  if (!address) return fail(address.error());
  const Trace& trace = *source.trace;
  PassControl control;
  const std::vector<FoundAt> found = [&] {
    const ProgressLine progress("The address", control);
    return find_at_address(trace, source.states, *address, &control);
  }();
  if (found.empty())
    return fail(refusal(fmt::format("no heap ever had memory at 0x{:x}", *address),
                        "report --blocks 0 --order address lists all blocks."));
  Document described;
  described.add(describe_address(trace, source.states, source.moment, found, {*address, options.top}));
  if (!options.json)
    return print_to_stdout(text_from_document(described, Terminal::of_stdout().style())) ? exit_ok : exit_unreadable;
  nlohmann::ordered_json json = {{"schema", json_schema},
                                 {"format", trace.format},
                                 {"moment", json_from_document(describe_moment(trace, source.moment))},
                                 {"address", fmt::format("0x{:x}", *address)}};
  json.update(json_from_document(described));
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
