// Losses that were found while reading a recording: the file was cut off, or some of its bytes were damaged. A
// recording written from such a trace is intact as a file, so it carries the earlier losses as facts about the job.
// Otherwise copying a file would seem to repair it.
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
  std::string example;     // Where the first one is, in the file where it was found.
};

// The fact's key: "hbmscope.import.lost_bytes". Its value is the count, a space and the example.
std::string key_of_reported_loss(std::string_view name);
std::string value_of_reported_loss(const ReportedLoss& loss);
// The sum over the facts of all streams.
ReportedLoss find_reported_loss(const Trace& trace, std::string_view name);

// Caveats about another program's file (computed sizes, bytes that no event explains) also hold for a recording made
// from it. They become facts such as "hbmscope.caveat.size_derived", with severity, count, remedy and example, one per
// line. Rows that only count what was read are not caveats.
struct ReportedCaveat {
  std::string key, value;
};
std::vector<ReportedCaveat> find_new_caveats(const Trace& trace);
// Adds the caveats in the facts of all streams to the trace's import statistics.
void add_reported_caveats(Trace& trace);

}  // namespace hbmscope
