// Under what settings did two jobs run? What differs between them, command, versions, devices, allocator settings,
// comes before any comparison of bytes: most regressions are one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct JobFactRow {
  std::string key;
  std::vector<std::string> values;  // Each once, in the order of the streams: ranks of one job tell most of them alike.
};

// What the streams tell of the job, in their order; hbmscope's own notes (hbmscope.*) are not in it.
std::vector<JobFactRow> find_job_facts(const Trace& trace);

struct SettingChange {
  std::string key;                           // As the trace has it: "torch.allocator.expandable_segments", "command".
  std::optional<std::string> baseline, now;  // Absent: that side does not tell. Several streams: "a, b".
};

// What a side tells of it: "(unknown)", "(empty)", or the value.
std::string text_from_setting(const std::optional<std::string>& value);

// In the order in which now, then the baseline tells them. What every trace has by nature counts too: "source", what
// recorded it, and "heaps", their names, and "stripped", what was left out to share it (convert --strip-paths);
// hbmscope's other notes (hbmscope.*) and processes' numbers do not.
std::vector<SettingChange> compare_settings(const Trace& baseline, const Trace& now);

}  // namespace hbmscope
