// Code: modules and libraries, their functions and global variables, and launches, which do nothing.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "allocator/emulated/cuda/driver/copies.h"
#include "allocator/emulated/cuda/driver/device_attributes.h"
#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

struct Modules {
  std::mutex mutex;
  std::set<Module*> all;
};
Modules* const all_modules = new Modules;  // Made when the library is loaded, as in streams.cpp.
Modules& modules() {
  return *all_modules;
}

// `context` is null for a library.
Result load(Object* out, const void* image, const Context* context) {
  if (image == nullptr) return error_invalid_value;
  auto* module = new Module;
  module->device = current_device();
  module->context = context;
  module->image = ModuleImage::read(image);
  std::lock_guard lock(modules().mutex);
  modules().all.insert(module);
  *out = module;
  return success;
}

// The file holds a cubin, a fat binary or PTX, as in memory.
Result load_file(Object* out, const char* path, const Context* context) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error_file_not_found;
  const std::string image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return load(out, image.data(), context);
}

// Memory of a global variable counts from the first time it is asked for; code itself is not counted.
Result find_global(Module& module, const char* name, Address* address, Size* bytes, Kind kind = Kind::device) {
  std::lock_guard lock(module.mutex);
  auto found = module.globals.find(name);
  if (found == module.globals.end()) {
    const auto variable = module.image.find_global(name);
    if (!variable || variable->bytes == 0) return error_not_found;
    const Answer answer = kind == Kind::managed ? LockedMachine()->allocate_host(module.device, variable->bytes, kind)
                                                : LockedMachine()->allocate(module.device, variable->bytes);
    if (answer.outcome != Outcome::ok) return result_from(answer.outcome);
    if (!variable->initial.empty())
      copy_contents(answer.address, reinterpret_cast<Address>(variable->initial.data()), variable->bytes);
    found = module.globals.emplace(name, Module::Global{answer.address, variable->bytes}).first;
  }
  if (address != nullptr) *address = found->second.address;
  if (bytes != nullptr) *bytes = found->second.bytes;
  return success;
}

void free_globals(Module& module) {
  std::lock_guard lock(module.mutex);
  for (const auto& [name, global] : module.globals) LockedMachine()->free(global.address);
  module.globals.clear();
}

// PyTorch 2.9 reaches the limits of the grid: one of its layer norms takes a row for each y. What the registers and the
// shared memory of a kernel allow is not checked.
bool can_launch(const Dimensions& grid, const Dimensions& block) {
  const auto is_within = [](const Dimensions& size, const Dimensions& most) {
    return size.x - 1 < most.x && size.y - 1 < most.y && size.z - 1 < most.z;
  };
  return is_within(grid, grid_max) && is_within(block, block_max) &&
         std::uint64_t{block.x} * block.y * block.z <= threads_per_block_max;
}

Result launch(const Dimensions& grid, const Dimensions& block, Object handle) {
  if (!can_launch(grid, block)) return error_invalid_value;
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::kernel)) run_kernels(stream);
  return success;
}

// CUfunction_attribute
int value_of_attribute(int attribute, const Function& function) {
  switch (attribute) {
    case 0: return 1024;  // MAX_THREADS_PER_BLOCK
    case 4: return 32;    // NUM_REGS
    case 5:
    case 6: return settings().compute_major * 10 + settings().compute_minor;  // PTX_VERSION, BINARY_VERSION
    case 8: return function.dynamic_shared_bytes_max;                         // MAX_DYNAMIC_SHARED_SIZE_BYTES
    default: return 0;
  }
}

constexpr int max_dynamic_shared_attribute = 8;

}  // namespace

namespace hbmscope::device::driver {

void unload_modules_of(const Context* context) {
  std::lock_guard lock(modules().mutex);
  for (Module* module : modules().all)
    if (module->context == context) free_globals(*module);
}

Function* find_function(Module& module, const char* name) {
  std::lock_guard lock(module.mutex);
  std::unique_ptr<Function>& function = module.functions[name];
  if (function == nullptr) function = std::make_unique<Function>(Function{name, &module});
  return function.get();
}

}  // namespace hbmscope::device::driver

HBMSCOPE_EXPORTED Result cuModuleLoadData(Object* out, const void* image) {
  return load(out, image, current_context());
}
HBMSCOPE_EXPORTED Result cuModuleLoad(Object* out, const char* path) {
  return load_file(out, path, current_context());
}
HBMSCOPE_EXPORTED Result cuModuleLoadDataEx(Object* out, const void* image, unsigned, int*, void**) {
  return load(out, image, current_context());
}
HBMSCOPE_EXPORTED Result cuModuleLoadFatBinary(Object* out, const void* image) {
  return load(out, image, current_context());
}
HBMSCOPE_EXPORTED Result cuModuleUnload(Object handle) {
  auto* module = static_cast<Module*>(handle);
  {
    std::lock_guard lock(modules().mutex);
    if (modules().all.erase(module) == 0) return error_invalid_handle;
  }
  free_globals(*module);
  delete module;
  return success;
}
HBMSCOPE_EXPORTED Result cuModuleGetFunction(Object* out, Object module, const char* name) {
  *out = find_function(*static_cast<Module*>(module), name);
  return success;
}
HBMSCOPE_EXPORTED Result cuModuleGetGlobal_v2(Address* address, Size* bytes, Object module, const char* name) {
  return find_global(*static_cast<Module*>(module), name, address, bytes);
}
HBMSCOPE_EXPORTED Result cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // Lazy.
  return success;
}

// Libraries are modules that any context can use; a kernel is a function of one.
HBMSCOPE_EXPORTED Result cuLibraryLoadData(Object* out, const void* image, int*, void**, unsigned, int*, void**,
                                           unsigned) {
  return load(out, image, nullptr);
}
HBMSCOPE_EXPORTED Result cuLibraryLoadFromFile(Object* out, const char* path, int*, void**, unsigned, int*, void**,
                                               unsigned) {
  return load_file(out, path, nullptr);
}
HBMSCOPE_EXPORTED Result cuLibraryUnload(Object library) {
  return cuModuleUnload(library);
}
HBMSCOPE_EXPORTED Result cuLibraryGetKernel(Object* out, Object library, const char* name) {
  return cuModuleGetFunction(out, library, name);
}
HBMSCOPE_EXPORTED Result cuLibraryGetModule(Object* out, Object library) {
  *out = library;
  return success;
}
HBMSCOPE_EXPORTED Result cuLibraryGetGlobal(Address* address, Size* bytes, Object library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}
HBMSCOPE_EXPORTED Result cuLibraryGetManaged(Address* address, Size* bytes, Object library, const char* name) {
  return find_global(*static_cast<Module*>(library), name, address, bytes, Kind::managed);
}
HBMSCOPE_EXPORTED Result cuKernelGetFunction(Object* out, Object kernel) {
  *out = kernel;
  return success;
}

HBMSCOPE_EXPORTED Result cuFuncGetModule(Object* out, Object function) {
  *out = static_cast<Function*>(function)->module;
  return success;
}
HBMSCOPE_EXPORTED Result cuFuncGetName(const char** out, Object function) {
  *out = static_cast<Function*>(function)->name.c_str();
  return success;
}
HBMSCOPE_EXPORTED Result cuKernelGetName(const char** out, Object kernel) {
  return cuFuncGetName(out, kernel);
}
HBMSCOPE_EXPORTED Result cuFuncGetAttribute(int* value, int attribute, Object function) {
  *value = value_of_attribute(attribute, *static_cast<Function*>(function));
  return success;
}
HBMSCOPE_EXPORTED Result cuFuncSetAttribute(Object function, int attribute, int value) {
  if (attribute == max_dynamic_shared_attribute) static_cast<Function*>(function)->dynamic_shared_bytes_max = value;
  return success;
}
HBMSCOPE_EXPORTED Result cuKernelGetAttribute(int* value, int attribute, Object kernel, DeviceOrdinal) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
HBMSCOPE_EXPORTED Result cuKernelSetAttribute(int attribute, int value, Object kernel, DeviceOrdinal) {
  return cuFuncSetAttribute(kernel, attribute, value);
}

HBMSCOPE_EXPORTED Result cuLaunchKernel(Object, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                        unsigned block_y, unsigned block_z, unsigned, Object stream, void**, void**) {
  return launch({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream);
}
HBMSCOPE_EXPORTED Result cuLaunchKernelEx(const LaunchConfig* config, Object, void**, void**) {
  return launch({config->grid[0], config->grid[1], config->grid[2]},
                {config->block[0], config->block[1], config->block[2]}, config->stream);
}
HBMSCOPE_EXPORTED Result cuLaunchCooperativeKernel(Object, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                                                   Object stream, void**) {
  return launch({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream);
}

HBMSCOPE_EXPORTED Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Object, int threads, Size) {
  *blocks = std::clamp(2048 / std::max(threads, 1), 1, 32);
  return success;
}
HBMSCOPE_EXPORTED Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Object function, int threads,
                                                                              Size shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
HBMSCOPE_EXPORTED Result cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Object, void*, Size, int) {
  *grid = settings().multiprocessors * 2;
  *block = 1024;
  return success;
}
HBMSCOPE_EXPORTED Result cuOccupancyMaxActiveClusters(int* clusters, Object, const LaunchConfig*) {
  *clusters = 16;
  return success;
}
HBMSCOPE_EXPORTED Result cuOccupancyAvailableDynamicSMemPerBlock(Size* bytes, Object, int, int) {
  *bytes = 49152;
  return success;
}
