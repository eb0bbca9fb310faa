// The paths of the collector and of the observer's socket as a job sees them: a job in a container sees other folders
// than we do.
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
  // Where to create the observer's socket, as we see it, through the open folder. Empty for the observer's default
  // place. The job sees it under `folder_in_job`.
  std::string folder, folder_in_job;
  std::uint32_t uid = 0;  // The owner of the socket.
  int open_folder = -1;   // The folder that was checked, even if its path now leads elsewhere.
};

// `collector`: the library's path here. If the job can't read it, it is copied into a folder of ours in the job's /tmp
// that nobody else can write to and whose name can't be guessed, under a name derived from its content: so a job loads
// it only once, and nobody can replace it.
std::optional<Refusal> find_way_in(pid_t process, const std::string& collector, WayIn& way);

}  // namespace hbmscope::attach
