// The list of running jobs, and the jobs that the window is attached to. It runs `hbmscope ps` and `hbmscope attach`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/worker_pool.h"
#include "collector/view/command_lines.h"

namespace hbmscope::gui {

class AttachedJobs {
 public:
  AttachedJobs(AppState& state, OpenSources& sources, WorkerPool& pool);

  enum class Attaching { to_one, to_all, totals_only };  // to_all: all jobs with the same command.
  void list_host(const std::string& host, bool is_copying);
  void attach_to(std::int64_t process, Attaching how);
  void watch();  // Refreshes the list while it is visible.
  void stop();   // Ends all started commands, which detaches from their jobs.
  // The error that hbmscope attach printed when it had nothing to show. Nothing if the window did not attach to `name`.
  std::optional<Error> attach_error(const std::string& name);

  bool lists_on_first_page = false;  // List jobs also while no file is open.

 private:
  struct Said {
    std::mutex mutex;
    std::string text;
  };
  // A job that the window is attached to. The object lives until the window detaches.
  struct Attached {
    std::string name;  // Name of its source.
    std::unique_ptr<view::CommandLines> command;
    std::shared_ptr<Said> said;
  };

  AppState& state_;
  OpenSources& sources_;
  WorkerPool& pool_;
  std::vector<Attached> attached_;
  std::unique_ptr<view::CommandLines> job_list_;
};

}  // namespace hbmscope::gui
