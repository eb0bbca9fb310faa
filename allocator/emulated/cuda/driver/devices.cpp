// Devices: how many, and what they are like.
#include <cstdio>
#include <cstring>

#include "allocator/emulated/cuda/driver/device_attributes.h"
#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

int device_count() {
  return static_cast<int>(settings().visible_devices.size());
}
bool is_visible(int device) {
  return device >= 0 && device < device_count();
}
// The position in the machine, which CUDA_VISIBLE_DEVICES doesn't change.
int physical_ordinal(int device) {
  return settings().visible_devices[static_cast<std::size_t>(device)];
}

}  // namespace

HBMSCOPE_EXPORTED Result cuInit(unsigned) {
  return device_count() == 0 ? error_no_device : success;
}

HBMSCOPE_EXPORTED Result cuDriverGetVersion(int* version) {
  *version = settings().cuda_version;
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetCount(int* count) {
  *count = device_count();
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGet(DeviceOrdinal* out, int ordinal) {
  if (!is_visible(ordinal)) return error_invalid_device;
  *out = ordinal;
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetName(char* name, int length, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  std::snprintf(name, static_cast<Size>(length), "%s", settings().name.c_str());
  return success;
}

// For a slice (MIG), this version returns the UUID of its GPU.
HBMSCOPE_EXPORTED Result cuDeviceGetUuid(Uuid* out, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  *out = uuid_of_gpu(physical_ordinal(device), settings());
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetUuid_v2(Uuid* out, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  *out = uuid_of_device(physical_ordinal(device));
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceTotalMem_v2(Size* bytes, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  *bytes = settings().total_bytes;
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceComputeCapability(int* major, int* minor, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  *major = settings().compute_major;
  *minor = settings().compute_minor;
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetPCIBusId(char* text, int length, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  std::snprintf(text, static_cast<Size>(length), "0000:%02X:00.0", unsigned(first_pci_bus + physical_ordinal(device)));
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetByPCIBusId(DeviceOrdinal* out, const char* text) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return error_invalid_value;
  for (int device = 0; device < device_count(); ++device) {
    if (unsigned(first_pci_bus + physical_ordinal(device)) != bus) continue;
    *out = device;
    return success;
  }
  return error_invalid_device;
}

HBMSCOPE_EXPORTED Result cuDeviceGetAttribute(int* value, int attribute, DeviceOrdinal device) {
  if (!is_visible(device)) return error_invalid_device;
  *value = value_of_attribute(attribute, physical_ordinal(device));
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceCanAccessPeer(int* can, DeviceOrdinal device, DeviceOrdinal peer) {
  if (!is_visible(device) || !is_visible(peer)) return error_invalid_device;
  *can = device != peer;
  return success;
}

// Attribute 1 is a performance rank; the others (access, atomics, arrays) are supported.
HBMSCOPE_EXPORTED Result cuDeviceGetP2PAttribute(int* value, int attribute, DeviceOrdinal device, DeviceOrdinal peer) {
  if (!is_visible(device) || !is_visible(peer) || device == peer) return error_invalid_device;
  *value = attribute == 1 ? 0 : 1;
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxEnablePeerAccess(Object, unsigned) {
  return success;
}
HBMSCOPE_EXPORTED Result cuCtxDisablePeerAccess(Object) {
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetExecAffinitySupport(int* supported, int, DeviceOrdinal) {
  *supported = 0;
  return success;
}

HBMSCOPE_EXPORTED Result cuDeviceGetTexture1DLinearMaxWidth(Size* width, int, unsigned, DeviceOrdinal) {
  *width = Size{1} << 28;
  return success;
}
