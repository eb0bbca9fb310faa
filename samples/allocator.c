/* A program that allocates GPU memory as JAX would, through libhbmscope_allocator.so:
 *
 *     cc samples/allocator.c -I. -Lbuild/release/allocator/reference/libraries -lhbmscope_allocator -ldl -o allocator
 *     ./allocator [xla_gpu | platform | cuda_async | pytorch | naive] [NAME=VALUE]
 *     ./allocator pytorch
 *     ./allocator xla_gpu XLA_PYTHON_CLIENT_PREALLOCATE=false
 *
 * With a CUDA driver (libcuda.so.1, found at run time) regions are memory of device 0. Without one they are addresses
 * of a device of 2 GiB without memory behind them, and the answers are the same. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "allocator/reference/libraries/hbmscope_allocator.h"

typedef struct {
  int (*init)(unsigned);
  int (*device_get)(int*, int);
  int (*retain)(void**, int);
  int (*set_current)(void*);
  int (*total)(size_t*, int);
  int (*alloc)(uint64_t*, size_t);
  int (*free)(uint64_t);
} driver;

/* Returns 0 if there is no driver, or no device. */
static int open_driver(driver* cuda, uint64_t* device_bytes) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const char* names[] = {"cuInit",          "cuDeviceGet",         "cuDevicePrimaryCtxRetain",
                         "cuCtxSetCurrent", "cuDeviceTotalMem_v2", "cuMemAlloc_v2",
                         "cuMemFree_v2"};
  void* found[7];
  int device = 0;
  void* context = NULL;
  size_t total = 0;
  if (library == NULL) return 0;
  for (int i = 0; i < 7; ++i)
    if ((found[i] = dlsym(library, names[i])) == NULL) return 0;
  memcpy(cuda, found, sizeof(*cuda));
  if (cuda->init(0) != 0 || cuda->device_get(&device, 0) != 0 || cuda->retain(&context, device) != 0) return 0;
  if (cuda->set_current(context) != 0 || cuda->total(&total, device) != 0) return 0;
  *device_bytes = total;
  return 1;
}

static int claim(void* context, uint64_t bytes, uint64_t* address, uint64_t* given_bytes) {
  *given_bytes = bytes;
  return ((driver*)context)->alloc(address, bytes) == 0;
}

static void release(void* context, uint64_t address, uint64_t bytes) {
  (void)bytes;
  ((driver*)context)->free(address);
}

/* Some tensors come and go, as in a training step. */
static void run(hbmscope_allocator* allocator) {
  const uint64_t mib = 1 << 20;
  const uint64_t sizes[] = {48 * mib, 3 * mib, 700, 96 * mib, 20 * mib, 5000};
  uint64_t addresses[6], block_bytes = 0;
  for (int i = 0; i < 6; ++i) {
    const hbmscope_request request = {.bytes = sizes[i]};
    if (hbmscope_allocator_allocate(allocator, &request, &addresses[i], &block_bytes) != HBMSCOPE_ALLOCATED) {
      printf("%" PRIu64 " B: out of memory\n", sizes[i]);
      addresses[i] = 0;
      continue;
    }
    printf("%9" PRIu64 " B requested: %9" PRIu64 " B at 0x%" PRIx64 "\n", sizes[i], block_bytes, addresses[i]);
  }
  for (int i = 0; i < 6; i += 2) hbmscope_allocator_free(allocator, addresses[i]);
}

static void print(hbmscope_allocator* allocator) {
  hbmscope_statistics now;
  hbmscope_pool_block pieces[64];
  hbmscope_allocator_statistics(allocator, &now);
  const size_t count = hbmscope_allocator_blocks(allocator, pieces, 64);
  printf("in use %" PRIu64 " B, pool %" PRIu64 " B, largest free %" PRIu64 " B\n", now.in_use_bytes, now.pool_bytes,
         now.largest_free_bytes);
  for (size_t i = 0; i < count && i < 64; ++i)
    printf("  0x%" PRIx64 " %12" PRIu64 " B %s\n", pieces[i].address, pieces[i].bytes,
           pieces[i].requested_bytes == 0 ? "free" : "in use");
}

int main(int argc, char** argv) {
  driver cuda;
  hbmscope_upstream upstream = {&cuda, claim, release};
  hbmscope_allocator_options options = {.struct_size = sizeof(options), .device_bytes = UINT64_C(2) << 30};
  char error[256];
  const int has_device = open_driver(&cuda, &options.device_bytes);
  options.allocator = argc > 1 ? argv[1] : NULL;
  options.settings = (const char* const*)argv + 2;
  options.setting_count = argc > 2 ? (size_t)argc - 2 : 0;
  options.upstream = has_device ? &upstream : NULL;
  hbmscope_allocator* allocator = hbmscope_allocator_create(&options, error, sizeof(error));
  if (allocator == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  printf("%s (%s) over %s\n", argc > 1 ? argv[1] : "as JAX's settings choose", hbmscope_allocator_certainty(allocator),
         has_device ? "the CUDA driver's memory" : "addresses without memory");
  run(allocator);
  print(allocator);
  hbmscope_allocator_destroy(allocator);
  return 0;
}
