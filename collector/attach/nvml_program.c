/* What the devices report of themselves (NVML), for an hbmscope that is linked statically and so can't load a library:
 * a separate program that needs only a C library, also an old one. For each line on standard input it prints
 *
 *   device TOTAL_BYTES USED_BYTES NUMBER SLICE UUID NAME   in NVML's order; a slice of a GPU (MIG) is a device of its
 *                                             own, in place of the GPU. SLICE, UUID, and the bytes are - where they are
 *                                             not reported
 *   holder DEVICE PID BYTES                   DEVICE is the position of its line; BYTES is - if the driver does not
 *                                             report it
 *   unlisted DEVICE                           the driver would not list its holders
 *   end
 *
 * and ends when its input ends. NVML: https://docs.nvidia.com/deploy/nvml-api (nvmlDeviceGetMemoryInfo,
 * nvmlDeviceGetComputeRunningProcesses); functions return 0 when they succeeded. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
/* glibc 2.34 gave these symbols new versions; the old ones are in every glibc, and a program that uses them starts on
 * all. The compiler's start files use the newest, so they are left out. */
__asm__(".symver __libc_start_main,__libc_start_main@GLIBC_2.2.5");
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
int main(void);
int __libc_start_main(int (*program)(void), int count, char** words, void (*begin)(void), void (*end)(void),
                      void (*loader_end)(void), void* stack);
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rdx, %rsi\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call begin_program\n"
    "  hlt\n");
__attribute__((used, visibility("hidden"))) void begin_program(long* stack, void (*loader_end)(void)) {
  __libc_start_main(main, (int)*stack, (char**)(stack + 1), 0, 0, loader_end, stack);
}
#endif

typedef void* Device;
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

static int (*init)(void);
static int (*count_devices)(unsigned*);
static int (*device_by_index)(unsigned, Device*);
static int (*name_of)(Device, char*, unsigned);
static int (*memory_of)(Device, struct Memory*);
static int (*processes_of)(Device, unsigned*, struct Process*);
static int (*uuid_of)(Device, char*, unsigned);
static int (*mig_mode_of)(Device, unsigned* now, unsigned* after_reset);
static int (*slices_max_of)(Device, unsigned*);
static int (*slice_by_index)(Device, unsigned, Device*);
static unsigned devices_printed;

static void find(void* library, void* function, const char* name) {
  void* found = dlsym(library, name);
  memcpy(function, &found, sizeof(found));
}

static int begin(void) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
  find(library, &init, "nvmlInit_v2");
  find(library, &count_devices, "nvmlDeviceGetCount_v2");
  find(library, &device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(library, &name_of, "nvmlDeviceGetName");
  find(library, &memory_of, "nvmlDeviceGetMemoryInfo");
  /* Early drivers of version 535 fill larger entries for _v3 than the later ones, so _v2 comes first; its entries have
   * always been the same (https://github.com/XuehaiPan/nvitop/pull/79). */
  find(library, &processes_of, "nvmlDeviceGetComputeRunningProcesses_v2");
  if (processes_of == NULL) find(library, &processes_of, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(library, &uuid_of, "nvmlDeviceGetUUID");
  find(library, &mig_mode_of, "nvmlDeviceGetMigMode");
  find(library, &slices_max_of, "nvmlDeviceGetMaxMigDeviceCount");
  find(library, &slice_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
  return init != NULL && count_devices != NULL && device_by_index != NULL && memory_of != NULL && init() == 0;
}

/* Devices without memory of their own (GB10, Tegra) report nothing, or what the host has. */
static int is_memory_of_host(unsigned long long total_bytes) {
  unsigned long long host_kib = 0;
  char line[128];
  FILE* file = fopen("/proc/meminfo", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "MemTotal: %llu", &host_kib) != 1) continue;
  fclose(file);
  return host_kib != 0 && total_bytes >> 10 == host_kib;
}

static void print_bytes(int is_known, unsigned long long bytes) {
  if (is_known)
    printf(" %llu", bytes);
  else
    printf(" -");
}

static void print_device(unsigned number, int slice, Device device) {
  enum { processes_max = 1024 };
  static struct Process processes[processes_max];
  const unsigned long long not_told = ~0ULL;
  const unsigned position = devices_printed++;
  char name[96] = "", uuid[96] = "";
  struct Memory memory = {0, 0, 0};
  unsigned count = processes_max;
  int is_known;
  if (name_of != NULL) name_of(device, name, sizeof(name));
  name[strcspn(name, "\n")] = 0;
  if (uuid_of == NULL || uuid_of(device, uuid, sizeof(uuid)) != 0 || uuid[strcspn(uuid, " \n")] != 0) uuid[0] = 0;
  is_known = memory_of(device, &memory) == 0 && memory.total != 0 && memory.total != not_told &&
             memory.used <= memory.total && !is_memory_of_host(memory.total);
  printf("device");
  print_bytes(is_known, memory.total);
  print_bytes(is_known, memory.used);
  printf(" %u", number);
  print_bytes(slice >= 0, (unsigned long long)slice);
  printf(" %s %s\n", uuid[0] != 0 ? uuid : "-", name);
  if (processes_of == NULL || processes_of(device, &count, processes) != 0) {
    printf("unlisted %u\n", position);
    return;
  }
  for (unsigned i = 0; i < count && i < processes_max; ++i) {
    if (processes[i].used_bytes == not_told)
      printf("holder %u %u -\n", position, processes[i].pid);
    else
      printf("holder %u %u %llu\n", position, processes[i].pid, processes[i].used_bytes);
  }
}

/* The figures of a GPU that is divided are the sums of its slices, so the slices are printed in its place. */
static int print_slices(unsigned number, Device device) {
  unsigned is_divided = 0, after_reset = 0, slices_max = 0;
  int printed = 0;
  if (mig_mode_of == NULL || slices_max_of == NULL || slice_by_index == NULL ||
      mig_mode_of(device, &is_divided, &after_reset) != 0 || is_divided == 0 || slices_max_of(device, &slices_max) != 0)
    return 0;
  for (unsigned i = 0; i < slices_max; ++i) {
    Device slice = NULL;
    if (slice_by_index(device, i, &slice) != 0) continue;
    print_device(number, (int)i, slice);
    ++printed;
  }
  return printed;
}

int main(void) {
  char line[16];
  const int is_there = begin();
  while (fgets(line, sizeof(line), stdin) != NULL) {
    unsigned devices = 0;
    devices_printed = 0;
    if (is_there && count_devices(&devices) != 0) devices = 0;
    for (unsigned i = 0; i < devices; ++i) {
      Device device = NULL;
      if (device_by_index(i, &device) == 0) {
        if (print_slices(i, device) == 0) print_device(i, -1, device);
      } else {
        printf("device - - %u - - \n", i);
        printf("unlisted %u\n", devices_printed++);
      }
    }
    printf("end\n");
    fflush(stdout);
  }
  return 0;
}
