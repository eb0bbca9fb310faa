// Losses that were found while a recording was read: the file was cut off, or bytes of it were damaged. A recording
// that is written from such a trace is whole as a file, so it reports the earlier losses as facts about the job;
// otherwise copying a file would seem to heal it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// Rows of the import statistics that are passed on.
constexpr std::string_view reported_losses[] = {"not_finished", "lost_bytes", "unknown_blocks", "bad_blocks"};

struct ReportedLoss {
  std::int64_t count = 0;  // 0: no fact reports it.
  std::string example;     // The place of the first one, in the file where it was found.
};

// The fact's key: "hbmscope.import.lost_bytes". Its value is the count, a space and the example.
std::string key_of_reported_loss(std::string_view name);
std::string value_of_reported_loss(const ReportedLoss& loss);
// As the facts of all streams report it.
ReportedLoss find_reported_loss(const Trace& trace, std::string_view name);

// Caveats about another program's file (sizes that were computed, bytes that no event names) hold for a recording made
// of it as well: facts such as "hbmscope.caveat.size_derived", with severity, count, remedy and example, a line each.
// Rows that only count what was read are no caveats.
struct ReportedCaveat {
  std::string key, value;
};
std::vector<ReportedCaveat> find_new_caveats(const Trace& trace);
// Adds the caveats in the facts of all streams to the trace's import statistics.
void add_reported_caveats(Trace& trace);

}  // namespace hbmscope
