// What the reading of a recording met that its blocks can't tell: the file was cut off, bytes of it were damaged. A
// recording that is written from such a trace is whole as a file, so it says in facts about the job what was lost
// before; else a file would be healed by copying it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// Rows of the import statistics that are told on.
constexpr std::string_view told_losses[] = {"not_finished", "lost_bytes", "unknown_blocks", "bad_blocks"};

struct ToldLoss {
  std::int64_t count = 0;  // 0: no fact tells of it.
  std::string example;     // The first one's place, in the file where it was met.
};

// The fact's key: "hbmscope.import.lost_bytes". Its value is the count, a space and the example.
std::string key_of_told_loss(std::string_view name);
std::string value_of_told_loss(const ToldLoss& loss);
// What the facts of all streams say.
ToldLoss find_told_loss(const Trace& trace, std::string_view name);

// What the reader of another program's file had to say of it (sizes that were worked out, bytes that no event names) is
// true of a recording made of it as well: facts "hbmscope.caveat.size_derived", of the severity, the count, the remedy
// and the example, a line each. Nothing for rows that only tell how much was read.
struct ToldCaveat {
  std::string key, value;
};
std::vector<ToldCaveat> find_untold_caveats(const Trace& trace);
// Adds what the facts of all streams say to the trace's import statistics.
void add_told_caveats(Trace& trace);

}  // namespace hbmscope
