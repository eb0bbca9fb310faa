// What is used of PJRT's C API (xla/pjrt/c/pjrt_c_api.h), whose structs only grow at their ends: seen in versions 0.58
// (JAX 0.4.38) to 0.112 (JAX 0.10.2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject::pjrt {

struct Error;
struct Executable;
struct LoadedExecutable;
struct Buffer;

// The beginning of each function's arguments.
struct Head {
  std::size_t struct_bytes;
  void* extension = nullptr;
};
using Function = Error* (*)(void* arguments);

struct ErrorArguments : Head {  // Error_Destroy
  Error* error;
};
struct ExecuteArguments : Head {
  LoadedExecutable* executable;
  void* options;
  void* argument_lists;
  std::size_t device_count, argument_count;
  Buffer** const* output_lists;  // By device; may be null.
};
struct GetExecutableArguments : Head {
  LoadedExecutable* loaded;
  Executable* executable = nullptr;
};
struct ExecutableArguments : Head {  // Executable_Destroy, LoadedExecutable_Destroy
  void* executable;
};
struct NameArguments : Head {
  Executable* executable;
  const char* name = nullptr;  // Without a zero at its end.
  std::size_t name_bytes = 0;
};
struct OutputTypesArguments : Head {
  Executable* executable;
  const int* types = nullptr;
  std::size_t count = 0;
};
struct OutputDimensionsArguments : Head {
  Executable* executable;
  std::size_t count = 0;
  const std::int64_t* dimensions = nullptr;  // Of all outputs, one after the other.
  const std::size_t* ranks = nullptr;
};
struct PointerArguments : Head {  // Buffer_UnsafePointer
  Buffer* buffer;
  std::uintptr_t pointer = 0;
};
struct FromHostArguments : Head {
  void* client;
  const void* data;
  int type;
  const std::int64_t* dimensions;
  std::size_t rank;
  const std::int64_t* strides;
  std::size_t stride_count;
  int semantics;
  void* device;
  void* memory;
  void* layout;
  void* done;
  Buffer* buffer;  // Written by the call.
};

// Places in the table of functions, which are the same in all versions.
enum Place : unsigned {
  error_destroy = 0,
  buffer_from_host = 22,
  executable_destroy = 40,
  executable_name = 41,
  loaded_executable_destroy = 50,
  get_executable = 51,
  execute = 55,
  buffer_pointer = 73,
  output_types = 90,
  output_dimensions = 91,
  places_needed
};

// The table of functions begins behind three structs: sizes, and the version.
struct Api {
  std::size_t struct_bytes;
  void* extension;
  std::size_t version_struct_bytes;
  void* version_extension;
  int major, minor;
  Function functions[places_needed];  // And more, as struct_bytes says.
};
// PJRT_Buffer_Type, as XLA writes it.
inline const char* name_of_type(int type) {
  constexpr const char* names[] = {
      "?",          "pred", "s8",  "s16",   "s32", "s64",  "u8",     "u16",      "u32",           "u64",
      "f16",        "f32",  "f64", "bf16",  "c64", "c128", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz",
      "f8e4m3fnuz", "s4",   "u4",  "token", "s2",  "u2",   "f8e4m3", "f8e3m4",   "f8e8m0fnu",     "f4e2m1fn"};
  constexpr int count = sizeof(names) / sizeof(names[0]);
  return names[type > 0 && type < count ? type : 0];
}

// Bits of an element; 0: none, or unknown.
inline unsigned bits_of_type(int type) {
  constexpr unsigned char bits[] = {0, 8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64, 16, 64, 128, 8, 8, 8, 8, 8, 4, 4, 0,
                                    2, 2, 8, 8, 8, 4};
  constexpr int count = sizeof(bits) / sizeof(bits[0]);
  return bits[type > 0 && type < count ? type : 0];
}

}  // namespace hbmscope::inject::pjrt
