/* What the devices report of themselves (NVML), for an hbmscope that is linked statically and so can't load a library:
 * a separate program that needs only a C library, also an old one. For each line on standard input it prints
 *
 *   device TOTAL_BYTES USED_BYTES NAME        in the order of ordinals
 *   holder DEVICE PID BYTES                   BYTES is - if the driver does not report it
 *   unlisted DEVICE                           the driver would not list its holders
 *   end
 *
 * and ends when its input ends. NVML: https://docs.nvidia.com/deploy/nvml-api (nvmlDeviceGetMemoryInfo,
 * nvmlDeviceGetComputeRunningProcesses_v3); functions return 0 when they succeeded. */
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
  find(library, &processes_of, "nvmlDeviceGetComputeRunningProcesses_v3");
  return init != NULL && count_devices != NULL && device_by_index != NULL && memory_of != NULL && init() == 0;
}

static void print_device(unsigned index, Device device) {
  enum { processes_max = 1024 };
  static struct Process processes[processes_max];
  const unsigned long long not_told = ~0ULL;
  char name[96] = "";
  struct Memory memory = {0, 0, 0};
  unsigned count = processes_max;
  if (name_of != NULL) name_of(device, name, sizeof(name));
  name[strcspn(name, "\n")] = 0;
  memory_of(device, &memory);
  printf("device %llu %llu %s\n", memory.total, memory.used, name);
  if (processes_of == NULL || processes_of(device, &count, processes) != 0) {
    printf("unlisted %u\n", index);
    return;
  }
  for (unsigned i = 0; i < count && i < processes_max; ++i) {
    if (processes[i].used_bytes == not_told)
      printf("holder %u %u -\n", index, processes[i].pid);
    else
      printf("holder %u %u %llu\n", index, processes[i].pid, processes[i].used_bytes);
  }
}

int main(void) {
  char line[16];
  const int is_there = begin();
  while (fgets(line, sizeof(line), stdin) != NULL) {
    unsigned devices = 0;
    if (is_there && count_devices(&devices) != 0) devices = 0;
    for (unsigned i = 0; i < devices; ++i) {
      Device device = NULL;
      if (device_by_index(i, &device) == 0)
        print_device(i, device);
      else
        printf("device 0 0 \n");
    }
    printf("end\n");
    fflush(stdout);
  }
  return 0;
}
