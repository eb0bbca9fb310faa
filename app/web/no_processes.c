// Calls of Linux to which the live views refer: in a page they fail, as on a machine without the feature.
#include <errno.h>
#include <spawn.h>

int eventfd(unsigned count, int flags) {
  (void)count, (void)flags;
  errno = ENOSYS;
  return -1;
}

int prctl(int option, ...) {
  (void)option;
  errno = ENOSYS;
  return -1;
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const arguments[], char* const variables[]) {
  (void)process, (void)file, (void)actions, (void)attributes, (void)arguments, (void)variables;
  return ENOSYS;
}
