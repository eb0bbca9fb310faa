// An open file or running job: being read, ready, or failed. While a long recording is read or a job runs, the part so
// far is already ready and is replaced as it grows; `control` exists until that ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/query/attached_facts.h"
#include "analysis/query/job_warnings.h"
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

// The content of a file, or of the part read so far, and derived data that every view needs.
struct SourceContent {
  std::shared_ptr<const Profile> profile;         // For a trace: the live blocks at its end.
  std::shared_ptr<const Trace> trace;             // Null for files without addresses.
  std::shared_ptr<const ProfileSummary> summary;  // For the whole file, without the filter.
  std::vector<DeviceAccount> accounts;            // For the whole file, without the filter.
  std::vector<DeviceHeaps> devices;               // In the trace.
  std::vector<ProgramHeap> programs;              // In the trace.
  std::optional<std::uint64_t> needed_bytes;      // By a compiled program, if the file is the dump of one.
  std::vector<AttachedFacts> attached;            // Attached processes in the trace.
  std::vector<JobWarning> warnings;               // About the settings of the trace's job.
  std::optional<WorkloadPanel> workload;          // For a workload file.
  MomentName opening_at;                          // The time shown first. Empty means the end.
};
Result<SourceContent> content_of(const hbmscope::Source& read);

class OpenedTogether;

struct Source : SourceContent {
  SourceId id = SourceId::none;
  std::string path;
  std::string title;  // Instead of what name() would make of the path and the trace. Empty if it has none.
  std::vector<std::string> pieces;  // The files that became this source, `path` first. Empty means only `path`.
  std::string content_key;          // content_key.h. Empty if it is not known yet, or it is no file.
  bool is_joined = false;           // The pieces are whole files of one job.
  std::string folder;               // The folder of the pieces, if a folder was opened.
  bool is_pasted = false;           // It is no file, but a text from the clipboard.
  AnswerState state = AnswerState::pending;
  std::shared_ptr<ReadControl> control;  // Progress of reading; only App sets `cancelled` and `stop_here`.
  std::chrono::steady_clock::time_point started;
  std::shared_ptr<OpenedTogether> waits_for;  // It is read, and is shown when the files opened with it are, too.
  std::optional<LiveStatus> live;             // For a running job.
  std::optional<EndedLive> ended;             // For a watched job that has ended.
  std::vector<WorkloadChange> what_if;        // The requested changes of a workload file.
  std::string plans_folder;  // For a dry run on TPUs: its programs' memory plans. Empty if there is none.
  Error error;

  void take(SourceContent content);  // Makes the source ready with this content.
  std::string name() const;          // The path's last part.
  std::vector<std::string> files() const;
  std::string files_text() const;  // A line for each file.
  bool is_part() const { return state == AnswerState::ready && control != nullptr; }
  // Also true for the previous version of a running job, which may lack the latest events, and for the previous
  // emulation of a workload with the same heaps.
  bool is_source_of(const TraceMoment& moment) const {
    return moment.trace == trace || ((live || workload) && trace && moment.trace->files == trace->files);
  }
};

// An open log, or a file with the name of one in which nothing failed so far: it is read again when it has grown.
bool is_followed_log(const Source& source);

void cancel_emulating(const Source& source);  // Cancels the running emulation of a workload, if any.

}  // namespace hbmscope::gui
