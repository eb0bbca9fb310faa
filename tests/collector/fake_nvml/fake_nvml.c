/* See the README. https://docs.nvidia.com/deploy/nvml-api */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { devices_max = 8, holders_max = 64, success = 0, uninitialized = 1, invalid = 2 };

struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
static struct {
  char name[64];
  char uuid[64];
  int is_silent; /* Its memory is not reported. */
  int parent;    /* Of a slice: its GPU; -1: it is a GPU. */
  struct Memory memory;
  struct Process holders[holders_max];
  unsigned count;
} devices[devices_max];
static unsigned count_of_devices;
static int is_begun;

/* A byte for each time the file was read, so that a test can wait for that. */
static void count_reading(const char* path) {
  char name[4096];
  if (path == NULL || snprintf(name, sizeof(name), "%s.read", path) >= (int)sizeof(name)) return;
  FILE* readings = fopen(name, "a");
  if (readings == NULL) return;
  fputc('.', readings);
  fclose(readings);
}

static void read_file(void) {
  const char* path = getenv("FAKE_NVML");
  FILE* file = path != NULL ? fopen(path, "r") : NULL;
  char line[256], bytes[32];
  count_of_devices = 0;
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    unsigned long long total = 0, used = 0;
    unsigned pid = 0;
    char name[64] = "";
    if (sscanf(line, "device %llu %llu %63[^\n]", &total, &used, name) == 3 && count_of_devices < devices_max) {
      memset(&devices[count_of_devices], 0, sizeof(devices[0]));
      strcpy(devices[count_of_devices].name, name);
      devices[count_of_devices].memory = (struct Memory){total, total - used, used};
      devices[count_of_devices].parent = -1;
      ++count_of_devices;
    } else if (sscanf(line, "slice %llu %llu %63[^\n]", &total, &used, name) == 3 && count_of_devices < devices_max) {
      int parent = (int)count_of_devices - 1;
      while (devices[parent].parent >= 0) --parent;
      memset(&devices[count_of_devices], 0, sizeof(devices[0]));
      strcpy(devices[count_of_devices].name, name);
      devices[count_of_devices].memory = (struct Memory){total, total - used, used};
      devices[count_of_devices++].parent = parent;
    } else if (sscanf(line, "uuid %63s", name) == 1 && count_of_devices > 0) {
      strcpy(devices[count_of_devices - 1].uuid, name);
    } else if (strncmp(line, "silent", 6) == 0 && count_of_devices > 0) {
      devices[count_of_devices - 1].is_silent = 1;
    } else if (sscanf(line, "holder %u %31s", &pid, bytes) == 2 && count_of_devices > 0) {
      unsigned* count = &devices[count_of_devices - 1].count;
      struct Process holder = {pid, bytes[0] == '-' ? ~0ULL : strtoull(bytes, NULL, 10), ~0U, ~0U};
      if (*count < holders_max) devices[count_of_devices - 1].holders[(*count)++] = holder;
    }
  }
  if (file != NULL) fclose(file);
  count_reading(path);
}

int nvmlInit_v2(void) {
  is_begun = 1;
  return success;
}

int nvmlShutdown(void) {
  is_begun = 0;
  return success;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!is_begun) return uninitialized;
  read_file();
  *count = 0;
  for (unsigned i = 0; i < count_of_devices; ++i) *count += devices[i].parent < 0 ? 1 : 0;
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  for (unsigned i = 0; i < count_of_devices; ++i) {
    if (devices[i].parent >= 0 || index-- > 0) continue;
    *device = &devices[i];
    return success;
  }
  return invalid;
}

static unsigned index_of(void* device) {
  for (unsigned i = 0; i < count_of_devices; ++i)
    if (device == &devices[i]) return i;
  abort();
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  snprintf(name, length, "%s", devices[index_of(device)].name);
  return success;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  if (devices[index_of(device)].uuid[0] == 0) return 3; /* NVML_ERROR_NOT_SUPPORTED */
  snprintf(uuid, length, "%s", devices[index_of(device)].uuid);
  return success;
}

static int find_slice(void* device, unsigned index, void** slice) {
  for (unsigned i = 0; i < count_of_devices; ++i) {
    if (devices[i].parent != (int)index_of(device) || index-- > 0) continue;
    *slice = &devices[i];
    return success;
  }
  return 6; /* NVML_ERROR_NOT_FOUND */
}

int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* after_reset) {
  void* slice = NULL;
  *now = *after_reset = find_slice(device, 0, &slice) == success;
  return success;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  (void)device;
  *count = 7;
  return success;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** slice) {
  return find_slice(device, index, slice);
}

int nvmlDeviceGetMemoryInfo(void* device, struct Memory* memory) {
  if (devices[index_of(device)].is_silent) return 3;
  *memory = devices[index_of(device)].memory;
  return success;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, struct Process* processes) {
  const unsigned i = index_of(device), room = *count;
  *count = devices[i].count;
  if (room < *count) return 7; /* NVML_ERROR_INSUFFICIENT_SIZE */
  memcpy(processes, devices[i].holders, *count * sizeof(*processes));
  return success;
}

/* As in early drivers of version 535: the entries are larger. */
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct Process* processes) {
  struct Larger {
    struct Process as_before;
    unsigned long long protected_bytes;
  }* larger = (struct Larger*)processes;
  const unsigned i = index_of(device), room = *count;
  *count = devices[i].count;
  if (room < *count) return 7;
  for (unsigned k = 0; k < *count; ++k) larger[k] = (struct Larger){devices[i].holders[k], 0};
  return success;
}
