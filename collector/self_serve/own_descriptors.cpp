#include "collector/self_serve/own_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace hbmscope::self_serve {
namespace {

// close_range(2) exists since Linux 5.9, and may be allowed where a container's rules forbid unshare(2).
constexpr long number_of_close_range = 436;
constexpr unsigned first_makes_own_table = 2;

bool close_each() {
  DIR* names = opendir("/proc/thread-self/fd");
  if (names == nullptr) return false;
  std::vector<int> open;
  while (const dirent* name = readdir(names))
    if (name->d_name[0] != '.' && std::atoi(name->d_name) != dirfd(names)) open.push_back(std::atoi(name->d_name));
  closedir(names);
  for (const int descriptor : open) close(descriptor);
  return true;
}

}  // namespace

bool take_own_descriptors() {
  if (syscall(number_of_close_range, 0U, ~0U, first_makes_own_table) != 0 &&
      (access("/proc/thread-self/fd", R_OK) != 0 || unshare(CLONE_FILES) != 0 || !close_each()))
    return false;
  const int nothing = open("/dev/null", O_RDWR);  // Number 0: there is no other one.
  for (int number = nothing + 1; nothing >= 0 && number <= 2; ++number) dup2(nothing, number);
  return true;
}

}  // namespace hbmscope::self_serve
