// What is used of PJRT's C API (xla/pjrt/c/pjrt_c_api.h), whose structs only grow at their ends: seen in versions 0.58
// (JAX 0.4.38) to 0.116 (JAX 0.12.0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject::pjrt {

struct Error;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct Device;
struct DeviceDescription;
struct Memory;

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
  Buffer* const* const* argument_lists;  // By device.
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
struct MemoryStatsArguments : Head {  // Executable_GetCompiledMemoryStats; bytes, of one device.
  Executable* executable;
  std::int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporaries = 0;
  std::int64_t of_the_host[5] = {};
  std::int64_t peak = 0;
};
struct BufferArguments : Head {  // Buffer_Destroy, Buffer_Delete
  Buffer* buffer;
};
struct ElementTypeArguments : Head {
  Buffer* buffer;
  int type = 0;
};
struct DimensionsArguments : Head {
  Buffer* buffer;
  const std::int64_t* dimensions = nullptr;
  std::size_t rank = 0;
};
struct SizeArguments : Head {  // Buffer_OnDeviceSizeInBytes
  Buffer* buffer;
  std::size_t bytes = 0;
};
struct BufferDeviceArguments : Head {
  Buffer* buffer;
  Device* device = nullptr;
};
struct BufferMemoryArguments : Head {
  Buffer* buffer;
  Memory* memory = nullptr;
};
struct IsDeletedArguments : Head {
  Buffer* buffer;
  bool is_deleted = false;
};
struct HardwareIdArguments : Head {  // Device_LocalHardwareId
  Device* device;
  int id = -1;
};
struct DescriptionArguments : Head {  // Device_GetDescription
  Device* device;
  DeviceDescription* description = nullptr;
};
struct DeviceTextArguments : Head {  // DeviceDescription_DebugString
  DeviceDescription* description;
  const char* text = nullptr;
  std::size_t bytes = 0;
};
struct MemoryKindArguments : Head {
  Memory* memory;
  const char* kind = nullptr;  // Without a zero at its end.
  std::size_t kind_bytes = 0;
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

// Bits of an element; 0: none, or unknown.
inline unsigned bits_of_type(int type) {
  constexpr unsigned char bits[] = {0,   8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64, 16, 64,
                                    128, 8, 8, 8,  8,  8,  4, 4,  0,  2,  2,  8,  8,  8,  4};
  constexpr int count = sizeof(bits) / sizeof(bits[0]);
  return bits[type > 0 && type < count ? type : 0];
}

}  // namespace hbmscope::inject::pjrt
