// The C API of a plugin (PJRT), as far as hbmscope uses it: a program with one output and a temporary, and arrays from
// the host. Arrays are blocks of one pool.
#include <cstring>
#include <vector>

#include "collector/abi/pjrt.h"
#include "tests/collector/pools/allocator.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED tsl::Allocator* make_pool(const char* name, std::size_t bytes, int memory_type);
EXPORTED void* allocate_in(tsl::Allocator* pool, std::size_t bytes);
EXPORTED void free_in(tsl::Allocator* pool, void* block);

namespace hbmscope::pjrt {

struct Buffer {
  void* block;
};
struct Executable {};
struct LoadedExecutable {
  Executable executable;
};

namespace {

constexpr std::size_t array_bytes = 4096, temporary_bytes = 100'000;
tsl::Allocator* pool = nullptr;
LoadedExecutable program;

Error* succeed(void*) {
  return nullptr;
}
Error* find_executable(void* given) {
  auto* arguments = static_cast<Query<LoadedExecutable, Executable*>*>(given);
  arguments->value = &arguments->object->executable;
  return nullptr;
}
Error* tell_name(void* given) {
  auto* arguments = static_cast<TextQuery<Executable>*>(given);
  arguments->text = "jit_step, and what is not part of the name";
  arguments->bytes = std::strlen("jit_step");
  return nullptr;
}
Error* tell_types(void* given) {
  static const int types[] = {11};
  auto* arguments = static_cast<ListQuery<Executable, const int>*>(given);
  arguments->items = types;
  arguments->count = 1;
  return nullptr;
}
Error* tell_dimensions(void* given) {
  static const std::int64_t dimensions[] = {8, 128};
  static const std::size_t ranks[] = {2};
  auto* arguments = static_cast<OutputDimensionsQuery<Executable>*>(given);
  arguments->count = 1;
  arguments->dimensions = dimensions;
  arguments->ranks = ranks;
  return nullptr;
}
Error* run(void* given) {
  const auto* arguments = static_cast<const ExecuteArguments*>(given);
  void* temporary = allocate_in(pool, temporary_bytes);
  arguments->output_lists[0][0] = new Buffer{allocate_in(pool, array_bytes)};
  free_in(pool, temporary);
  return nullptr;
}
Error* copy_from_host(void* given) {
  static_cast<FromHostArguments*>(given)->buffer = new Buffer{allocate_in(pool, array_bytes)};
  return nullptr;
}
Error* tell_pointer(void* given) {
  auto* arguments = static_cast<Query<Buffer, std::uintptr_t>*>(given);
  arguments->value = reinterpret_cast<std::uintptr_t>(arguments->object->block);
  return nullptr;
}

Api* make_api() {
  static Api api{};
  api.struct_bytes = sizeof(api);
  api.minor = 112;
  for (unsigned place = 0; place < places_needed; ++place) api.functions[place] = succeed;
  api.functions[get_executable] = find_executable;
  api.functions[executable_name] = tell_name;
  api.functions[output_types] = tell_types;
  api.functions[output_dimensions] = tell_dimensions;
  api.functions[execute] = run;
  api.functions[buffer_from_host] = copy_from_host;
  api.functions[buffer_pointer] = tell_pointer;
  return &api;
}

}  // namespace

EXPORTED Api* GetPjrtApi() {
  static Api* api = make_api();
  return api;
}

// Makes an array on the host's and on the program's way, through the table, as a framework would.
EXPORTED void use_pjrt() {
  Api* api = GetPjrtApi();
  if (pool == nullptr) pool = make_pool("GPU_0_bfc", std::size_t{64} << 20, 1);
  Buffer* output[1] = {};
  Buffer** outputs[1] = {output};
  ExecuteArguments executed{{sizeof(ExecuteArguments)}, &program, nullptr, nullptr, 1, 0, outputs};
  api->functions[execute](&executed);
  const std::int64_t dimensions[] = {1024};
  FromHostArguments copied{};
  copied.struct_bytes = sizeof(copied);
  copied.type = 4;
  copied.dimensions = dimensions;
  copied.rank = 1;
  api->functions[buffer_from_host](&copied);
}

}  // namespace hbmscope::pjrt
