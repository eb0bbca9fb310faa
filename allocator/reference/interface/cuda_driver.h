// The CUDA driver, loaded at run time (libcuda.so.1) so that neither building nor linking needs the toolkit. Contains
// only what the allocators need. The signatures follow the public description of the driver API
// (docs.nvidia.com/cuda/cuda-driver-api). Results are CUresult, 0 for success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbmscope::allocator::cuda {

using Object = void*;  // CUcontext, CUstream or CUevent: opaque pointers of the driver.

inline constexpr int success = 0;
inline constexpr int capture_implicit = 906;  // Returned for a query of a stream that would become part of a capture.

struct Location {  // CUmemLocation; type 1: a device, by its ordinal.
  int type = 1, id = 0;
};
struct AllocationProperties {  // CUmemAllocationProp; type 1: pinned, as all device memory is.
  int type = 1, handle_types = 0;
  Location location;
  void* win32 = nullptr;
  std::uint8_t flags[8] = {};
};
struct Access {  // CUmemAccessDesc; 3: for reading and writing.
  Location location;
  int flags = 3;
};

// CALL(member, entry point, parameters)
#define HBMSCOPE_CUDA_CALLS(CALL)                                                                                      \
  CALL(init, "cuInit", (unsigned flags))                                                                               \
  CALL(device_count, "cuDeviceGetCount", (int* count))                                                                 \
  CALL(device_get, "cuDeviceGet", (int* device, int ordinal))                                                          \
  CALL(primary_context, "cuDevicePrimaryCtxRetain", (Object * context, int device))                                    \
  CALL(current_context, "cuCtxGetCurrent", (Object * context))                                                         \
  CALL(set_current_context, "cuCtxSetCurrent", (Object context))                                                       \
  CALL(wait_for_device, "cuCtxSynchronize", ())                                                                        \
  CALL(memory_info, "cuMemGetInfo_v2", (std::size_t * free, std::size_t * total))                                      \
  CALL(allocate, "cuMemAlloc_v2", (std::uint64_t * address, std::size_t bytes))                                        \
  CALL(free, "cuMemFree_v2", (std::uint64_t address))                                                                  \
  CALL(reserve, "cuMemAddressReserve",                                                                                 \
       (std::uint64_t * address, std::size_t bytes, std::size_t alignment, std::uint64_t wanted,                       \
        unsigned long long flags))                                                                                     \
  CALL(unreserve, "cuMemAddressFree", (std::uint64_t address, std::size_t bytes))                                      \
  CALL(granularity, "cuMemGetAllocationGranularity",                                                                   \
       (std::size_t * bytes, const AllocationProperties* properties, int option))                                      \
  CALL(create, "cuMemCreate",                                                                                          \
       (std::uint64_t * handle, std::size_t bytes, const AllocationProperties* properties, unsigned long long flags))  \
  CALL(release, "cuMemRelease", (std::uint64_t handle))                                                                \
  CALL(map, "cuMemMap",                                                                                                \
       (std::uint64_t address, std::size_t bytes, std::size_t offset, std::uint64_t handle, unsigned long long flags)) \
  CALL(unmap, "cuMemUnmap", (std::uint64_t address, std::size_t bytes))                                                \
  CALL(set_access, "cuMemSetAccess",                                                                                   \
       (std::uint64_t address, std::size_t bytes, const Access* access, std::size_t count))                            \
  CALL(create_event, "cuEventCreate", (Object * event, unsigned flags))                                                \
  CALL(destroy_event, "cuEventDestroy_v2", (Object event))                                                             \
  CALL(record_event, "cuEventRecord", (Object event, Object stream))                                                   \
  CALL(query_event, "cuEventQuery", (Object event))                                                                    \
  CALL(wait_for_event, "cuEventSynchronize", (Object event))                                                           \
  CALL(capture_status, "cuStreamIsCapturing", (Object stream, int* status))                                            \
  CALL(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", (int* mode))

struct Driver {
#define HBMSCOPE_CUDA_MEMBER(member, name, parameters) int(*member) parameters = nullptr;
  HBMSCOPE_CUDA_CALLS(HBMSCOPE_CUDA_MEMBER)
#undef HBMSCOPE_CUDA_MEMBER
};

// Loaded and initialised at the first call, and kept until the process ends. Error: what is missing, or the driver's
// error; a sentence without a full stop.
tl::expected<const Driver*, std::string> load_driver();

// While it exists, the device's primary context is current on this thread, and the thread's calls are allowed while
// other streams are being captured. The destructor restores the previous state.
class Entered {
 public:
  Entered(const Driver& driver, Object context);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const Driver& driver_;
  Object before_ = nullptr;
  bool has_changed_ = false, has_mode_ = false;
  int capture_mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED; after the exchange, the thread's previous mode.
};

struct OpenDevice {
  const Driver* driver = nullptr;
  int ordinal = 0;
  Object context = nullptr;  // The primary context, which the CUDA runtime and therefore PyTorch use.
  std::uint64_t total_bytes = 0;
};
// Error: no driver, no such device, or the driver's error; a sentence without a full stop.
tl::expected<OpenDevice, std::string> open_device(int ordinal);

}  // namespace hbmscope::allocator::cuda
