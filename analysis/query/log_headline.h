// What a log says about memory, in one sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// Made of the output of a job (analysis/read/log): it has failures and figures, and no events besides.
bool is_of_log(const Trace& trace);
// "Out of memory 3 times in this log of 12,345 lines."
std::string headline_of_log(const Trace& trace);
inline constexpr std::string_view recorded_note = "recorded";
// That hbmscope recorded the job, and where. Empty: it does not say so.
std::string text_from_recorded(const Trace& trace);
// What it says besides failures: what is in use over time, what was got over, and where the job was recorded.
struct NoteOfLog {
  std::string_view key, lead;  // "memory_lines", "In use: "
  std::string text;
};
std::vector<NoteOfLog> notes_of_log(const Trace& trace);

}  // namespace hbmscope
