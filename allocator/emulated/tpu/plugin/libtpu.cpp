#include "allocator/emulated/tpu/plugin/libtpu.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "allocator/emulated/tpu/plugin/errors.h"
#include "allocator/emulated/tpu/plugin/settings.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

constexpr const char* names[] = {
#define HBMSCOPE_PJRT(name, answer) #name,
#include "allocator/emulated/tpu/plugin/functions.inc"
#undef HBMSCOPE_PJRT
};

const Api* load() {
  // Without these libtpu asks Google's metadata server which TPU this machine has, and refuses to be loaded by two
  // processes at once.
  setenv("TPU_SKIP_MDS_QUERY", "1", 0);
  setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  setenv("TPU_WORKER_ID", "0", 0);
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  void* library = dlopen(settings().library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* get = library != nullptr ? dlsym(library, "GetPjrtApi") : nullptr;
  if (get == nullptr) {
    std::fprintf(stderr, "hbmscope: cannot load libtpu: %s\n", dlerror());
    return nullptr;
  }
  const Api* api = reinterpret_cast<const Api* (*)()>(get)();
  if (api == nullptr || api->major != 0) {
    std::fprintf(stderr, "hbmscope: this libtpu has another major version of the PJRT API than 0\n");
    return nullptr;
  }
  return api;
}

}  // namespace

const char* name_of(Function function) {
  return names[static_cast<unsigned>(function)];
}

const Libtpu* Libtpu::get() {
  static const Libtpu* only = [] {
    static Libtpu libtpu;
    libtpu.api_ = load();
    return libtpu.api_ != nullptr ? &libtpu : nullptr;
  }();
  return only;
}

bool Libtpu::has(Function function) const {
  const auto end = api_head_bytes + (static_cast<std::size_t>(function) + 1) * sizeof(void*);
  return end <= api_->struct_bytes && api_->functions[static_cast<unsigned>(function)] != nullptr;
}

AnyFunction Libtpu::call_at(Function function) const {
  return reinterpret_cast<AnyFunction>(api_->functions[static_cast<unsigned>(function)]);
}

std::optional<Fault> Libtpu::absent(Function function) {
  return Fault{ErrorCode::unimplemented, std::string("this libtpu has no PJRT_") + name_of(function)};
}

std::optional<Fault> Libtpu::fault_of(AnyFunction function, void* arguments) const {
  Error* error = function(arguments);
  if (error == nullptr) return std::nullopt;
  Fault fault;
  TextQuery<Error> message{{sizeof(message), nullptr}, error, nullptr, 0};
  call_at(Function::Error_Message)(&message);
  fault.text.assign(message.text, message.bytes);
  Query<Error, int> code{{sizeof(code), nullptr}, error, 0};
  if (call_at(Function::Error_GetCode)(&code) == nullptr) fault.code = static_cast<ErrorCode>(code.value);
  Command<Error> destroyed{{sizeof(destroyed), nullptr}, error};
  call_at(Function::Error_Destroy)(&destroyed);
  return fault;
}

Error* Libtpu::pass_on(Function function, void* arguments) const {
  const auto fault = has(function) ? fault_of(call_at(function), arguments) : absent(function);
  return fault ? make_error(fault->code, fault->text) : nullptr;
}

std::string Libtpu::text_from_layout(MemoryLayout* layout) const {
  BytesQuery<MemoryLayout> bytes{{}, layout, nullptr, 0, nullptr, nullptr};
  if (layout == nullptr || call_extension(extension_function(layouts_extension, &LayoutsExtension::serialize), bytes))
    return {};
  std::string text(bytes.bytes, bytes.size);
  if (bytes.deleter != nullptr) bytes.deleter(bytes.owner);
  return text;
}

void Libtpu::destroy_layout(MemoryLayout* layout) const {
  Command<MemoryLayout> destroyed{{}, layout};
  call_extension(extension_function(layouts_extension, &LayoutsExtension::destroy), destroyed);
}

const Extension* Libtpu::find_extension(ExtensionType type) const {
  for (const Extension* one = api_->extensions; one != nullptr; one = one->next)
    if (one->type == type) return one;
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
