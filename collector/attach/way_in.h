// The paths of the collector and of the observer's socket, as a job sees them: a job in a container has other folders
// than we have.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "collector/attach/permission.h"

namespace hbmscope::attach {

struct WayIn {
  WayIn() = default;
  ~WayIn();
  WayIn(const WayIn&) = delete;
  WayIn& operator=(const WayIn&) = delete;

  std::string library;  // As the job sees it.
  // Where the observer's socket is to be made, as we see it, through the open folder; empty: where the observer makes
  // it anyway. The job sees it under `folder_in_job`.
  std::string folder, folder_in_job;
  std::uint32_t uid = 0;  // The owner of the socket.
  int open_folder = -1;   // The folder that was checked, wherever its path leads by now.
};

// `collector`: the library's path here. If the job can't read that, it is copied into a folder of ours in the job's
// /tmp, which nobody else may write to, under a name derived from its content: so it is loaded once into a job, and
// nobody can replace it.
std::optional<Refusal> find_way_in(pid_t process, const std::string& collector, WayIn& way);

}  // namespace hbmscope::attach
