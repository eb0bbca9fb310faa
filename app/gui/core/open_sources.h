// Opens, reads (on workers), updates, rereads and closes files and running jobs.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/read/source/skipped_files.h"
#include "app/gui/core/answering.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/live_links.h"
#include "app/gui/core/opened_together.h"
#include "app/gui/core/recent_files.h"
#include "app/gui/core/side_by_side.h"
#include "app/gui/core/worker_pool.h"
#include "app/gui/sources/live_options.h"

namespace hbmscope::gui {

// What the timeline of a trace shows first: the activity of all devices, as their clocks relate it, the slowest rank's
// too. Empty: all of it.
TimelineSpan opening_span(const Source& source, const ViewPosition& position);

class OpenSources {
 public:
  OpenSources(AppState& state, Answering& asking, SideBySide& sides, RecentFiles& recent, WorkerPool& pool);

  enum class As { source, behind, baseline, side_by_side };  // behind: what is in front stays there.
  void open_paths(const std::vector<std::string>& paths, bool as_one_job = false);
  void join_open_files();  // Shows all open files as one job.
  void open_folder(const std::string& folder);
  SourceId open_file(const std::string& path, As as, const std::vector<WorkloadChange>& what_if = {},
                     const std::shared_ptr<OpenedTogether>& together = nullptr);
  void open_text(const std::string& text);  // As "pasted text", not a file.
  void close_source(SourceId id);
  void reload_source(SourceId id);
  void cancel_reading(SourceId id);

  SourceId new_id() { return static_cast<SourceId>(next_source_++); }
  void renew_id(Source& source);

  // Running jobs.
  bool is_live(const Source& source) const { return live_.has(source.control.get()); }
  void ask_observer(link::RequestKind kind);  // Sends a request to the observer of the active source's job.
  void want_versions() { live_.want_versions(state_); }
  void close_all_links();

  // Logs that grow.
  bool follows_logs() const;
  void look_at_logs();  // At most once a second.

  LiveOptions live_options;  // For jobs that are opened from now on.
  // Why the running job `name` sent nothing, if known.
  std::function<std::optional<Error>(const std::string& name)> why_nothing_came;

 private:
  struct FileToRead {
    std::vector<std::string> files;  // More than one: pieces of one source.
    bool are_of_one_job = false;
    std::optional<std::string> pasted;
    std::vector<WorkloadChange> what_if;
    std::shared_ptr<ReadControl> control;
    std::shared_ptr<OpenedTogether> together;
  };
  void start_reading(SourceId id, const std::shared_ptr<OpenedTogether>& together = nullptr);
  WorkerPool::Finish read_to_end(const FileToRead& file);
  void show_read(const std::shared_ptr<ReadControl>& control, const Result<SourceContent>& content);
  void replace_everywhere(SourceId from, SourceId to);  // In all positions.
  void show_part(const std::shared_ptr<ReadControl>& control, SourceContent part);
  void show_wanted_heaps(const Source& source);
  void show_first_tabs(const Source& source);
  void finish_reading(const std::shared_ptr<ReadControl>& control, const std::function<void(Source&)>& fill);
  Source* find_reading(const std::shared_ptr<ReadControl>& control);  // nullptr if nobody waits for it any more.

  bool skip_foreign(const Source& source);

  // open_together.cpp
  void finish_together(const std::shared_ptr<OpenedTogether>& together, const std::shared_ptr<ReadControl>& control,
                       const Result<ReadFile>& read);
  void arrange_together(const std::shared_ptr<OpenedTogether>& together);
  void sort_as(const std::vector<ArrangedSource>& arranged, const std::vector<WaitingFiles::File>& files);
  void show_arranged(const OpenedTogether& together, const std::vector<WaitingFiles::File>& files,
                     const ArrangedSource& arranged);
  void become_part_of(const std::shared_ptr<ReadControl>& piece, const std::shared_ptr<ReadControl>& whole);

  // follow_logs.cpp
  void show_longer_log(SourceId id, const SourceContent& content);

  // open_live.cpp
  void start_live(const Source& source, const std::string& socket);
  WorkerPool::Finish end_live(const std::shared_ptr<ReadControl>& control, const std::string& name,
                              const LiveSource::Version& trace, const std::string& wrong);
  void note_version(const ReadControl* control);

  AppState& state_;
  Answering& asking_;
  SideBySide& sides_;
  RecentFiles& recent_;
  WorkerPool& pool_;
  LiveLinks live_;
  std::set<std::string> of_folders_;                // Paths being read that a folder contributed.
  SkippedFiles skipped_;                            // In the folders opened last.
  std::map<std::string, std::string> pasted_;       // Texts by the names of their sources.
  std::map<std::string, std::uint64_t> log_sizes_;  // By path, when it was read last.
  std::future<void> look_;
  std::chrono::steady_clock::time_point looked_at_;
  std::uint32_t next_source_ = 1;
};

// The pieces of one source, which were joined before. Errors: those of reading; they no longer belong together.
Result<hbmscope::Source> read_pieces(const std::vector<std::string>& files, bool are_of_one_job, ReadControl* control);

}  // namespace hbmscope::gui
