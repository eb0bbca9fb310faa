/* Does one thing many times, and prints what one of them took, in nanoseconds of wall time.
 *
 *   storm_program launches|calls|forks|execs COUNT
 *
 * launches: empty kernels. calls: cuMemAlloc and cuMemFree in pairs. forks: children that allocate and free once.
 * execs: vfork and a program that ends at once. Ends with 1 if any of it fails. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxSetCurrent(void* context);
int cuMemAlloc_v2(unsigned long long* out, size_t bytes);
int cuMemFree_v2(unsigned long long address);
int cuModuleLoadData(void** module, const void* image);
int cuModuleGetFunction(void** function, void* module, const char* name);
int cuLaunchKernel(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int take_and_give(void) {
  unsigned long long at = 0;
  return cuMemAlloc_v2(&at, 4096) != 0 || cuMemFree_v2(at) != 0;
}

static int has_ended_well(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const char* what, long count, void* kernel) {
  for (long i = 0; i < count; ++i) {
    if (strcmp(what, "launches") == 0) {
      if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 0) return 1;
    } else if (strcmp(what, "calls") == 0) {
      if (take_and_give() != 0) return 1;
    } else if (strcmp(what, "forks") == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(take_and_give());
      if (!has_ended_well(child)) return 1;
    } else {
      const pid_t child = vfork();
      if (child == 0) {
        execl("/bin/true", "true", (char*)NULL);
        _exit(127);
      }
      if (!has_ended_well(child)) return 1;
    }
  }
  return 0;
}

int main(int arguments, char** argument) {
  if (arguments != 3) return 2;
  const long count = atol(argument[2]);
  void *context = NULL, *module = NULL, *kernel = NULL;
  if (cuDevicePrimaryCtxRetain(&context, 0) != 0 || cuCtxSetCurrent(context) != 0 || take_and_give() != 0) return 1;
  if (cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.entry empty() { ret; }\n") != 0 ||
      cuModuleGetFunction(&kernel, module, "empty") != 0)
    return 1;
  const double begin = now_ns();
  if (run(argument[1], count, kernel) != 0) return 1;
  printf("%.1f\n", (now_ns() - begin) / (double)count);
  return 0;
}
