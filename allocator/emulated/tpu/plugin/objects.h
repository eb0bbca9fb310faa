// The objects that the plugin hands out. Each begins with a null pointer, as c_api.h explains.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "allocator/emulated/tpu/generation.h"
#include "allocator/emulated/tpu/plugin/array_layouts.h"
#include "allocator/emulated/tpu/plugin/books.h"
#include "allocator/emulated/tpu/plugin/c_api.h"
#include "allocator/emulated/tpu/plugin/compiled_program.h"
#include "allocator/emulated/tpu/plugin/errors.h"
#include "allocator/emulated/tpu/plugin/host_values.h"

namespace hbmscope::allocator::tpu::plugin {

struct Memory {
  void* table = nullptr;
  int id = 0;
  Device* device = nullptr;
  std::string kind, text;  // "device", "pinned_host"; for people.
  int kind_id = 0;

  bool is_hbm() const { return kind == "device"; }
};

struct Device {
  void* table = nullptr;
  int number = 0, id = 0;  // From 0; as the topology names it.
  DeviceDescription* description = nullptr;
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Memory*> memory_pointers;
  Memory* default_memory = nullptr;
  std::unique_ptr<DeviceBooks> books;
  std::uint64_t host_bytes = 0;  // The bytes of arrays in host memory.

  Memory* find_memory(std::string_view kind) const;  // The default one if there is no such kind.
};

struct Client {
  void* table = nullptr;
  Topology* topology = nullptr;
  const Generation* generation = nullptr;
  std::string platform = "tpu", version;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> device_pointers;
  std::vector<Memory*> memory_pointers;
  TpuAccount* account = nullptr;

  std::mutex mutex;  // Held while books and arrays change.
  HostRoom host_room;
  std::uint64_t next_program = 0;
  std::uint64_t next_host_address = std::uint64_t{1} << 56;
};
Client* find_client();  // The process's only one, or null before it is created.

// A memory layout as JAX sees it: XLA's text.
struct MemoryLayout {
  void* table = nullptr;
  std::string text;
  bool is_owned = false;  // By an executable, which outlives its users.
};

struct Buffer {
  void* table = nullptr;
  int type = 0;
  std::vector<std::int64_t> dimensions;
  const ArrayLayout* layout = nullptr;  // Never null.
  Memory* memory = nullptr;
  Block* block = nullptr;          // In HBM. Null if it is deleted, or in host memory.
  std::uint64_t host_address = 0;  // 0 if it is in HBM.
  bool is_deleted = false;
  HostValues values;

  std::uint64_t address() const { return block != nullptr ? block->address : host_address; }
};
// All of these under the client's lock. Null: there is no room, and `error` says so.
Buffer* make_buffer(Client& client, int type, std::vector<std::int64_t> dimensions, const ArrayLayout* layout,
                    Memory* memory, Error*& error);
void release(Buffer& buffer);  // Its memory; the object stays.

// Pointers into a program, as PJRT wants them. Owned by all handles of the executable together.
struct ExecutableFacts {
  explicit ExecutableFacts(std::shared_ptr<const CompiledProgram> compiled);

  std::shared_ptr<const CompiledProgram> program;
  std::vector<int> types;
  std::vector<std::int64_t> dimensions;
  std::vector<std::size_t> ranks;
  struct Texts {
    std::vector<const char*> texts;
    std::vector<std::size_t> bytes;
    void add(const std::string& text);
  } output_kinds, parameter_kinds, output_shardings, parameter_shardings;
  std::vector<MemoryLayout> output_layouts, parameter_layouts;
  std::vector<MemoryLayout*> output_layout_pointers, parameter_layout_pointers;
  std::vector<NamedValue> costs;
};

struct Executable {
  void* table = nullptr;
  std::shared_ptr<const ExecutableFacts> facts;
};

struct LoadedExecutable {
  void* table = nullptr;
  Client* client = nullptr;
  std::shared_ptr<const ExecutableFacts> facts;
  std::uint64_t program = 0;  // Its number in the books.
  std::vector<Device*> devices;
  std::vector<LogicalId> logical_ids;
  std::string assignment;  // A serialized DeviceAssignmentProto.
  std::vector<const ArrayLayout*> output_layouts;
  std::uint64_t output_array_bytes = 0;  // In HBM, on one device.
  std::uint64_t executions = 0;
  bool is_deleted = false;
};

}  // namespace hbmscope::allocator::tpu::plugin
