// Arrays: made from host data, copied, read and freed.
#include <algorithm>
#include <cstring>
#include <span>

#include "allocator/emulated/accounts/value_reads.h"
#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

constexpr const char* deleted_text = "Buffer has been deleted or donated.";

Error* deleted_error() {
  return make_error(ErrorCode::invalid_argument, deleted_text);
}

const ArrayLayout* layout_for(const Client& client, int type, const std::vector<std::int64_t>& dimensions,
                              const BufferLayout* wanted) {
  return layout_or_default(client.topology, *client.generation, type, dimensions, text_from_layout(wanted));
}

// As the caller wants it; otherwise in the order that the array has on the device.
std::vector<std::int64_t> host_strides(const Buffer& buffer, const BufferLayout* wanted, std::uint64_t bytes_of_value) {
  if (wanted == nullptr) return strides_from(buffer.dimensions, buffer.layout->minor_to_major, bytes_of_value);
  // In the union strides have their pointer and count where tiled layouts have the order of dimensions.
  const std::span numbers(wanted->tiled.minor_to_major, wanted->tiled.minor_to_major_count);
  if (wanted->kind == BufferLayout::has_strides) return {numbers.begin(), numbers.end()};
  return strides_from(buffer.dimensions, numbers, bytes_of_value);
}

Error* copy_to(Buffer& from, Memory* memory, Buffer*& copy) {
  Client& client = *find_client();
  const std::lock_guard lock(client.mutex);
  if (from.is_deleted) return deleted_error();
  Error* error = nullptr;
  copy = make_buffer(client, from.type, from.dimensions, from.layout, memory, error);
  if (copy != nullptr) copy->values = from.values;
  return error;
}

}  // namespace

Buffer* make_buffer(Client& client, int type, std::vector<std::int64_t> dimensions, const ArrayLayout* layout,
                    Memory* memory, Error*& error) {
  Block* block = nullptr;
  std::uint64_t host_address = 0;
  DeviceBooks& books = *memory->device->books;
  if (memory->is_hbm() && layout->bytes != 0) {
    block = books.allocate(layout->bytes, layout->unpadded_bytes);
    if (block == nullptr) {
      error = make_error(ErrorCode::resource_exhausted, books.refuse(layout->bytes, {}));
      return nullptr;
    }
  } else {
    const std::uint64_t bytes = memory->is_hbm() ? 0 : host_bytes(type, dimensions);
    constexpr std::uint64_t page = 4096;
    host_address = client.next_host_address;
    client.next_host_address += std::max(page, bytes + page);
    books.note_host(memory->device->host_bytes += bytes);
  }
  if (layout->is_guessed) ++client.account->guessed_layouts;
  auto* buffer = new Buffer;
  buffer->type = type;
  buffer->dimensions = std::move(dimensions);
  buffer->layout = layout;
  buffer->memory = memory;
  buffer->block = block;
  buffer->host_address = host_address;
  return buffer;
}

void release(Buffer& buffer) {
  if (buffer.is_deleted) return;
  buffer.is_deleted = true;
  buffer.values.reset();
  Device& device = *buffer.memory->device;
  if (buffer.block != nullptr) {
    device.books->free(buffer.block);
    buffer.block = nullptr;
  } else if (!buffer.memory->is_hbm()) {
    device.host_bytes -= host_bytes(buffer.type, buffer.dimensions);
  }
}

Error* Client_BufferFromHostBuffer(FromHostArguments* given) {
  Client& client = *given->client;
  std::vector<std::int64_t> dimensions(given->dimensions, given->dimensions + given->rank);
  const ArrayLayout* layout = layout_for(client, given->type, dimensions, given->layout);
  Memory* memory = given->memory != nullptr ? given->memory : given->device->default_memory;
  const std::lock_guard lock(client.mutex);
  Error* error = nullptr;
  Buffer* buffer = make_buffer(client, given->type, std::move(dimensions), layout, memory, error);
  if (buffer == nullptr) return error;
  buffer->values = keep_values(client.host_room, given->data, buffer->dimensions,
                               std::span(given->byte_strides, given->byte_strides != nullptr ? given->stride_count : 0),
                               host_bytes_of_value(given->type));
  given->buffer = buffer;
  given->done = make_ready_event();
  return nullptr;
}

Error* Client_CreateUninitializedBuffer(UninitializedArguments* given) {
  Client& client = *given->client;
  std::vector<std::int64_t> dimensions(given->dimensions, given->dimensions + given->rank);
  const ArrayLayout* layout = layout_for(client, given->type, dimensions, given->layout);
  const std::lock_guard lock(client.mutex);
  Error* error = nullptr;
  given->buffer = make_buffer(client, given->type, std::move(dimensions), layout,
                              given->memory != nullptr ? given->memory : given->device->default_memory, error);
  return error;
}

Error* Buffer_Destroy(Command<Buffer>* given) {
  Buffer* buffer = given->object;
  if (buffer == nullptr) return nullptr;
  Client& client = *find_client();
  const std::lock_guard lock(client.mutex);
  release(*buffer);
  delete buffer;
  return nullptr;
}

Error* Buffer_Delete(Command<Buffer>* given) {
  Client& client = *find_client();
  const std::lock_guard lock(client.mutex);
  release(*given->object);
  return nullptr;
}

Error* Buffer_IsDeleted(Query<Buffer, bool>* given) {
  const std::lock_guard lock(find_client()->mutex);
  given->value = given->object->is_deleted;
  return nullptr;
}

Error* Buffer_ElementType(Query<Buffer, int>* given) {
  given->value = given->object->type;
  return nullptr;
}

Error* Buffer_Dimensions(ListQuery<Buffer, const std::int64_t>* given) {
  given->items = given->object->dimensions.data();
  given->count = given->object->dimensions.size();
  return nullptr;
}

Error* Buffer_UnpaddedDimensions(ListQuery<Buffer, const std::int64_t>* given) {
  return Buffer_Dimensions(given);
}

Error* Buffer_DynamicDimensionIndices(ListQuery<Buffer, const std::size_t>* given) {
  given->items = nullptr;
  given->count = 0;
  return nullptr;
}

Error* Buffer_GetMemoryLayout(LayoutArguments* given) {
  const ArrayLayout& layout = *given->buffer->layout;
  given->layout = {};
  given->layout.struct_bytes = sizeof(BufferLayout);
  given->layout.kind = BufferLayout::is_tiled;
  TiledLayout& tiled = given->layout.tiled;
  tiled.struct_bytes = sizeof(TiledLayout);
  tiled.minor_to_major = layout.minor_to_major.data();
  tiled.minor_to_major_count = layout.minor_to_major.size();
  tiled.tile_dimensions = layout.tile_dimensions.data();
  tiled.tile_ranks = layout.tile_ranks.data();
  tiled.tile_count = layout.tile_ranks.size();
  return nullptr;
}

Error* Buffer_OnDeviceSizeInBytes(Query<Buffer, std::size_t>* given) {
  const Buffer& buffer = *given->object;
  given->value = buffer.memory->is_hbm() ? buffer.layout->bytes : host_bytes(buffer.type, buffer.dimensions);
  return nullptr;
}

Error* Buffer_Device(Query<Buffer, Device*>* given) {
  given->value = given->object->memory->device;
  return nullptr;
}

Error* Buffer_Memory(Query<Buffer, Memory*>* given) {
  given->value = given->object->memory;
  return nullptr;
}

Error* Buffer_CopyToDevice(CopyArguments* given) {
  return copy_to(*given->buffer, static_cast<Device*>(given->to)->find_memory(given->buffer->memory->kind),
                 given->copy);
}

Error* Buffer_CopyToMemory(CopyArguments* given) {
  return copy_to(*given->buffer, static_cast<Memory*>(given->to), given->copy);
}

Error* Buffer_ToHostBuffer(ToHostArguments* given) {
  const std::lock_guard lock(find_client()->mutex);
  const Buffer& buffer = *given->buffer;
  if (buffer.is_deleted) return deleted_error();
  buffer.memory->device->books->catch_up();
  const std::uint64_t bytes = host_bytes(buffer.type, buffer.dimensions);
  if (given->to == nullptr) {
    given->bytes = bytes;
    return nullptr;
  }
  if (given->bytes < bytes)
    return make_error(ErrorCode::invalid_argument, "the host's memory is too small for the array");
  const std::uint64_t bytes_of_value = host_bytes_of_value(buffer.type);
  write_array(buffer.values, given->to, buffer.dimensions, host_strides(buffer, given->layout, bytes_of_value),
              bytes_of_value);
  if (buffer.values == nullptr) device::note_value_read(bytes);
  given->event = make_ready_event();
  return nullptr;
}

Error* Buffer_CopyRawToHost(RawToHostArguments* given) {
  const std::lock_guard lock(find_client()->mutex);
  if (given->buffer->is_deleted) return deleted_error();
  // Raw bytes are in the device's order; those of one dimension are in the host's, too.
  const bool is_flat = given->buffer->dimensions.size() < 2;
  if (!is_flat || given->buffer->values == nullptr) device::note_value_read(static_cast<std::uint64_t>(given->bytes));
  write_values(is_flat ? given->buffer->values : nullptr, given->to, static_cast<std::uint64_t>(given->offset),
               static_cast<std::uint64_t>(given->bytes));
  given->event = make_ready_event();
  return nullptr;
}

Error* Buffer_IsOnCpu(Query<Buffer, bool>* given) {
  given->value = false;
  return nullptr;
}

Error* Buffer_ReadyEvent(Query<Buffer, Event*>* given) {
  const std::lock_guard lock(find_client()->mutex);
  given->value = make_ready_event();
  given->object->memory->device->books->catch_up();
  if (given->object->is_deleted) {
    given->value->code = ErrorCode::invalid_argument;
    given->value->text = deleted_text;
  }
  return nullptr;
}

Error* Buffer_UnsafePointer(Query<Buffer, std::uintptr_t>* given) {
  const std::lock_guard lock(find_client()->mutex);
  given->value = given->object->address();
  return nullptr;
}

Error* Buffer_IncreaseExternalReferenceCount(Command<Buffer>*) {
  return nullptr;
}

Error* Buffer_DecreaseExternalReferenceCount(Command<Buffer>*) {
  return nullptr;
}

Error* Buffer_OpaqueDeviceMemoryDataPointer(Query<Buffer, void*>* given) {
  const std::lock_guard lock(find_client()->mutex);
  given->value = reinterpret_cast<void*>(given->object->address());
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
