// The objects behind the driver's handles, and what all entry points need: the current context, the stream behind a
// handle, and how answers of the model become results.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "allocator/emulated/cuda/exported.h"
#include "allocator/emulated/cuda/model/graph.h"
#include "allocator/emulated/cuda/model/log.h"
#include "allocator/emulated/cuda/model/machine.h"
#include "allocator/emulated/cuda/model/module_image.h"
#include "allocator/emulated/cuda/model/stream.h"
#include "collector/abi/cuda.h"

namespace hbmscope::device::driver {

using namespace cuda;
using DeviceOrdinal = cuda::Device;  // Device is the model's class.

unsigned long long next_context_id();
struct Context {
  int device;
  bool is_primary;
  unsigned flags = 0;
  unsigned long long id = next_context_id();  // Never used twice in a process.
  std::atomic<int> uses{1};                   // cuCtxAttach; not of a primary context.
};
// Contexts: the top of this thread's stack, or null.
Context* current_context();
// A context as the model knows it.
inline std::uint64_t number_of(const Context* context) {
  return reinterpret_cast<std::uint64_t>(context);
}
// The current context's device, or 0.
int current_device();

struct Module;
struct Function {
  std::string name;
  Module* module;
  int dynamic_shared_bytes_max = 49152;
};
struct Module {
  int device = 0;
  const Context* context = nullptr;  // It ends with its context. A library, which any context can use, has none.
  ModuleImage image;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Function>> functions;
  struct Global {
    Address address;
    Bytes bytes;
  };
  std::map<std::string, Global> globals;
};
// Frees the variables of the modules that were loaded in that context, which ends.
void unload_modules_of(const Context* context);
// Makes it if the module has not been asked for it before: names are not checked.
Function* find_function(Module& module, const char* name);

// A stream's handle may also be 0, 1 or 2: the current device's legacy or per-thread default stream, which are one
// here. A handle that is no stream (any more) means that one too: a real driver may do anything.
Stream& stream_from(Object handle);
// Waits for all streams of that device.
void wait_for_device(int device);
// Records a node and returns true if the stream captures.
bool is_captured(Stream& stream, int type);
// A kernel or a graph of them: it takes its time, and computes nothing.
void run_kernels(Stream& stream);

inline Result result_from(Outcome outcome) {
  return outcome == Outcome::ok              ? success
         : outcome == Outcome::out_of_memory ? error_out_of_memory
                                             : error_invalid_value;
}
inline void* pointer_from(Address address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace hbmscope::device::driver
