/* A third party's library, preloaded too: it stands in front of a function of the driver's and of one of the system's,
 * and goes on with dlsym(RTLD_NEXT), which must give it what is behind it, not itself and not the collector. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int allocations, questions;

int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  int (*next)(unsigned long long*, size_t) = (int (*)(unsigned long long*, size_t))dlsym(RTLD_NEXT, "cuMemAlloc_v2");
  ++allocations;
  return next(out, bytes);
}

pid_t getppid(void) {
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  ++questions;
  return next();
}

/* And a tool's for NVTX. */
int InitializeInjectionNvtx2(void* get_export_table) {
  (void)get_export_table;
  return 7;
}

__attribute__((destructor)) static void report(void) {
  const char* file = getenv("NEXT_IN_LINE");
  FILE* out = file != NULL ? fopen(file, "a") : NULL;
  if (out == NULL) return;
  fprintf(out, "%d %d\n", allocations, questions);
  fclose(out);
}
