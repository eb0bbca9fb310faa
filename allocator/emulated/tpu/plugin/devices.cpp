#include <cstring>

#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

// A program that was built with an older version knows only the first fields.
template <class Arguments, class Field>
bool knows(const Arguments* given, const Field& field) {
  return reinterpret_cast<const char*>(&field + 1) <= reinterpret_cast<const char*>(given) + given->struct_bytes;
}

template <class Field>
void set(const MemoryStats* given, std::int64_t& figure, Field& is_set, std::uint64_t bytes) {
  if (!knows(given, is_set)) return;
  figure = static_cast<std::int64_t>(bytes);
  is_set = true;
}

}  // namespace

// Every host's devices are one process's.
Error* DeviceDescription_ProcessIndex(Query<DeviceDescription, int>* given) {
  given->value = 0;
  return nullptr;
}

Error* Device_GetDescription(Query<Device, DeviceDescription*>* given) {
  given->value = given->object->description;
  return nullptr;
}

Error* Device_IsAddressable(Query<Device, bool>* given) {
  given->value = true;
  return nullptr;
}

Error* Device_LocalHardwareId(Query<Device, int>* given) {
  given->value = given->object->number;
  return nullptr;
}

Error* Device_AddressableMemories(ListQuery<Device, Memory*>* given) {
  given->items = given->object->memory_pointers.data();
  given->count = given->object->memory_pointers.size();
  return nullptr;
}

Error* Device_DefaultMemory(Query<Device, Memory*>* given) {
  given->value = given->object->default_memory;
  return nullptr;
}

Error* Device_MemoryStats(MemoryStats* given) {
  const std::lock_guard lock(find_client()->mutex);
  const DeviceBooks& books = *given->device->books;
  const HbmMemory& memory = books.memory();
  const Head head = *given;
  Device* const device = given->device;
  std::memset(static_cast<void*>(given), 0, std::min(head.struct_bytes, sizeof(MemoryStats)));
  static_cast<Head&>(*given) = head;
  given->device = device;
  given->in_use = static_cast<std::int64_t>(memory.buffer_bytes());
  set(given, given->peak_in_use, given->has_peak_in_use, books.statistics_peak_bytes());
  set(given, given->allocations, given->has_allocations, books.allocations());
  set(given, given->largest_allocation, given->has_largest_allocation, books.largest_allocation_bytes());
  set(given, given->limit, given->has_limit, memory.usable_bytes());
  set(given, given->reserved, given->has_reserved, memory.reserved_bytes());
  set(given, given->peak_reserved, given->has_peak_reserved, books.peak_reserved_bytes());
  set(given, given->reservable, given->has_reservable, memory.reservable_bytes());
  set(given, given->largest_free, given->has_largest_free, memory.largest_free_bytes());
  return nullptr;
}

// Newer JAX asks the device for its coordinates, older JAX its description.
Error* Device_GetAttributes(DeviceAttributesArguments* given) {
  CountedListQuery<DeviceDescription, const NamedValue> attributes{{}, given->device->description, 0, nullptr};
  if (auto fault = Libtpu::get()->call(Function::DeviceDescription_Attributes, attributes))
    return make_error(fault->code, fault->text);
  given->attributes = attributes.items;
  given->count = attributes.count;
  given->owner = nullptr;
  given->deleter = [](void*) {};  // They live as long as the topology.
  return nullptr;
}

Error* Device_ClearMemoryStats(Command<Device>* given) {
  const std::lock_guard lock(find_client()->mutex);
  given->object->books->forget_statistics_peak();
  return nullptr;
}

Error* Memory_Id(Query<Memory, int>* given) {
  given->value = given->object->id;
  return nullptr;
}

Error* Memory_Kind(TextQuery<Memory>* given) {
  given->text = given->object->kind.data();
  given->bytes = given->object->kind.size();
  return nullptr;
}

Error* Memory_Kind_Id(Query<Memory, int>* given) {
  given->value = given->object->kind_id;
  return nullptr;
}

Error* Memory_DebugString(TextQuery<Memory>* given) {
  given->text = given->object->text.data();
  given->bytes = given->object->text.size();
  return nullptr;
}

Error* Memory_ToString(TextQuery<Memory>* given) {
  return Memory_DebugString(given);
}

Error* Memory_AddressableByDevices(ListQuery<Memory, Device*>* given) {
  given->items = &given->object->device;
  given->count = 1;
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
