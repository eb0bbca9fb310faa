// libnvidia-ml: the devices by number and by PCI bus, and how much of them is used. It counts every device of
// the machine: CUDA_VISIBLE_DEVICES is CUDA's alone.
#include <unistd.h>

#include <cstdio>

#include "allocator/emulated/cuda/driver/device_attributes.h"
#include "allocator/emulated/cuda/libraries/common.h"
#include "allocator/emulated/cuda/model/settings.h"

using namespace hbmscope::device;
using libraries::Handle;
using libraries::Status;

namespace {

constexpr Status success = 0, invalid_argument = 2, not_found = 6, insufficient_size = 7;

Handle handle_of(int device) {
  return reinterpret_cast<Handle>(static_cast<std::intptr_t>(device) + 1);
}
int device_of(Handle handle) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
}
bool is_device(int device) {
  return device >= 0 && device < settings().device_count;
}

// What the driver says of a device, by its number on the machine; `otherwise` if this process has not loaded it or
// doesn't see the device.
unsigned long long bytes_from_driver(const char* function_name, int device, unsigned long long otherwise) {
  using Bytes = long long (*)(int);
  const auto function = reinterpret_cast<Bytes>(libraries::find_in_driver(function_name));
  if (function == nullptr) return otherwise;
  for (std::size_t i = 0; i < settings().visible_devices.size(); ++i) {
    if (settings().visible_devices[i] != device) continue;
    const long long bytes = function(static_cast<int>(i));
    return bytes < 0 ? otherwise : static_cast<unsigned long long>(bytes);
  }
  return otherwise;
}
unsigned long long free_bytes(int device) {
  return bytes_from_driver("hbmscope_device_free_bytes", device, settings().total_bytes);
}
unsigned long long used_bytes(int device) {
  return bytes_from_driver("hbmscope_device_used_bytes", device, 0);
}

struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct Memory2 {  // nvmlMemory_v2_t
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct PciInfo {  // nvmlPciInfo_t
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

}  // namespace

HBMSCOPE_EXPORTED Status nvmlInit_v2() {
  return success;
}
HBMSCOPE_EXPORTED Status nvmlInit() {
  return success;
}
HBMSCOPE_EXPORTED Status nvmlInitWithFlags(unsigned) {
  return success;
}
HBMSCOPE_EXPORTED Status nvmlShutdown() {
  return success;
}
HBMSCOPE_EXPORTED const char* nvmlErrorString(Status status) {
  return status == success ? "Success" : "Not Supported";
}

HBMSCOPE_EXPORTED Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(settings().device_count);
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* out) {
  if (!is_device(static_cast<int>(index))) return invalid_argument;
  *out = handle_of(static_cast<int>(index));
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetHandleByIndex(unsigned index, Handle* out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetHandleByPciBusId_v2(const char* text, Handle* out) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return invalid_argument;
  const int device = static_cast<int>(bus) - driver::first_pci_bus;
  if (!is_device(device)) return not_found;
  *out = handle_of(device);
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetHandleByUUID(const char* text, Handle* out) {
  for (int device = 0; device < settings().device_count; ++device) {
    if (text_from_uuid(uuid_of_device(device), settings().are_slices) != text) continue;
    *out = handle_of(device);
    return success;
  }
  return not_found;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetIndex(Handle handle, unsigned* index) {
  *index = static_cast<unsigned>(device_of(handle));
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetName(Handle, char* text, unsigned length) {
  std::snprintf(text, length, "%s", settings().name.c_str());
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetUUID(Handle handle, char* text, unsigned length) {
  std::snprintf(text, length, "%s", text_from_uuid(uuid_of_device(device_of(handle)), settings().are_slices).c_str());
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetPciInfo_v3(Handle handle, PciInfo* out) {
  std::memset(out, 0, sizeof(*out));
  out->bus = static_cast<unsigned>(driver::first_pci_bus + device_of(handle));
  std::snprintf(out->legacy_bus_id, sizeof(out->legacy_bus_id), "0000:%02X:00.0", out->bus);
  std::snprintf(out->bus_id, sizeof(out->bus_id), "00000000:%02X:00.0", out->bus);
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetCudaComputeCapability(Handle, int* major, int* minor) {
  *major = settings().compute_major;
  *minor = settings().compute_minor;
  return success;
}

HBMSCOPE_EXPORTED Status nvmlDeviceGetMemoryInfo(Handle handle, Memory* out) {
  const unsigned long long free = free_bytes(device_of(handle));
  *out = {settings().total_bytes, free, settings().total_bytes - free};
  return success;
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetMemoryInfo_v2(Handle handle, Memory2* out) {
  const unsigned long long free = free_bytes(device_of(handle));
  *out = {out->version, settings().total_bytes, 0, free, settings().total_bytes - free};
  return success;
}
// This process, if it uses the device. The first version has no instance ids.
namespace {
struct ProcessInfo {  // nvmlProcessInfo_v1_t
  unsigned pid;
  unsigned long long used_bytes;
};
struct ProcessInfo2 {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
template <class Info>
Status list_processes(Handle handle, unsigned* count, Info* out) {
  const unsigned long long used = used_bytes(device_of(handle));
  const unsigned room = *count;
  *count = used > 0 ? 1 : 0;
  if (*count > room) return insufficient_size;
  if (*count == 0) return success;
  *out = Info{};
  out->pid = static_cast<unsigned>(getpid());
  out->used_bytes = used;
  return success;
}
}  // namespace
HBMSCOPE_EXPORTED Status nvmlDeviceGetComputeRunningProcesses(Handle handle, unsigned* count, ProcessInfo* out) {
  return list_processes(handle, count, out);
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetComputeRunningProcesses_v2(Handle handle, unsigned* count, ProcessInfo2* out) {
  return list_processes(handle, count, out);
}
HBMSCOPE_EXPORTED Status nvmlDeviceGetComputeRunningProcesses_v3(Handle handle, unsigned* count, ProcessInfo2* out) {
  return list_processes(handle, count, out);
}

HBMSCOPE_EXPORTED Status nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.65.06");
  return success;
}
HBMSCOPE_EXPORTED Status nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  std::snprintf(text, length, "13.580.65.06");
  return success;
}
HBMSCOPE_EXPORTED Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = settings().cuda_version;
  return success;
}
HBMSCOPE_EXPORTED Status nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

// PCIe 5.0 x16.
#define PCIE_VALUE(name, value)                          \
  HBMSCOPE_EXPORTED Status name(Handle, unsigned* out) { \
    *out = value;                                        \
    return success;                                      \
  }
PCIE_VALUE(nvmlDeviceGetMaxPcieLinkGeneration, 5)
PCIE_VALUE(nvmlDeviceGetCurrPcieLinkGeneration, 5)
PCIE_VALUE(nvmlDeviceGetMaxPcieLinkWidth, 16)
PCIE_VALUE(nvmlDeviceGetCurrPcieLinkWidth, 16)
PCIE_VALUE(nvmlDeviceGetPcieSpeed, 32000)

// {version, cluster UUID[16], status, clique, state, health}: state 0 is "no fabric". jaxlib 0.6 requires success.
HBMSCOPE_EXPORTED Status nvmlDeviceGetGpuFabricInfoV(Handle, unsigned* info) {
  std::memset(info + 1, 0, 32);
  return success;
}
