/* A plugin that a program loads with RTLD_LOCAL, and that looks up names with RTLD_DEFAULT: the loader then searches the
 * plugin's own libraries, too. It must not end with a jump to dlsym, which would make its caller the one who asks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void* find_everywhere(const char* name) {
  void* volatile found = dlsym(RTLD_DEFAULT, name);
  return found;
}
void* find_version_everywhere(const char* name, const char* version) {
  void* volatile found = dlvsym(RTLD_DEFAULT, name, version);
  return found;
}
