// The table of functions that JAX gets: as long as libtpu's, and of the same version.
#include <array>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <type_traits>

#include "allocator/emulated/tpu/plugin/functions.h"
#include "allocator/emulated/tpu/plugin/settings.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

template <Function function>
Error* passed_on(void* arguments) {
  return Libtpu::get()->pass_on(function, arguments);
}

void note_unsupported(Function function) {
  static std::mutex mutex;
  static std::array<bool, function_count> was_said{};
  const std::lock_guard lock(mutex);
  bool& is_said = was_said[static_cast<unsigned>(function)];
  if (std::exchange(is_said, true)) return;
  std::fprintf(stderr, "hbmscope: PJRT_%s is not emulated; the program gets an error\n", name_of(function));
  if (Client* client = find_client(); client != nullptr && client->account->unsupported.text[0] == 0)
    client->account->unsupported.set(name_of(function));
}

template <Function function>
Error* unsupported(void*) {
  note_unsupported(function);
  return make_error(ErrorCode::unimplemented, std::string("hbmscope's emulated TPU has no PJRT_") + name_of(function));
}

// Nothing is thrown into the host.
template <class Arguments, Error* (*function)(Arguments*)>
Error* guarded(Arguments* given) noexcept {
  try {
    return function(given);
  } catch (const std::exception& error) {
    return make_error(ErrorCode::internal, std::string("hbmscope's emulated TPU: ") + error.what());
  }
}
template <class Arguments>
Arguments* arguments_of(Error* (*function)(Arguments*));

// The answers of functions.inc: `own` is a function of that name.
#define HBMSCOPE_TPU_own(name) \
  reinterpret_cast<void*>(&guarded<std::remove_pointer_t<decltype(arguments_of(&name))>, &name>)
#define HBMSCOPE_TPU_passed_on(name) reinterpret_cast<void*>(&passed_on<Function::name>)
#define HBMSCOPE_TPU_unsupported(name) reinterpret_cast<void*>(&unsupported<Function::name>)

// Watchers find functions by these places.
#define SAME_PLACE(name, place) static_assert(static_cast<unsigned>(Function::name) == pjrt::place)
SAME_PLACE(Error_Destroy, error_destroy);
SAME_PLACE(Client_BufferFromHostBuffer, buffer_from_host);
SAME_PLACE(DeviceDescription_DebugString, device_text);
SAME_PLACE(Device_GetDescription, device_description);
SAME_PLACE(Device_LocalHardwareId, device_hardware_id);
SAME_PLACE(Memory_Kind, memory_kind);
SAME_PLACE(Executable_Destroy, executable_destroy);
SAME_PLACE(Executable_Name, executable_name);
SAME_PLACE(LoadedExecutable_Destroy, loaded_executable_destroy);
SAME_PLACE(LoadedExecutable_GetExecutable, get_executable);
SAME_PLACE(LoadedExecutable_Execute, execute);
SAME_PLACE(Buffer_Destroy, buffer_destroy);
SAME_PLACE(Buffer_ElementType, buffer_element_type);
SAME_PLACE(Buffer_Dimensions, buffer_dimensions);
SAME_PLACE(Buffer_OnDeviceSizeInBytes, buffer_size);
SAME_PLACE(Buffer_Device, buffer_device);
SAME_PLACE(Buffer_Memory, buffer_memory);
SAME_PLACE(Buffer_Delete, buffer_delete);
SAME_PLACE(Buffer_IsDeleted, buffer_is_deleted);
SAME_PLACE(Buffer_CopyToDevice, copy_to_device);
SAME_PLACE(Buffer_ToHostBuffer, to_host_buffer);
SAME_PLACE(Buffer_UnsafePointer, buffer_pointer);
SAME_PLACE(Executable_OutputElementTypes, output_types);
SAME_PLACE(Executable_OutputDimensions, output_dimensions);
SAME_PLACE(Buffer_CopyToMemory, copy_to_memory);
SAME_PLACE(Executable_GetCompiledMemoryStats, memory_stats);
SAME_PLACE(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve_buffer);
SAME_PLACE(Client_CreateUninitializedBuffer, create_uninitialized);
#undef SAME_PLACE

const Api* make_table() {
  const Libtpu* libtpu = Libtpu::get();
  if (libtpu == nullptr) return nullptr;
  // A newer libtpu has a longer table; functions that aren't known here would be called with nothing behind them.
  static Api api = {std::min(sizeof(Api), libtpu->api().struct_bytes),
                    make_extensions(*libtpu),
                    libtpu->api().version_struct_bytes,
                    nullptr,
                    libtpu->api().major,
                    libtpu->api().minor,
                    {
#define HBMSCOPE_PJRT(name, answer) HBMSCOPE_TPU_##answer(name),
#include "allocator/emulated/tpu/plugin/functions.inc"
#undef HBMSCOPE_PJRT
                    }};
  return &api;
}

}  // namespace
}  // namespace hbmscope::allocator::tpu::plugin

extern "C" __attribute__((visibility("default"))) const void* GetPjrtApi() {
  static const auto* api = hbmscope::allocator::tpu::plugin::make_table();
  return api;
}
