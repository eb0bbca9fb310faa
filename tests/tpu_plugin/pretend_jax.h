// The calls that JAX makes to a plugin of PJRT, for tests. The plugin is the library that TPU_LIBRARY_PATH names, as
// for JAX.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator/emulated/tpu/plugin/c_api.h"

namespace hbmscope::pretend {

namespace pjrt = allocator::tpu::plugin;
using pjrt::Function;

struct Refusal : std::runtime_error {
  Refusal(int refusal_code, const std::string& text) : std::runtime_error(text), code(refusal_code) {}
  int code;
};

class Jax {
 public:
  explicit Jax(const char* library = std::getenv("TPU_LIBRARY_PATH")) {
    void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) throw std::runtime_error(dlerror());
    api_ = reinterpret_cast<const pjrt::Api* (*)()>(dlsym(loaded, "GetPjrtApi"))();
    if (api_ == nullptr) throw std::runtime_error("the plugin has no table");
    pjrt::CreateClientArguments made{};
    call(Function::Client_Create, made);
    client_ = made.client;
    pjrt::ListQuery<pjrt::Client, pjrt::Device*> devices{{}, client_, nullptr, 0};
    call(Function::Client_AddressableDevices, devices);
    devices_.assign(devices.items, devices.items + devices.count);
  }

  template <class Arguments>
  void call(Function function, Arguments& arguments) const {
    arguments.struct_bytes = sizeof(arguments);
    if (pjrt::Error* error = at(function)(&arguments)) throw_error(error);
  }

  std::size_t device_count() const { return devices_.size(); }

  // An array of f32 on a device.
  pjrt::Buffer* put(const std::vector<std::int64_t>& dimensions, const void* data = nullptr,
                    std::size_t device = 0) const {
    pjrt::FromHostArguments given{};
    given.client = client_;
    given.data = data;
    given.type = 11;
    given.dimensions = dimensions.data();
    given.rank = dimensions.size();
    given.device = devices_[device];
    call(Function::Client_BufferFromHostBuffer, given);
    destroy(Function::Event_Destroy, given.done);
    return given.buffer;
  }
  void free(pjrt::Buffer* buffer) const { destroy(Function::Buffer_Destroy, buffer); }
  std::uint64_t address(pjrt::Buffer* buffer) const {
    return ask<std::uintptr_t>(Function::Buffer_UnsafePointer, buffer);
  }
  bool is_deleted(pjrt::Buffer* buffer) const { return ask<bool>(Function::Buffer_IsDeleted, buffer); }
  std::size_t size(pjrt::Buffer* buffer) const {
    return ask<std::size_t>(Function::Buffer_OnDeviceSizeInBytes, buffer);
  }
  std::vector<float> values(pjrt::Buffer* buffer, std::size_t count) const {
    std::vector<float> values(count, -1);
    pjrt::ToHostArguments given{};
    given.buffer = buffer;
    given.to = values.data();
    given.bytes = count * sizeof(float);
    call(Function::Buffer_ToHostBuffer, given);
    destroy(Function::Event_Destroy, given.event);
    return values;
  }

  // `program`: pretend_program.h. On one device.
  pjrt::LoadedExecutable* compile(std::string program, const std::string& options = {}) const {
    pjrt::ProgramText text{};
    text.struct_bytes = sizeof(text);
    text.code = program.data();
    text.code_bytes = program.size();
    text.format = "mlir";
    text.format_bytes = 4;
    pjrt::CompileArguments given{};
    given.client = client_;
    given.program = &text;
    given.options = options.data();
    given.options_bytes = options.size();
    call(Function::Client_Compile, given);
    return given.executable;
  }
  void unload(pjrt::LoadedExecutable* executable) const { destroy(Function::LoadedExecutable_Destroy, executable); }
  // `kept`: arguments that must not be donated.
  std::vector<pjrt::Buffer*> run(pjrt::LoadedExecutable* executable, const std::vector<pjrt::Buffer*>& arguments,
                                 std::size_t outputs = 1, const std::vector<std::int64_t>& kept = {}) const {
    std::vector<pjrt::Buffer*> made(outputs);
    pjrt::ExecuteOptions options{};
    options.struct_bytes = sizeof(options);
    options.kept_arguments = kept.data();
    options.kept_argument_count = kept.size();
    pjrt::Buffer* const* const argument_lists[] = {arguments.data()};
    pjrt::Buffer** const output_lists[] = {made.data()};
    pjrt::ExecuteArguments given{};
    given.executable = executable;
    given.options = &options;
    given.argument_lists = argument_lists;
    given.device_count = 1;
    given.argument_count = arguments.size();
    given.output_lists = output_lists;
    call(Function::LoadedExecutable_Execute, given);
    return made;
  }

  pjrt::MemoryStats stats(std::size_t device = 0) const {
    pjrt::MemoryStats stats{};
    stats.device = devices_[device];
    call(Function::Device_MemoryStats, stats);
    return stats;
  }

  void clear_stats(std::size_t device = 0) const { destroy(Function::Device_ClearMemoryStats, devices_[device]); }

  pjrt::Client* client() const { return client_; }

 private:
  pjrt::AnyFunction at(Function function) const {
    return reinterpret_cast<pjrt::AnyFunction>(api_->functions[static_cast<unsigned>(function)]);
  }
  template <class Object>
  void destroy(Function function, Object* object) const {
    pjrt::Command<Object> given{{}, object};
    call(function, given);
  }
  template <class Value, class Object>
  Value ask(Function function, Object* object) const {
    pjrt::Query<Object, Value> given{{}, object, {}};
    call(function, given);
    return given.value;
  }
  [[noreturn]] void throw_error(pjrt::Error* error) const {
    pjrt::TextQuery<pjrt::Error> text{{sizeof(text), nullptr}, error, nullptr, 0};
    at(Function::Error_Message)(&text);
    pjrt::Query<pjrt::Error, int> code{{sizeof(code), nullptr}, error, 0};
    at(Function::Error_GetCode)(&code);
    Refusal refusal(code.value, std::string(text.text, text.bytes));
    pjrt::Command<pjrt::Error> destroyed{{sizeof(destroyed), nullptr}, error};
    at(Function::Error_Destroy)(&destroyed);
    throw refusal;
  }

  const pjrt::Api* api_ = nullptr;
  pjrt::Client* client_ = nullptr;
  std::vector<pjrt::Device*> devices_;
};

}  // namespace hbmscope::pretend
