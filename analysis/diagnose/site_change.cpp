#include "analysis/diagnose/site_change.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope {
namespace {

// "train.py:48" or "src/train.py:48", or a function's name.
bool is_named(const Site& site, std::string_view line) {
  if (!site.has_frame()) return false;
  // Also what is defined in it: "evaluate" names "evaluate.<locals>.<listcomp>".
  if (!line.empty() && site.function.starts_with(line) &&
      (site.function.size() == line.size() || site.function[line.size()] == '.'))
    return true;
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || fmt::to_string(site.line) != line.substr(colon + 1)) return false;
  const std::string_view file = line.substr(0, colon);
  if (file.empty() || !std::string_view(site.file).ends_with(file)) return false;
  return file.size() == site.file.size() || site.file[site.file.size() - file.size() - 1] == '/';
}

std::vector<bool> find_requests_of(const Stream& stream, const allocator::RequestStream& requests,
                                   std::string_view line) {
  SiteTable table(stream, SiteBy::line);
  std::vector<bool> found(requests.operations.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    LiveBlock block;
    block.stack = requests.origins[i].stack;
    found[i] = is_named(table[table.number_of(block)], line);
  }
  return found;
}

}  // namespace

Result<Scenario> find_site_change(const Trace& trace, const WhatIfSource& source, SiteChange change,
                                  std::string_view line) {
  const allocator::RequestStream& requests = source.requests.stream;
  const auto is_chosen = find_requests_of(trace.streams[source.requests.trace_stream], requests, line);
  if (std::find(is_chosen.begin(), is_chosen.end(), true) == is_chosen.end())
    return Failure(Error{fmt::format("nothing was requested by '{}'", line),
                         "Name a line of your code (train.py:48) or a function; hbmscope savings lists them.",
                         {},
                         {},
                         {}});
  std::vector<std::uint64_t> failed;
  for (const auto& [operation, event] : source.requests.failures) failed.push_back(operation);
  Scenario scenario = own_scenario(source.own).value();
  scenario.is_own = false;
  scenario.group = "program";
  const bool is_freed = change == SiteChange::freed_earlier;
  scenario.change = is_freed ? free_before_next(requests, is_chosen) : donate(requests, is_chosen, failed);
  scenario.name = fmt::format("{}={}", is_freed ? "free" : "donate", line);
  if (scenario.change.changed > 0) return scenario;
  return Failure(
      Error{is_freed ? fmt::format("no block of '{}' is left when it requests the next one", line)
                     : fmt::format("no block of '{}' is followed by a request of the same size that outlives it", line),
            is_freed ? "Freeing it earlier changes nothing." : "Donating it changes nothing.",
            {},
            {},
            {}});
}

Result<Scenario> find_scenario(const Trace& trace, const WhatIfSource& source, std::string_view words) {
  constexpr std::string_view free = "free=", donate = "donate=";
  if (words.starts_with(free))
    return find_site_change(trace, source, SiteChange::freed_earlier, words.substr(free.size()));
  if (words.starts_with(donate))
    return find_site_change(trace, source, SiteChange::donated, words.substr(donate.size()));
  return scenario_from(source.own, words);
}

}  // namespace hbmscope
