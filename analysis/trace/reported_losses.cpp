#include "analysis/trace/reported_losses.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <system_error>

namespace hbmscope {

std::string key_of_reported_loss(std::string_view name) {
  return "hbmscope.import." + std::string(name);
}

std::string value_of_reported_loss(const ReportedLoss& loss) {
  return std::to_string(loss.count) + " " + loss.example;
}

ReportedLoss find_reported_loss(const Trace& trace, std::string_view name) {
  // Facts come from the file: ignore nonsense, and prevent overflow.
  constexpr std::int64_t count_max = std::int64_t{1} << 62;
  const std::string key = key_of_reported_loss(name);
  ReportedLoss sum;
  for (const Stream& stream : trace.streams)
    for (const JobFact& fact : stream.definitions().job()) {
      if (fact.key != key) continue;
      const char* const end = fact.value.data() + fact.value.size();
      std::int64_t count = 0;
      const auto [rest, error] = std::from_chars(fact.value.data(), end, count);
      if (error != std::errc() || count <= 0 || count > count_max - sum.count) continue;
      if (sum.count == 0 && rest != end) sum.example.assign(rest + 1, end);
      sum.count += count;
    }
  return sum;
}

namespace {

constexpr std::string_view caveat_key = "hbmscope.caveat.";

}  // namespace

// Reading a recording recreates its own rows, and its caveats already are facts of its streams.
std::vector<ReportedCaveat> find_new_caveats(const Trace& trace) {
  std::vector<ReportedCaveat> caveats;
  if (trace.origin == TraceOrigin::recording) return caveats;
  for (const ImportStatistic& row : trace.import.rows())
    if (row.severity != Severity::info &&
        std::find(std::begin(reported_losses), std::end(reported_losses), row.name) == std::end(reported_losses))
      caveats.push_back({std::string(caveat_key) + row.name, std::string(text_from_severity(row.severity)) + "\n" +
                                                                 std::to_string(row.count) + "\n" + row.remedy + "\n" +
                                                                 row.example});
  return caveats;
}

void add_reported_caveats(Trace& trace) {
  ImportStatistics& import = trace.import;
  for (const Stream& stream : trace.streams)
    for (const JobFact& fact : stream.definitions().job()) {
      if (!fact.key.starts_with(caveat_key)) continue;
      std::string_view rest = fact.value;
      const auto next_line = [&] {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return line;
      };
      const std::string_view severity = next_line(), digits = next_line(), remedy = next_line(), example = next_line();
      std::int64_t count = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
      // As above: the file may contain anything.
      if (error != std::errc() || count <= 0 || count > std::numeric_limits<std::int64_t>::max() / 65'536) continue;
      for (const Severity known : {Severity::notice, Severity::warning, Severity::loss})
        if (text_from_severity(known) == severity)
          import.add(std::string_view(fact.key).substr(caveat_key.size()), known, count, remedy, example);
    }
}

}  // namespace hbmscope
