// What jobs in C call of the driver, found as a program that is not linked with it finds them.
#pragma once

#include <dlfcn.h>
#include <stddef.h>

typedef unsigned long long address;
static int (*allocate)(address*, size_t);
static int (*release)(address);
static void* context;
static int (*set_context)(void*);

static int load_driver(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) return 1;
  int (*init)(unsigned) = dlsym(driver, "cuInit");
  int (*get_device)(int*, int) = dlsym(driver, "cuDeviceGet");
  int (*retain)(void**, int) = dlsym(driver, "cuDevicePrimaryCtxRetain");
  set_context = dlsym(driver, "cuCtxSetCurrent");
  allocate = dlsym(driver, "cuMemAlloc_v2");
  release = dlsym(driver, "cuMemFree_v2");
  int device = 0;
  return init(0) || get_device(&device, 0) || retain(&context, device) || set_context(context);
}
