// What is used of PJRT's C API (xla/pjrt/c/pjrt_c_api.h), by what watches plugins and by a plugin of our own. Structs
// only grow at their ends: a caller says in `struct_bytes` how much it knows. Seen in versions 0.58 (JAX 0.4.38) to
// 0.116 (JAX 0.12.0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::pjrt {

// The beginning of each function's arguments.
struct Head {
  std::size_t struct_bytes;
  void* extension = nullptr;
};

// Most functions get an object and answer with one value, a text or a list.
template <class Object, class Value>
struct Query : Head {
  Object* object;
  Value value{};
};
template <class Object>
struct Command : Head {
  Object* object;
};
template <class Object>
struct TextQuery : Head {
  Object* object;
  const char* text = nullptr;  // Without a zero at its end.
  std::size_t bytes = 0;
};
template <class Object, class Item>
struct ListQuery : Head {
  Object* object;
  Item* items = nullptr;
  std::size_t count = 0;
};
template <class Object, class Item>
struct CountedListQuery : Head {
  Object* object;
  std::size_t count = 0;
  Item* items = nullptr;
};
// A list of texts.
template <class Object>
struct TextListQuery : Head {
  Object* object;
  std::size_t count = 0;
  const char* const* texts = nullptr;
  const std::size_t* bytes = nullptr;
};
// Bytes that the caller frees with `deleter(owner)`.
template <class Object>
struct BytesQuery : Head {
  Object* object;
  const char* bytes = nullptr;
  std::size_t size = 0;
  void* owner = nullptr;
  void (*deleter)(void* owner) = nullptr;
};
template <class Object>
struct OutputDimensionsQuery : Head {
  Object* object;
  std::size_t count = 0;
  const std::int64_t* dimensions = nullptr;  // All outputs' dimensions, one after the other.
  const std::size_t* ranks = nullptr;
};
template <class Object>
struct CompiledMemoryQuery : Head {  // Executable_GetCompiledMemoryStats; bytes, of one device.
  Object* object;
  std::int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporaries = 0;
  std::int64_t host_code = 0, host_arguments = 0, host_outputs = 0, host_aliased = 0, host_temporaries = 0;
  std::int64_t peak = 0;
};

// What the plugins hand out: pointers to objects that only they know.
struct Error;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct Device;
struct DeviceDescription;
struct Memory;

using Function = Error* (*)(void* arguments);

// What is read of the arguments of calls that make buffers or run programs.
struct ExecuteArguments : Head {
  LoadedExecutable* executable;
  void* options;
  Buffer* const* const* argument_lists;  // By device.
  std::size_t device_count, argument_count;
  Buffer** const* output_lists;  // By device; may be null.
};
struct CopyArguments : Head {  // Buffer_CopyToDevice, Buffer_CopyToMemory
  Buffer* from;
  void* to;
  Buffer* copy;  // Written by the call.
};
struct UninitializedArguments : Head {  // Client_CreateUninitializedBuffer
  void* client;
  const std::int64_t* dimensions;
  std::size_t rank;
  int type;
  void* layout;
  void* device;
  void* memory;
  Buffer* buffer;  // Written by the call.
};
struct RetrieveArguments : Head {  // AsyncHostToDeviceTransferManager_RetrieveBuffer
  void* manager;
  int index;
  Buffer* buffer;  // Written by the call.
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
  device_text = 27,
  device_description = 29,
  device_hardware_id = 31,
  memory_kind = 36,
  executable_destroy = 40,
  executable_name = 41,
  loaded_executable_destroy = 50,
  get_executable = 51,
  execute = 55,
  buffer_destroy = 58,
  buffer_element_type = 59,
  buffer_dimensions = 60,
  buffer_size = 64,
  buffer_device = 65,
  buffer_memory = 66,
  buffer_delete = 67,
  buffer_is_deleted = 68,
  copy_to_device = 69,
  to_host_buffer = 70,
  buffer_pointer = 73,
  output_types = 90,
  output_dimensions = 91,
  copy_to_memory = 92,
  memory_stats = 96,
  retrieve_buffer = 104,
  create_uninitialized = 112,
  places_needed
};
constexpr Place last_place_needed = output_dimensions;  // A plugin may lack those after it.

// The table of functions begins behind three structs: sizes, and the version.
struct Api {
  std::size_t struct_bytes;
  void* extension;
  std::size_t version_struct_bytes;
  void* version_extension;
  int major, minor;
  Function functions[places_needed];  // And more, or fewer, as struct_bytes says.
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

// Bits of an element, or 0 if it has none or they are unknown.
inline unsigned bits_of_type(int type) {
  constexpr unsigned char bits[] = {0,   8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64, 16, 64,
                                    128, 8, 8, 8,  8,  8,  4, 4,  0,  2,  2,  8,  8,  8,  4};
  constexpr int count = sizeof(bits) / sizeof(bits[0]);
  return bits[type > 0 && type < count ? type : 0];
}

}  // namespace hbmscope::pjrt
