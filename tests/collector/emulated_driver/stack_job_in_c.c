/* A job that has no unwinder loaded, as it is no C++; its functions keep frame pointers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int (*take)(unsigned long long*, unsigned long);
static volatile int after;

__attribute__((noinline)) int inner_in_c(int size) {
  unsigned long long at = 0;
  const int result = take(&at, (unsigned long)size);
  after = after + 1; /* The call is not the last thing that it does. */
  return result;
}

__attribute__((noinline)) int outer_in_c(int size) {
  const int result = inner_in_c(size + 1);
  after = after + 1;
  return result;
}

int main(void) {
  char line[4096];
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  FILE* maps = fopen("/proc/self/maps", "r");
  if (driver == NULL || maps == NULL) return 2;
  while (fgets(line, sizeof(line), maps) != NULL)
    if (strstr(line, "libgcc_s") != NULL) return 3; /* Then this would test nothing. */
  fclose(maps);
  *(void**)&take = dlsym(driver, "cuMemAlloc_v2");
  return outer_in_c(20);
}
