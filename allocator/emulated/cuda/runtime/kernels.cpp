// Kernels that are compiled into the program: registered by its static constructors, launched by their host stubs.
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "allocator/emulated/cuda/driver/device_attributes.h"
#include "allocator/emulated/cuda/runtime/driver_calls.h"

using namespace hbmscope::device::runtime;
using hbmscope::device::driver::Dimensions;

namespace {

struct CallConfiguration {
  Dimensions grid, block;
  Size shared_bytes;
  Object stream;
};
thread_local CallConfiguration pushed;

struct Kernel {
  std::string name;
  const void* image;        // The fat binary that it came from.
  Object loaded = nullptr;  // CUfunction, from the first launch on.
};
struct Kernels {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> by_stub;
  std::unordered_map<const void*, Object> libraries;  // By image.
};
Kernels& kernels() {
  static Kernels* all = new Kernels;
  return *all;
}

// Null: no such kernel is registered.
Object find_kernel(const void* stub) {
  const DriverCalls& driver = driver_with_context();
  std::lock_guard lock(kernels().mutex);
  const auto found = kernels().by_stub.find(stub);
  if (found == kernels().by_stub.end()) return nullptr;
  Kernel& kernel = found->second;
  if (kernel.loaded != nullptr) return kernel.loaded;
  Object& library = kernels().libraries[kernel.image];
  if (library == nullptr) driver.cuLibraryLoadData(&library, kernel.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (library != nullptr) driver.cuLibraryGetKernel(&kernel.loaded, library, kernel.name.c_str());
  return kernel.loaded;
}

Error launch_kernel(Object kernel, Dimensions grid, Dimensions block, void** arguments, Size shared_bytes,
                    Object stream) {
  const Error error =
      driver_with_context().cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                           static_cast<unsigned>(shared_bytes), stream, arguments, nullptr);
  // The driver refuses dimensions beyond the device's limits as an invalid value; the runtime says what was invalid.
  return keep(error == error_invalid_value ? error_invalid_configuration : error);
}

Error launch(const void* stub, Dimensions grid, Dimensions block, void** arguments, Size shared_bytes, Object stream) {
  Object kernel = find_kernel(stub);
  if (kernel == nullptr) return keep(98);  // cudaErrorInvalidDeviceFunction
  return launch_kernel(kernel, grid, block, arguments, shared_bytes, stream);
}

struct FunctionAttributes {  // cudaFuncAttributes
  Size shared_bytes, constant_bytes, local_bytes;
  int threads_per_block_max, registers, ptx_version, binary_version, cache_mode, dynamic_shared_bytes_max;
  int others[23];
};

struct RegisteredBinary {
  const void* image;
};

int compute_capability() {
  int major = 0, minor = 0, device = 0;
  driver_calls().cuCtxGetDevice(&device);
  driver_calls().cuDeviceGetAttribute(&major, device_attribute::compute_capability_major, device);
  driver_calls().cuDeviceGetAttribute(&minor, device_attribute::compute_capability_minor, device);
  return major * 10 + minor;
}

}  // namespace

HBMSCOPE_EXPORTED void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(new RegisteredBinary{image});
}
HBMSCOPE_EXPORTED void __cudaRegisterFatBinaryEnd(void**) {}
HBMSCOPE_EXPORTED void __cudaUnregisterFatBinary(void**) {}
HBMSCOPE_EXPORTED char __cudaInitModule(void**) {
  return 1;
}
HBMSCOPE_EXPORTED void __cudaRegisterFunction(void** binary, const char* stub, char*, const char* name, int, void*,
                                              void*, void*, void*, int*) {
  std::lock_guard lock(kernels().mutex);
  kernels().by_stub[stub] = Kernel{name, reinterpret_cast<RegisteredBinary*>(binary)->image};
}

// Variables of the program on the device: nothing reads them.
HBMSCOPE_EXPORTED void __cudaRegisterVar(void**, char*, char*, const char*, int, Size, int, int) {}
HBMSCOPE_EXPORTED void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, Size, int, int) {}
HBMSCOPE_EXPORTED void __cudaRegisterHostVar(void**, const char*, char*, Size) {}
HBMSCOPE_EXPORTED void __cudaRegisterUnifiedTable(void**, void*) {}

HBMSCOPE_EXPORTED unsigned __cudaPushCallConfiguration(Dimensions grid, Dimensions block, Size shared_bytes,
                                                       Object stream) {
  pushed = {grid, block, shared_bytes, stream};
  return 0;
}
HBMSCOPE_EXPORTED Error __cudaPopCallConfiguration(Dimensions* grid, Dimensions* block, Size* shared_bytes,
                                                   Object* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_bytes = pushed.shared_bytes;
  *stream = pushed.stream;
  return success;
}

HBMSCOPE_EXPORTED Error __cudaGetKernel(Object* out, const void* stub) {
  *out = find_kernel(stub);
  return success;
}
HBMSCOPE_EXPORTED Error cudaGetKernel(Object* out, const void* stub) {
  return __cudaGetKernel(out, stub);
}
HBMSCOPE_EXPORTED Error cudaGetFuncBySymbol(Object* out, const void* stub) {
  return __cudaGetKernel(out, stub);
}

// With a kernel from __cudaGetKernel instead of a stub.
HBMSCOPE_EXPORTED Error __cudaLaunchKernel(Object kernel, Dimensions grid, Dimensions block, void** arguments,
                                           Size shared_bytes, Object stream) {
  return launch_kernel(kernel, grid, block, arguments, shared_bytes, stream);
}
HBMSCOPE_EXPORTED Error cudaLaunchKernel(const void* stub, Dimensions grid, Dimensions block, void** arguments,
                                         Size shared_bytes, Object stream) {
  return launch(stub, grid, block, arguments, shared_bytes, stream);
}
HBMSCOPE_EXPORTED Error cudaLaunchCooperativeKernel(const void* stub, Dimensions grid, Dimensions block,
                                                    void** arguments, Size shared_bytes, Object stream) {
  return launch(stub, grid, block, arguments, shared_bytes, stream);
}

struct ExtendedConfiguration {  // cudaLaunchConfig_t
  Dimensions grid, block;
  Size shared_bytes;
  Object stream;
  void* attributes;
  unsigned attribute_count;
};
HBMSCOPE_EXPORTED Error cudaLaunchKernelExC(const ExtendedConfiguration* config, const void* stub, void** arguments) {
  return launch(stub, config->grid, config->block, arguments, config->shared_bytes, config->stream);
}

HBMSCOPE_EXPORTED Error cudaFuncGetAttributes(FunctionAttributes* out, const void*) {
  driver_with_context();
  std::memset(out, 0, sizeof(*out));
  out->threads_per_block_max = 1024;
  out->registers = 32;
  out->ptx_version = out->binary_version = compute_capability();
  out->dynamic_shared_bytes_max = 49152;
  return success;
}
HBMSCOPE_EXPORTED Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads,
                                                                               Size, unsigned) {
  *blocks = threads > 0 && threads <= 1024 ? 2048 / (threads < 64 ? 64 : threads) : 1;
  return success;
}
HBMSCOPE_EXPORTED Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int threads,
                                                                      Size shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads, shared_bytes, 0);
}
HBMSCOPE_EXPORTED Error cudaOccupancyMaxActiveClusters(int* clusters, const void*, const void*) {
  *clusters = 16;
  return success;
}
