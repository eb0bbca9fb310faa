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
