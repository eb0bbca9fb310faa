// Devices, errors and versions.
#include <cstring>

#include "allocator/device/runtime/device_properties.h"
#include "allocator/device/runtime/driver_calls.h"

using namespace hbmscope::device::runtime;

namespace {

int value_of(int attribute, int device) {
  int value = 0;
  driver_calls().cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

Error write_properties(DeviceProperties* out, int device) {
  const DriverCalls& driver = driver_calls();
  std::memset(out, 0, sizeof(*out));
  if (const Error error = driver.cuDeviceGetName(out->name, sizeof(out->name), device); error != success) return error;
  driver.cuDeviceGetUuid(out->uuid, device);
  driver.cuDeviceTotalMem(&out->total_bytes, device);
  // Numbers: CUdevice_attribute, as in driver/device_attributes.cpp.
  const auto value = [device](int attribute) { return value_of(attribute, device); };
  const auto size = [device](int attribute) { return static_cast<Size>(value_of(attribute, device)); };
  out->threads_per_block_max = value(1);
  for (int i = 0; i < 3; ++i) {
    out->block_dimensions_max[i] = value(2 + i);
    out->grid_dimensions_max[i] = value(5 + i);
  }
  out->shared_bytes_per_block = size(8);
  out->constant_bytes = size(9);
  out->warp_size = value(10);
  out->pitch_max = size(11);
  out->registers_per_block = value(12);
  out->texture_alignment = out->surface_alignment = size(14);
  out->texture_pitch_alignment = size(51);
  out->multiprocessors = value(16);
  out->can_map_host_memory = value(19);
  out->concurrent_kernels = value(31);
  out->ecc = value(32);
  out->pci_bus = value(33);
  out->memory_bus_bits = value(37);
  out->l2_cache_bytes = value(38);
  out->threads_per_multiprocessor = value(39);
  out->async_engines = value(40);
  out->unified_addressing = value(41);
  out->compute_major = value(75);
  out->compute_minor = value(76);
  out->stream_priorities = value(78);
  out->global_l1_cache = value(79);
  out->local_l1_cache = value(80);
  out->shared_bytes_per_multiprocessor = size(81);
  out->registers_per_multiprocessor = value(82);
  out->managed_memory = value(83);
  out->concurrent_managed_access = value(89);
  out->compute_preemption = value(90);
  out->host_pointer_for_registered = value(91);
  out->cooperative_launch = value(95);
  out->shared_bytes_per_block_optin = size(97);
  out->host_register = value(99);
  out->blocks_per_multiprocessor = value(106);
  out->reserved_shared_bytes_per_block = size(111);
  out->memory_pools = value(115);
  out->pool_handle_types = static_cast<unsigned>(value(119));
  out->cluster_launch = value(120);
#if HBMSCOPE_CUDA_MAJOR == 12
  out->clock_rate_khz = value(13);
  out->device_overlap = value(15);
  out->memory_clock_rate_khz = value(36);
  out->single_to_double_ratio = value(87);
#endif
  return success;
}

}  // namespace

#if HBMSCOPE_CUDA_MAJOR == 12
HBMSCOPE_EXPORTED Error cudaGetDeviceProperties_v2(DeviceProperties* out, int device) {
  return keep(write_properties(out, device));
}
#else
HBMSCOPE_EXPORTED Error cudaGetDeviceProperties(DeviceProperties* out, int device) {
  return keep(write_properties(out, device));
}
#endif

HBMSCOPE_EXPORTED Error cudaRuntimeGetVersion(int* version) {
  *version = HBMSCOPE_CUDA_MAJOR == 12 ? 12080 : 13000;
  return success;
}
HBMSCOPE_EXPORTED Error cudaDriverGetVersion(int* version) {
  return keep(driver_calls().cuDriverGetVersion(version));
}

HBMSCOPE_EXPORTED Error cudaGetDeviceCount(int* count) {
  *count = 0;
  if (const Error error = driver_calls().cuInit(0); error != success) return keep(error);
  return keep(driver_calls().cuDeviceGetCount(count));
}
HBMSCOPE_EXPORTED Error cudaGetDevice(int* device) {
  if (driver_calls().cuCtxGetDevice(device) != success) *device = device_of_thread();
  return success;
}
HBMSCOPE_EXPORTED Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return keep(driver_calls().cuDeviceGetAttribute(value, attribute, device));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return keep(driver_calls().cuDeviceGetPCIBusId(text, length, device));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return keep(driver_calls().cuDeviceGetByPCIBusId(device, text));
}
HBMSCOPE_EXPORTED Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return keep(driver_calls().cuDeviceCanAccessPeer(can, device, peer));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return keep(driver_calls().cuDeviceGetP2PAttribute(value, attribute, device, peer));
}
HBMSCOPE_EXPORTED Error cudaDeviceEnablePeerAccess(int, unsigned) {
  return success;
}
HBMSCOPE_EXPORTED Error cudaDeviceGetLimit(Size* value, int limit) {
  return keep(driver_with_context().cuCtxGetLimit(value, limit));
}
HBMSCOPE_EXPORTED Error cudaDeviceSynchronize() {
  return keep(driver_with_context().cuCtxSynchronize());
}
HBMSCOPE_EXPORTED Error cudaDeviceReset() {
  int device = 0;
  cudaGetDevice(&device);
  return keep(driver_calls().cuDevicePrimaryCtxReset(device));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return keep(driver_with_context().cuCtxGetStreamPriorityRange(least, greatest));
}
HBMSCOPE_EXPORTED Error cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return success;
}

HBMSCOPE_EXPORTED const char* cudaGetErrorString(Error error) {
  const char* text = nullptr;
  driver_calls().cuGetErrorString(error, &text);
  return text != nullptr ? text : "unrecognized error code";
}
// The runtime's own names, where the driver's differ.
HBMSCOPE_EXPORTED const char* cudaGetErrorName(Error error) {
  switch (error) {
    case success: return "cudaSuccess";
    case error_invalid_value: return "cudaErrorInvalidValue";
    case error_out_of_memory: return "cudaErrorMemoryAllocation";
    case error_no_device: return "cudaErrorNoDevice";
    case error_invalid_device: return "cudaErrorInvalidDevice";
    case error_invalid_context: return "cudaErrorDeviceUninitialized";
    case error_invalid_handle: return "cudaErrorInvalidResourceHandle";
    case error_not_found: return "cudaErrorSymbolNotFound";
    case error_not_ready: return "cudaErrorNotReady";
    case error_peer_access_already_enabled: return "cudaErrorPeerAccessAlreadyEnabled";
    case error_not_supported: return "cudaErrorNotSupported";
    default: return "unrecognized error code";
  }
}

// Entry points of the driver: in the variants of this runtime's version, or of the one that is asked for.
HBMSCOPE_EXPORTED Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                         Flags flags, int* status) {
  int found = 0;
  const Error error = driver_calls().cuGetProcAddress(name, function, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = found;
  return error == error_not_found ? success : keep(error);  // The status says what is missing.
}
HBMSCOPE_EXPORTED Error cudaGetDriverEntryPoint(const char* name, void** function, Flags flags, int* status) {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return cudaGetDriverEntryPointByVersion(name, function, static_cast<unsigned>(version), flags, status);
}
HBMSCOPE_EXPORTED Error cudaGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return keep(error_not_found);
}
