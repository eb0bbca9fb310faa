// The links to running jobs, keyed by the control of their source. The next version of a job is requested once the
// pictures of the previous version are ready.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/sources/live_source.h"

namespace hbmscope::gui {

class LiveLinks {
 public:
  void open(const Source& source, const std::string& socket, const LiveOptions& options, LiveSource::Sinks sinks);
  void close(const Source& source) { erase(source.control.get()); }
  void erase(const ReadControl* control) { links_.erase(control); }
  void clear() { links_.clear(); }
  bool has(const ReadControl* control) const { return links_.count(control) > 0; }

  bool note_version(const ReadControl* control);  // This version is now shown. False if it is not from a running job.
  void want_versions(const AppState& state);
  void ask(const ReadControl* control, link::RequestKind kind);

 private:
  struct Link {
    std::unique_ptr<LiveSource> source;
    std::chrono::steady_clock::time_point shown_at;
    bool is_shown = true;  // The latest version is shown. False: one is on its way.
  };
  std::map<const ReadControl*, Link> links_;
};

}  // namespace hbmscope::gui
