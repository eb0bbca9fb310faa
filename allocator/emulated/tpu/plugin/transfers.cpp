// Arrays that are made first and filled part by part. They take their memory when they are made.
#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {

struct TransferManager {
  void* table = nullptr;
  Memory* memory = nullptr;
  std::vector<Buffer*> buffers;  // Null once retrieved.
  std::vector<std::size_t> bytes;
};

Error* Client_CreateBuffersForAsyncHostToDevice(CreateBuffersArguments* given) {
  Client& client = *given->client;
  auto manager = std::make_unique<TransferManager>();
  manager->memory = given->memory;
  const std::lock_guard lock(client.mutex);
  for (std::size_t i = 0; i < given->shape_count; ++i) {
    const ShapeSpec& shape = given->shapes[i];
    std::vector<std::int64_t> dimensions(shape.dimensions, shape.dimensions + shape.rank);
    const std::string text = i < given->layout_count ? text_from_layout(given->layouts[i]) : std::string();
    const ArrayLayout* layout = layout_or_default(client.topology, *client.generation, shape.type, dimensions, text);
    Error* error = nullptr;
    manager->bytes.push_back(layout->bytes);
    manager->buffers.push_back(make_buffer(client, shape.type, std::move(dimensions), layout, given->memory, error));
    if (error == nullptr) continue;
    manager->buffers.pop_back();
    for (Buffer* buffer : manager->buffers) {
      release(*buffer);
      delete buffer;
    }
    return error;
  }
  given->manager = manager.release();
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_Destroy(Command<TransferManager>* given) {
  Client& client = *find_client();
  const std::lock_guard lock(client.mutex);
  for (Buffer* buffer : given->object->buffers)
    if (buffer != nullptr) {
      release(*buffer);
      delete buffer;
    }
  delete given->object;
  return nullptr;
}

// Values that come in parts aren't kept: such arrays read as zeros.
Error* AsyncHostToDeviceTransferManager_TransferData(TransferArguments* given) {
  given->done = make_ready_event();
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_RetrieveBuffer(ManagerItemArguments<Buffer*>* given) {
  given->value = std::exchange(given->manager->buffers[static_cast<std::size_t>(given->index)], nullptr);
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_Device(Query<TransferManager, Device*>* given) {
  given->value = given->object->memory->device;
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_BufferCount(Query<TransferManager, std::size_t>* given) {
  given->value = given->object->buffers.size();
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_BufferSize(ManagerItemArguments<std::size_t>* given) {
  given->value = given->manager->bytes[static_cast<std::size_t>(given->index)];
  return nullptr;
}

Error* AsyncHostToDeviceTransferManager_AddMetadata(Head*) {
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
