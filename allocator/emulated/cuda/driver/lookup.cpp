// cuGetProcAddress, and texts of errors.
#include "allocator/emulated/cuda/driver/lookup.h"

#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

constexpr Flags per_thread_default_stream = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

// The newest variant that `version` knows. A name with its ending ("cuMemAlloc_v2") finds nothing, as in the real one.
const EntryPoint* find_entry(const char* name, int version, bool is_per_thread) {
  const EntryPoint* best = nullptr;
  for (int i = 0; i < hbmscope_device_entry_point_count; ++i) {
    const EntryPoint& entry = hbmscope_device_entry_points[i];
    if (entry.since > version || std::strcmp(entry.base, name) != 0) continue;
    if (entry.is_per_thread && !is_per_thread) continue;
    const bool is_better = best == nullptr || (entry.is_per_thread && !best->is_per_thread) ||
                           (entry.is_per_thread == best->is_per_thread && entry.since > best->since);
    if (is_better) best = &entry;
  }
  return best;
}

// CUdriverProcAddressQueryResult
constexpr int found = 0, symbol_not_found = 1, version_not_sufficient = 2;

struct ErrorText {
  Result result;
  const char* name;
  const char* text;
};
constexpr ErrorText error_texts[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {error_invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {error_out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {error_no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {error_invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {error_invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {error_file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {error_invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {error_not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {error_not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {error_peer_access_already_enabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {error_capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {error_not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

const ErrorText* find_error(Result result) {
  for (const ErrorText& error : error_texts)
    if (error.result == result) return &error;
  return nullptr;
}

}  // namespace

HBMSCOPE_EXPORTED Result cuGetProcAddress_v2(const char* name, void** out, int version, Flags flags, int* status) {
  const bool is_per_thread = (flags & per_thread_default_stream) != 0;
  const EntryPoint* entry = find_entry(name, version, is_per_thread);
  *out = entry == nullptr ? nullptr : entry->function;
  if (entry != nullptr) {
    if (status != nullptr) *status = found;
    return success;
  }
  const bool exists = find_entry(name, 1 << 30, is_per_thread) != nullptr;
  if (status != nullptr) *status = exists ? version_not_sufficient : symbol_not_found;
  log(LogLevel::not_emulated, "cuGetProcAddress(%s, %d) finds nothing", name, version);
  return error_not_found;
}
HBMSCOPE_EXPORTED Result cuGetProcAddress(const char* name, void** out, int version, Flags flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}

// Private tables of the driver, which NVIDIA's own libraries use: there are none here.
HBMSCOPE_EXPORTED Result cuGetExportTable(const void** out, const void*) {
  *out = nullptr;
  log(LogLevel::not_emulated, "cuGetExportTable finds nothing");
  return error_not_found;
}

HBMSCOPE_EXPORTED Result cuGetErrorName(Result result, const char** out) {
  const ErrorText* error = find_error(result);
  *out = error == nullptr ? nullptr : error->name;
  return error == nullptr ? error_invalid_value : success;
}
HBMSCOPE_EXPORTED Result cuGetErrorString(Result result, const char** out) {
  const ErrorText* error = find_error(result);
  *out = error == nullptr ? nullptr : error->text;
  return error == nullptr ? error_invalid_value : success;
}
