// A file that was opened, or a running job: being read, there, or not readable. While a long recording is read, or a
// job runs, what is there so far is ready already and is replaced as it grows; `control` is there until that ends.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/query/attached_facts.h"
#include "analysis/query/summary.h"
#include "analysis/read/read_control.h"
#include "analysis/read/source/read_source.h"
#include "app/gui/sources/accounting.h"
#include "app/gui/sources/answer_state.h"
#include "app/gui/sources/device_heaps.h"
#include "app/gui/sources/live_source.h"
#include "app/gui/sources/moment_name.h"
#include "app/gui/sources/source_id.h"
#include "app/gui/sources/trace_moment.h"
#include "app/gui/sources/workload_panel.h"

namespace hbmscope::gui {

// What was read of a file, or of the part of it that is there so far, and what follows from it for every view.
struct SourceContent {
  std::shared_ptr<const Profile> profile;         // For a trace: what is live at its end.
  std::shared_ptr<const Trace> trace;             // Null for files without addresses.
  std::shared_ptr<const ProfileSummary> summary;  // Of the whole file, whatever the filter says.
  std::vector<DeviceAccount> accounts;            // Likewise.
  std::vector<DeviceHeaps> devices;               // Of the trace.
  std::vector<AttachedFacts> attached;            // Processes of the trace that were attached to.
  std::optional<WorkloadPanel> workload;          // Of a workload file.
  MomentName opening_at;                          // Where the trace is shown first; empty: its end.
};
Result<SourceContent> content_of(const hbmscope::Source& read);

struct Source : SourceContent {
  SourceId id = SourceId::none;
  std::string path;
  AnswerState state = AnswerState::pending;
  std::shared_ptr<ReadControl> control;  // How far reading is; only App sets `cancelled` and `stop_here`.
  std::chrono::steady_clock::time_point started;
  std::optional<LiveStatus> live;       // Of a running job.
  std::optional<EndedLive> ended;       // Of a job that was watched and has ended.
  std::vector<WorkloadChange> what_if;  // The requested changes of a workload file.
  Error error;

  void take(SourceContent content);  // The source is ready with it.
  std::string name() const;          // The path's last part.
  bool is_part() const { return state == AnswerState::ready && control != nullptr; }
  // Also true for the previous version of a running job, which may lack what is new, and for the previous emulation of
  // a workload with the same heaps.
  bool is_source_of(const TraceMoment& moment) const {
    return moment.trace == trace || ((live || workload) && trace && moment.trace->files == trace->files);
  }
};

void cancel_emulating(const Source& source);  // What is on its way of a workload, if anything is.

}  // namespace hbmscope::gui
