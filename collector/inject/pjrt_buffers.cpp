#include "collector/inject/pjrt_buffers.h"

#include <cstdint>
#include <cstring>

#include "collector/inject/collector.h"
#include "collector/inject/driver_rows.h"
#include "collector/inject/line.h"
#include "collector/inject/marked_places.h"
#include "collector/inject/pjrt_programs.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/python_agent.h"

namespace hbmscope::inject::pjrt {
namespace {

Device* device_of(const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, Device*> query{{sizeof(query)}, buffer};
  return plugin.succeeds(buffer_device, &query) ? query.value : nullptr;
}

// As the process numbers its devices, or wire::no_device if that is unknown.
std::uint32_t number_of(const Plugin& plugin, Device* device) {
  Query<Device, int> query{{sizeof(query)}, device, -1};
  if (device == nullptr || !plugin.succeeds(device_hardware_id, &query) || query.value < 0) return wire::no_device;
  return static_cast<std::uint32_t>(query.value);
}

Memory* memory_of(const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, Memory*> query{{sizeof(query)}, buffer};
  return plugin.succeeds(buffer_memory, &query) ? query.value : nullptr;
}

// "device", "pinned_host", "unpinned_host", or empty if it is unknown.
struct Kind {
  char text[32] = "";
};
Kind kind_of(const Plugin& plugin, Memory* memory) {
  Kind kind;
  TextQuery<Memory> query{{sizeof(query)}, memory};
  if (memory != nullptr && plugin.succeeds(memory_kind, &query)) copy_text(kind.text, query.text, query.bytes);
  return kind;
}

std::uint64_t size_of(const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, std::size_t> query{{sizeof(query)}, buffer};
  return plugin.succeeds(buffer_size, &query) ? query.value : 0;
}

std::uint64_t pointer_of(const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, std::uintptr_t> query{{sizeof(query)}, buffer};
  return plugin.succeeds(buffer_pointer, &query) ? query.value : 0;
}

bool is_deleted(const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, bool> query{{sizeof(query)}, buffer};
  return plugin.succeeds(buffer_is_deleted, &query) && query.value;
}

bool add_shape_of(Line& line, const Plugin& plugin, Buffer* buffer) {
  Query<Buffer, int> type{{sizeof(type)}, buffer};
  ListQuery<Buffer, const std::int64_t> shape{{sizeof(shape)}, buffer};
  if (!plugin.succeeds(buffer_element_type, &type) || !plugin.succeeds(buffer_dimensions, &shape)) return false;
  add_shape(line, type.value, shape.items, shape.count);
  return true;
}

// The heap of a plugin whose allocator is not seen. There is one for each memory of a device.
struct Where {
  const Plugin& plugin;
  Buffer* buffer;
  Memory* memory;
};

void find_facts(const void*, const void* call, pools::PoolFacts& facts) {
  const auto& where = *static_cast<const Where*>(call);
  const Kind kind = kind_of(where.plugin, where.memory);
  if (std::strcmp(kind.text, "pinned_host") == 0) facts.memory_kind = "host_pinned";
  if (std::strcmp(kind.text, "unpinned_host") == 0) facts.memory_kind = "host";
  Device* device = device_of(where.plugin, where.buffer);
  facts.device = number_of(where.plugin, device);
  facts.framework = pools::Framework::arrays;
  facts.has_requested = false;
  Line name;
  Query<Device, DeviceDescription*> described{{sizeof(described)}, device};
  if (device != nullptr && where.plugin.succeeds(device_description, &described)) {
    TextQuery<DeviceDescription> query{{sizeof(query)}, described.value};
    char text[48] = "";
    if (where.plugin.succeeds(device_text, &query)) copy_text(text, query.text, query.bytes);
    if (char* details = std::strchr(text, '(')) *details = 0;  // "TPU_0(process=0,(0,0,0,0))"
    name.add(text).add(" arrays");
  }
  if (name.text[0] == 0) name.add("JAX arrays");
  if (std::strcmp(facts.memory_kind, "device") != 0) name.add(" (").add(kind.text).add(")");
  copy_text(facts.name, name.text, std::strlen(name.text));
}

std::uint32_t heap_of(const Plugin& plugin, Buffer* buffer) {
  const Where where{plugin, buffer, memory_of(plugin, buffer)};
  const void* instance = where.memory != nullptr ? static_cast<const void*>(where.memory)
                                                 : static_cast<const void*>(device_of(plugin, buffer));
  return instance != nullptr ? pools::heap_of(instance, find_facts, &where) : 0;
}

std::uint64_t handle_of(const void* buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer);
}

// A new array: `text` is about it.
void note_array(const Plugin& plugin, Buffer* buffer, std::uint32_t text) {
  if (buffer == nullptr || (plugin.has_pool() && text == 0)) return;
  std::uint64_t address = handle_of(buffer);
  if (!plugin.has_pool()) {
    const std::uint32_t heap = heap_of(plugin, buffer);
    if (heap == 0) return;
    pools::report_block(heap, address, size_of(plugin, buffer), wire::unknown_bytes);
  } else {
    address = pointer_of(plugin, buffer);
  }
  if (address != 0) pools::report_attribute(address, pools::text_of("array"), text);
}

void note_copy(const Plugin& plugin, Buffer* buffer, const char* from) {
  Line line;
  if (buffer != nullptr && add_shape_of(line, plugin, buffer))
    note_array(plugin, buffer, pools::text_of(line.add(from).text));
}

// Called before the array's memory can be anything else.
void note_end(const Plugin& plugin, Buffer* buffer) {
  if (const std::uint32_t heap = heap_of(plugin, buffer)) pools::report_free(heap, handle_of(buffer));
}

// What a program gets is there already. After an attach that says what was there before.
bool list_argument(const Plugin& plugin, Buffer* buffer) {
  if (buffer == nullptr || is_deleted(plugin, buffer)) return true;
  std::uint64_t address = handle_of(buffer);
  std::uint32_t heap = 0;
  if (plugin.has_pool()) {
    const Kind kind = kind_of(plugin, memory_of(plugin, buffer));
    if (kind.text[0] != 0 && std::strcmp(kind.text, "device") != 0) return true;
    heap = pools::heap_on(pools::Framework::xla, number_of(plugin, device_of(plugin, buffer)));
    address = pointer_of(plugin, buffer);
  } else {
    heap = heap_of(plugin, buffer);
  }
  if (heap == 0 || address == 0) return heap != 0;
  pools::report_block_from_before(heap, address, size_of(plugin, buffer));
  Line line;
  if (add_shape_of(line, plugin, buffer))
    pools::report_attribute(address, pools::text_of("array"), pools::text_of(line.text));
  return true;
}

void list_arguments(const Plugin& plugin, const ExecuteArguments& arguments, Program& program) {
  if (program.are_arguments_listed.load(std::memory_order_relaxed)) return;
  bool is_complete = true;  // A pool is known from its first call on.
  for (std::size_t device = 0; device < arguments.device_count; ++device)
    for (std::size_t i = 0; i < arguments.argument_count; ++i)
      is_complete = list_argument(plugin, arguments.argument_lists[device][i]) && is_complete;
  if (is_complete) program.are_arguments_listed.store(true, std::memory_order_relaxed);
}

// In a plugin without a pool: a block on each device while the program is executed.
class Temporaries {
 public:
  Temporaries(const Plugin& plugin, const Program& program, const ExecuteArguments& arguments)
      : program_(program), arguments_(arguments) {
    if (plugin.has_pool() || program.temporary_bytes == 0 || arguments.argument_count == 0) return;
    device_count_ = arguments.device_count < devices_max ? arguments.device_count : devices_max;
    for (std::size_t device = 0; device < device_count_; ++device) {
      heaps_[device] = heap_of(plugin, arguments.argument_lists[device][0]);
      if (heaps_[device] == 0) continue;
      pools::report_block(heaps_[device], name_of(device), program_.temporary_bytes, wire::unknown_bytes);
      pools::report_attribute(name_of(device), pools::text_of("array"), program_.temporaries);
    }
  }
  void end() {
    for (std::size_t device = 0; device < device_count_; ++device)
      if (heaps_[device] != 0) pools::report_free(heaps_[device], name_of(device));
  }

 private:
  static constexpr std::size_t devices_max = 64;
  // The arguments exist once for each execution in progress.
  std::uint64_t name_of(std::size_t device) const { return handle_of(&arguments_) + 1 + device; }

  const Program& program_;
  const ExecuteArguments& arguments_;
  std::size_t device_count_ = 0;
  std::uint32_t heaps_[devices_max];  // One for each of the first `device_count_`.
};

// Donated arguments are gone when the program has been given to the device.
void note_donations(const Plugin& plugin, const ExecuteArguments& arguments) {
  for (std::size_t device = 0; device < arguments.device_count; ++device)
    for (std::size_t i = 0; i < arguments.argument_count; ++i)
      if (Buffer* buffer = arguments.argument_lists[device][i]; buffer != nullptr && is_deleted(plugin, buffer))
        note_end(plugin, buffer);
}

Error* execute_instead(const Plugin& plugin, void* given) {
  const auto& arguments = *static_cast<const ExecuteArguments*>(given);
  Program* program = is_observed() ? program_of(plugin, arguments.executable) : nullptr;
  if (program == nullptr) return plugin.call(execute, given);
  if (came_late()) list_arguments(plugin, arguments, *program);
  const bool is_step = note_execution(*program);
  const std::uint32_t outer = rings.set_tag(program->name);
  Temporaries temporaries(plugin, *program, arguments);
  Error* error = plugin.call(execute, given);
  temporaries.end();
  if (!plugin.has_pool()) note_donations(plugin, arguments);
  if (error == nullptr && arguments.output_lists != nullptr) {
    for (std::size_t device = 0; device < arguments.device_count; ++device)
      for (std::uint32_t i = 0; i < program->output_count; ++i)
        note_array(plugin, arguments.output_lists[device][i], program->outputs[i]);
    wake_agent(is_step ? Occasion::step : Occasion::use);
  }
  rings.set_tag(outer);
  return error;
}

Error* buffer_from_host_instead(const Plugin& plugin, void* given) {
  auto* arguments = static_cast<FromHostArguments*>(given);
  Error* error = plugin.call(buffer_from_host, given);
  if (error != nullptr || !is_observed()) return error;
  Line line;
  add_shape(line, arguments->type, arguments->dimensions, arguments->rank);
  note_array(plugin, arguments->buffer, pools::text_of(line.add(" from the host").text));
  return error;
}

// The next ones are only replaced where the allocator is not seen.
template <class Arguments, Buffer* Arguments::*result>
Error* make_instead(const Plugin& plugin, Place place, void* given, const char* from) {
  Error* error = plugin.call(place, given);
  if (error == nullptr && is_observed()) note_copy(plugin, static_cast<Arguments*>(given)->*result, from);
  return error;
}

Error* end_instead(const Plugin& plugin, Place place, void* given) {
  if (is_observed()) note_end(plugin, static_cast<const Command<Buffer>*>(given)->object);
  return plugin.call(place, given);
}

}  // namespace

Error* call_instead(const Plugin& plugin, Place place, void* given) {
  switch (place) {
    case buffer_from_host: return buffer_from_host_instead(plugin, given);
    case execute: return execute_instead(plugin, given);
    case to_host_buffer:  // A thread of XLA copies.
      remember_place();
      return plugin.call(place, given);
    case buffer_destroy:
    case buffer_delete: return end_instead(plugin, place, given);
    case copy_to_device:
    case copy_to_memory: return make_instead<CopyArguments, &CopyArguments::copy>(plugin, place, given, " copied");
    case retrieve_buffer:
      return make_instead<RetrieveArguments, &RetrieveArguments::buffer>(plugin, place, given, " from the host");
    case create_uninitialized:
      return make_instead<UninitializedArguments, &UninitializedArguments::buffer>(plugin, place, given, "");
    default:
      forget_program(static_cast<const Command<LoadedExecutable>*>(given)->object);
      return plugin.call(place, given);
  }
}

}  // namespace hbmscope::inject::pjrt
