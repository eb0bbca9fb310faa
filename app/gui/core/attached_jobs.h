// The list of running jobs, and the jobs that the window attaches to: by starting hbmscope ps and hbmscope attach.
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

  bool apply(const Command& command);  // False: it is not about jobs.
  void watch();                        // Lists jobs while somebody looks at the list.
  void stop();                         // Ends all commands that were started, which is a detach.
  // What hbmscope attach printed where it found nothing to show. Nothing where the window did not attach to it.
  std::optional<Error> attach_error(const std::string& name);

  bool lists_on_first_page = false;  // Also while no file is open.

 private:
  enum class Attaching { to_one, to_all, totals_only };  // All: those with the same command.
  void list_host(const std::string& host, bool is_copying);
  void attach_to(std::int64_t process, Attaching how);

  struct Said {
    std::mutex mutex;
    std::string text;
  };
  // A job that the window has attached to; kept to the end, which is a detach.
  struct Attached {
    std::string name;  // Of its source.
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
