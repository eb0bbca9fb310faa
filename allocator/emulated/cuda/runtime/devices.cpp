// Devices, errors and versions.
#include <cstring>

#include "allocator/emulated/cuda/driver/device_attributes.h"
#include "allocator/emulated/cuda/runtime/device_properties.h"
#include "allocator/emulated/cuda/runtime/driver_calls.h"

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
  const auto value = [device](int attribute) { return value_of(attribute, device); };
  const auto size = [device](int attribute) { return static_cast<Size>(value_of(attribute, device)); };
  out->threads_per_block_max = value(device_attribute::max_threads_per_block);
  for (int i = 0; i < 3; ++i) {
    out->block_dimensions_max[i] = value(device_attribute::max_block_dim_x + i);
    out->grid_dimensions_max[i] = value(device_attribute::max_grid_dim_x + i);
  }
  out->shared_bytes_per_block = size(device_attribute::max_shared_memory_per_block);
  out->constant_bytes = size(device_attribute::total_constant_memory);
  out->warp_size = value(device_attribute::warp_size);
  out->pitch_max = size(device_attribute::max_pitch);
  out->registers_per_block = value(device_attribute::max_registers_per_block);
  out->texture_alignment = out->surface_alignment = size(device_attribute::texture_alignment);
  out->texture_pitch_alignment = size(device_attribute::texture_pitch_alignment);
  out->multiprocessors = value(device_attribute::multiprocessor_count);
  out->can_map_host_memory = value(device_attribute::can_map_host_memory);
  out->concurrent_kernels = value(device_attribute::concurrent_kernels);
  out->ecc = value(device_attribute::ecc_enabled);
  out->pci_bus = value(device_attribute::pci_bus_id);
  out->memory_bus_bits = value(device_attribute::memory_bus_width);
  out->l2_cache_bytes = value(device_attribute::l2_cache_size);
  out->threads_per_multiprocessor = value(device_attribute::max_threads_per_multiprocessor);
  out->async_engines = value(device_attribute::async_engine_count);
  out->unified_addressing = value(device_attribute::unified_addressing);
  out->compute_major = value(device_attribute::compute_capability_major);
  out->compute_minor = value(device_attribute::compute_capability_minor);
  out->stream_priorities = value(device_attribute::stream_priorities);
  out->global_l1_cache = value(device_attribute::global_l1_cache);
  out->local_l1_cache = value(device_attribute::local_l1_cache);
  out->shared_bytes_per_multiprocessor = size(device_attribute::max_shared_memory_per_multiprocessor);
  out->registers_per_multiprocessor = value(device_attribute::max_registers_per_multiprocessor);
  out->managed_memory = value(device_attribute::managed_memory);
  out->concurrent_managed_access = value(device_attribute::concurrent_managed_access);
  out->compute_preemption = value(device_attribute::compute_preemption);
  out->host_pointer_for_registered = value(device_attribute::host_pointer_for_registered);
  out->cooperative_launch = value(device_attribute::cooperative_launch);
  out->shared_bytes_per_block_optin = size(device_attribute::max_shared_memory_per_block_optin);
  out->host_register = value(device_attribute::host_register);
  out->blocks_per_multiprocessor = value(device_attribute::max_blocks_per_multiprocessor);
  out->reserved_shared_bytes_per_block = size(device_attribute::reserved_shared_memory_per_block);
  out->memory_pools = value(device_attribute::memory_pools);
  out->pool_handle_types = static_cast<unsigned>(value(device_attribute::pool_handle_types));
  out->cluster_launch = value(device_attribute::cluster_launch);
#if HBMSCOPE_CUDA_MAJOR == 12
  out->clock_rate_khz = value(device_attribute::clock_rate);
  out->device_overlap = value(device_attribute::gpu_overlap);
  out->memory_clock_rate_khz = value(device_attribute::memory_clock_rate);
  out->single_to_double_ratio = value(device_attribute::single_to_double_ratio);
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
  if (error == error_invalid_configuration) return "invalid configuration argument";
  const char* text = nullptr;
  driver_calls().cuGetErrorString(error, &text);
  return text != nullptr ? text : "unrecognized error code";
}
// The runtime's own names, where the driver's differ.
HBMSCOPE_EXPORTED const char* cudaGetErrorName(Error error) {
  switch (error) {
    case success: return "cudaSuccess";
    case error_invalid_value: return "cudaErrorInvalidValue";
    case error_invalid_configuration: return "cudaErrorInvalidConfiguration";
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
