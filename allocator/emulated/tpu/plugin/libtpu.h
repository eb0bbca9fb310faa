// The real libtpu, of which only the compiler is used: its topologies, device descriptions and compilations need no
// TPU.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "allocator/emulated/tpu/plugin/c_api.h"

namespace hbmscope::allocator::tpu::plugin {

// An error that libtpu returned.
struct Fault {
  ErrorCode code = ErrorCode::internal;
  std::string text;
};

class Libtpu {
 public:
  // Loads it from HBMSCOPE_TPU_LIBRARY. Null: it can't be loaded, which was said on standard error.
  static const Libtpu* get();

  const Api& api() const { return *api_; }
  bool has(Function function) const;
  // An absent function is a fault, too. Arguments begin with Head, whose size is set here.
  template <class Arguments>
  std::optional<Fault> call(Function function, Arguments& arguments) const {
    arguments.struct_bytes = sizeof(Arguments);
    return has(function) ? fault_of(call_at(function), &arguments) : absent(function);
  }
  // A function of an extension; `function` may be null.
  template <class Arguments>
  std::optional<Fault> call_extension(void* function, Arguments& arguments) const {
    arguments.struct_bytes = sizeof(Arguments);
    if (function == nullptr) return Fault{ErrorCode::unimplemented, "this libtpu has no such function"};
    return fault_of(reinterpret_cast<AnyFunction>(function), &arguments);
  }
  // A caller's arguments, passed on as they are. The error is one of ours.
  Error* pass_on(Function function, void* arguments) const;

  // XLA's text of one of its layouts, or empty if it doesn't say.
  std::string text_from_layout(MemoryLayout* layout) const;
  void destroy_layout(MemoryLayout* layout) const;

  const Extension* find_extension(ExtensionType type) const;
  // Null if the extension is absent or ends before the field.
  template <class Kind>
  void* extension_function(ExtensionType type, void* Kind::*field) const {
    const Extension* found = find_extension(type);
    if (found == nullptr) return nullptr;
    const auto* whole = static_cast<const Kind*>(found);
    const auto* place = reinterpret_cast<const char*>(&(whole->*field));
    if (place + sizeof(void*) > reinterpret_cast<const char*>(found) + found->struct_bytes) return nullptr;
    return whole->*field;
  }

 private:
  AnyFunction call_at(Function function) const;
  std::optional<Fault> fault_of(AnyFunction function, void* arguments) const;
  static std::optional<Fault> absent(Function function);

  const Api* api_ = nullptr;
};

const char* name_of(Function function);  // "Client_Compile"

}  // namespace hbmscope::allocator::tpu::plugin
