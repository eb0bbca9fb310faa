// What this plugin uses of PJRT's C API (xla/pjrt/c/pjrt_c_api.h and its extensions) besides collector/abi/pjrt.h:
// arguments with its own objects. Seen in versions 0.72 to 0.116.
//
// Every object that the plugin hands out begins with a null pointer: since version 0.105 jaxlib takes the first word of
// some for a table of functions, and null for none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/pjrt.h"

namespace hbmscope::allocator::tpu::plugin {

// Objects of the caller or of libtpu: only pointers to them are known here.
struct Topology;
struct DeviceDescription;
struct RealExecutable;
// Objects of this plugin (objects.h).
struct Error;
struct Event;
struct Client;
struct Device;
struct Memory;
struct Buffer;
struct Executable;
struct LoadedExecutable;
struct TransferManager;
struct MemoryLayout;

enum class ErrorCode : int {
  none = 0,
  invalid_argument = 3,
  resource_exhausted = 8,
  aborted = 10,
  unimplemented = 12,
  internal = 13
};

enum class Function : unsigned {
#define HBMSCOPE_PJRT(name, answer) name,
#include "allocator/emulated/tpu/plugin/functions.inc"
#undef HBMSCOPE_PJRT
  count
};
constexpr std::size_t function_count = static_cast<std::size_t>(Function::count);
using AnyFunction = Error* (*)(void* arguments);

// The table: sizes, the version, and the functions.
struct Api {
  std::size_t struct_bytes;
  struct Extension* extensions;
  std::size_t version_struct_bytes;
  void* version_extension;
  int major, minor;
  void* functions[function_count];
};
constexpr std::size_t api_head_bytes = offsetof(Api, functions);

struct Extension {
  std::size_t struct_bytes;
  int type;
  Extension* next;
};
enum ExtensionType {
  profiler_extension = 1,
  layouts_extension = 4,
  memories_extension = 6,
  topology_extension = 16,
  shardings_extension = 19
};

using pjrt::BytesQuery;
using pjrt::Command;
using pjrt::CountedListQuery;
using pjrt::Head;
using pjrt::ListQuery;
using pjrt::Query;
using pjrt::TextListQuery;
using pjrt::TextQuery;

struct NamedValue : Head {
  const char* name;
  std::size_t name_bytes;
  enum Kind : int { text, integer, integers, number, flag } kind;
  union {
    const char* text_value;
    std::int64_t integer_value;
    const std::int64_t* integers_value;
    float number_value;
    bool flag_value;
  };
  std::size_t value_count;
};

// Events.
struct OnReadyArguments : Head {
  Event* event;
  void (*callback)(Error* error, void* user);
  void* user;
};
struct SetEventArguments : Head {
  Event* event;
  int code;
  const char* message;
  std::size_t message_bytes;
};

// The topology.
struct CreateTopologyArguments : Head {
  const char* name;
  std::size_t name_bytes;
  const NamedValue* options;
  std::size_t option_count;
  Topology* topology;
};

// The client.
struct CreateClientArguments : Head {
  const NamedValue* options;
  std::size_t option_count;
  void* key_value_store[4];
  Client* client;
};
struct LookupArguments : Head {
  Client* client;
  int id;
  Device* device;
};
struct ProgramText : Head {
  char* code;
  std::size_t code_bytes;
  const char* format;  // "mlir", "hlo", "hlo_with_config"
  std::size_t format_bytes;
};
struct CompileArguments : Head {  // Client_Compile
  Client* client;
  const ProgramText* program;
  const char* options;  // A serialized CompileOptionsProto.
  std::size_t options_bytes;
  LoadedExecutable* executable;
};
template <class AnyExecutable>
struct CompileForTopologyArguments : Head {  // Compile
  const Topology* topology;
  const ProgramText* program;
  const char* options;
  std::size_t options_bytes;
  Client* client;
  AnyExecutable* executable;
};
struct DeviceAssignmentArguments : Head {
  Client* client;
  int replicas, partitions;
  std::size_t count;
  int* devices;
};

struct TiledLayout : Head {
  const std::int64_t* minor_to_major;
  std::size_t minor_to_major_count;
  const std::int64_t* tile_dimensions;  // All tiles' dimensions, one after the other.
  const std::size_t* tile_ranks;
  std::size_t tile_count;
};
struct BufferLayout : Head {
  TiledLayout tiled;  // The other one of a union, strides, is smaller.
  enum Kind : int { is_tiled, has_strides } kind;
};
struct FromHostArguments : Head {
  Client* client;
  const void* data;
  int type;
  const std::int64_t* dimensions;
  std::size_t rank;
  const std::int64_t* byte_strides;
  std::size_t stride_count;
  int semantics;
  Device* device;
  Memory* memory;
  const BufferLayout* layout;
  Event* done;
  Buffer* buffer;
};
struct UninitializedArguments : Head {
  Client* client;
  const std::int64_t* dimensions;
  std::size_t rank;
  int type;
  const BufferLayout* layout;
  Device* device;
  Memory* memory;
  Buffer* buffer;
};
struct ShapeSpec : Head {
  const std::int64_t* dimensions;
  std::size_t rank;
  int type;
};
struct CreateBuffersArguments : Head {  // Client_CreateBuffersForAsyncHostToDevice
  Client* client;
  const ShapeSpec* shapes;
  std::size_t shape_count;
  const BufferLayout* const* layouts;
  std::size_t layout_count;
  Memory* memory;
  TransferManager* manager;
};
struct TransferArguments : Head {
  TransferManager* manager;
  int index;
  const void* data;
  std::int64_t offset, bytes;
  bool is_last;
  Event* done;
};
template <class Value>
struct ManagerItemArguments : Head {  // RetrieveBuffer, BufferSize
  TransferManager* manager;
  int index;
  Value value;
};

struct MemoryStats : Head {  // Device_MemoryStats; bytes, each followed by whether it is set.
  Device* device;
  std::int64_t in_use, peak_in_use;
  bool has_peak_in_use;
  std::int64_t allocations;
  bool has_allocations;
  std::int64_t largest_allocation;
  bool has_largest_allocation;
  std::int64_t limit;
  bool has_limit;
  std::int64_t reserved;
  bool has_reserved;
  std::int64_t peak_reserved;
  bool has_peak_reserved;
  std::int64_t reservable;
  bool has_reservable;
  std::int64_t largest_free;
  bool has_largest_free;
  std::int64_t pool;
  bool has_pool;
  std::int64_t peak_pool;
  bool has_peak_pool;
};
struct DeviceAttributesArguments : Head {
  Device* device;
  const NamedValue* attributes;
  std::size_t count;
  void* owner;
  void (*deleter)(void* owner);
};

// Executables.
template <class AnyExecutable>
struct CompiledMemoryArguments : pjrt::CompiledMemoryQuery<AnyExecutable> {
  std::int64_t total;  // Since 0.90.
};
struct DeserializeArguments : Head {
  Client* client;
  const char* bytes;
  std::size_t size;
  LoadedExecutable* executable;
  const char* options;
  std::size_t options_bytes;
};
struct LogicalId {
  int replica, partition;
};
struct ExecuteOptions : Head {
  void* send_callbacks;
  void* receive_callbacks;
  std::size_t sends, receives;
  int launch;
  const std::int64_t* kept_arguments;  // They must not be donated.
  std::size_t kept_argument_count;
};
struct ExecuteArguments : Head {
  LoadedExecutable* executable;
  const ExecuteOptions* options;
  Buffer* const* const* argument_lists;  // By device.
  std::size_t device_count, argument_count;
  Buffer** const* output_lists;
  Event** events;  // May be null.
  Device* device;  // Null: those of the executable.
};

// Buffers.
struct CopyArguments : Head {
  Buffer* buffer;
  void* to;  // A Device or a Memory.
  Buffer* copy;
};
struct ToHostArguments : Head {
  Buffer* buffer;
  const BufferLayout* layout;
  void* to;  // Null: only the size is asked for.
  std::size_t bytes;
  Event* event;
};
struct RawToHostArguments : Head {
  Buffer* buffer;
  void* to;
  std::int64_t offset, bytes;
  Event* event;
};
struct LayoutArguments : Head {
  Buffer* buffer;
  BufferLayout layout;
};

// Extensions.
template <class Object>
struct DefaultLayoutArguments : Head {
  Object* object;  // A Client or a Topology.
  int type;
  const std::int64_t* dimensions;
  std::size_t rank;
  MemoryLayout* layout;
};
struct LayoutsExtension : Extension {
  void* destroy;
  void* serialize;
  void* default_of_client;
  void* of_buffer;
  void* default_of_topology;
  void* of_outputs;     // May lie behind the end: since the third version.
  void* of_parameters;  // Since API 0.93.
};
struct MemoriesExtension : Extension {
  void* of_device;
  void* kind;
};
struct DeviceMemoriesArguments : Head {
  const DeviceDescription* device;
  const void* const* memories;
  std::size_t count;
  std::size_t default_index;
};
struct MemoryKindArguments : Head {
  const void* memory;
  const char* kind;
  std::size_t kind_bytes;
  int kind_id;
};
struct ProfilerExtension : Extension {
  void* api;
  std::int64_t trace_context;
};
struct ShardingsExtension : Extension {
  void* of_parameters;
  void* of_outputs;
};

}  // namespace hbmscope::allocator::tpu::plugin
