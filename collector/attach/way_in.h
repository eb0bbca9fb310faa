// Where the collector lies and the observer listens, as a job sees it: a job in a container has other folders than we.
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
  // Where the observer's socket is to be made, as we see it, by way of the open folder; empty: where it makes it by
  // itself. The job sees it under `folder_in_job`.
  std::string folder, folder_in_job;
  std::uint32_t uid = 0;  // Whose the socket must be.
  int open_folder = -1;   // The one that was looked at, whatever its path leads to by now.
};

// `collector`: the library's path here. Where the job can't read that, it is copied into a folder of ours in the job's
// /tmp, which nobody else may write to, under a name that its content decides: so it is loaded once into a job, and
// nobody can put another one in its place.
std::optional<Refusal> find_way_in(pid_t process, const std::string& collector, WayIn& way);

}  // namespace hbmscope::attach
