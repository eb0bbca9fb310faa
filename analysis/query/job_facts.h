// The settings of a job, and how those of two jobs differ: command, versions, devices, allocator settings. Check them
// before comparing bytes: they cause most regressions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct JobFactRow {
  std::string key;
  std::vector<std::string> values;  // Without duplicates, in stream order: most are the same for all ranks of a job.
};

// The facts about the job, in stream order, without hbmscope's own notes (hbmscope.*) and programs
// (executed_programs.h). Of a variable that a process has changed, only the last value.
std::vector<JobFactRow> find_job_facts(const Trace& trace);

struct SettingChange {
  std::string key;                           // The key in the trace: "torch.allocator.expandable_segments", "command".
  std::optional<std::string> baseline, now;  // Absent: unknown on that side. Several streams: "a, b".
};

// The text of one side: "(unknown)", "(empty)", or the value.
std::string text_from_setting(const std::optional<std::string>& value);

// In the order of `now`, then of the baseline. Also compares the names of the heaps ("heaps"). Leaves out process ids,
// and what says how the file was made and not how the job was configured (hbmscope.*).
std::vector<SettingChange> compare_settings(const Trace& baseline, const Trace& now);

}  // namespace hbmscope
