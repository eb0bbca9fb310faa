#include <dlfcn.h>
#include <stdio.h>

/* loads_library PATH: has no allocator itself. */
int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void (*use)(void) = library == NULL ? NULL : (void (*)(void))dlsym(library, "use_late_pool");
  if (use == NULL) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "which library?");
    return 1;
  }
  use();
  return 0;
}
