#include "analysis/query/log_headline.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

bool is_there(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// A name without a folder is one of the job's working directory: often ours, or that of its log.
std::string text_from_recording(const Trace& trace, const std::string& recording) {
  std::vector<std::string> places{recording};
  for (const std::string& log : trace.files)
    places.push_back(std::string(folder_of(log)) + recording.substr(folder_of(recording).size()));
  for (const std::string& place : places)
    if (is_there(place)) return fmt::format("hbmscope recorded this job, block by block: hbmscope explain {}", place);
  return fmt::format(
      "hbmscope recorded this job, block by block, in {}, which isn't here. Give explain that file: it knows more.",
      recording);
}

}  // namespace

bool is_of_log(const Trace& trace) {
  return trace.origin == TraceOrigin::texts;
}

std::string headline_of_log(const Trace& trace) {
  const std::int64_t lines = trace.import.count_of("lines");
  const std::size_t files = trace.files.size();
  const std::string log =
      fmt::format("{} of {}", files > 1 ? fmt::format("these {} logs", text_from_count(files)) : "this log",
                  text_from_count_of(lines, "line"));
  const std::uint64_t failures = compute_event_counts(trace).failed_requests;
  const std::int64_t memory_lines = trace.import.count_of("memory_lines");
  if (failures == 0 && memory_lines > 0)
    return fmt::format("No out-of-memory in {}, of which {} memory.", log,
                       text_from_count_of(memory_lines, "prints", "print"));
  const bool lists_memory = std::any_of(trace.streams.begin(), trace.streams.end(),
                                        [](const Stream& stream) { return stream.definitions().heaps().size() > 1; });
  if (failures == 0 && (!lists_memory || trace.import.count_of("got_over") > 0))
    return fmt::format("No out-of-memory in {}.", log);
  if (failures == 0)
    return fmt::format("No out-of-memory in {}; {} where memory went at the start.", log,
                       files > 1 ? "they say" : "it says");
  return failures == 1 ? fmt::format("Out of memory once in {}.", log)
                       : fmt::format("Out of memory {} times in {}.", text_from_count(failures), log);
}

std::string text_from_recorded(const Trace& trace) {
  for (const ImportStatistic& one : trace.import.rows())
    if (one.name == recorded_note) return text_from_recording(trace, one.example);
  return {};
}

std::vector<NoteOfLog> notes_of_log(const Trace& trace) {
  std::vector<NoteOfLog> notes;
  for (const ImportStatistic& one : trace.import.rows())
    if (one.name == recorded_note)
      notes.push_back({recorded_note, "", text_from_recording(trace, one.example)});
    else if (one.name == "got_over")
      notes.push_back({"got_over", "Not a failure: ", one.example});
    else if (one.name == "memory_lines")
      notes.push_back({"memory_lines", "In use: ", one.example});
    else if (one.name == "mentions")
      notes.push_back({"mentions", "It speaks of memory, in words that hbmscope doesn't know: ", one.example});
  return notes;
}

}  // namespace hbmscope
