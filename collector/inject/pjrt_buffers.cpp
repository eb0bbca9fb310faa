#include "collector/inject/pjrt_buffers.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "collector/inject/driver_rows.h"
#include "collector/inject/line.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/patch.h"
#include "collector/inject/pjrt_types.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/python_agent.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

using namespace pjrt;

constexpr Place patched[] = {buffer_from_host, execute, loaded_executable_destroy};

struct Plugin {
  std::atomic<Api*> api{nullptr};
  Function originals[places_needed] = {};
};
Plugin plugin;  // A process has one for GPUs.
SpinLock taking;

Error* call(Place place, void* arguments) {
  return plugin.originals[place](arguments);
}
// True if the call succeeded.
bool succeeds(Place place, void* arguments) {
  Error* error = call(place, arguments);
  if (error == nullptr) return true;
  ErrorArguments destroyed{{sizeof(ErrorArguments)}, error};
  call(error_destroy, &destroyed);
  return false;
}

void add_shape(Line& line, int type, const std::int64_t* dimensions, std::size_t rank) {
  line.add(name_of_type(type)).add("[");
  for (std::size_t i = 0; i < rank; ++i) {
    if (i > 0) line.add(",");
    line.add_number(static_cast<unsigned>(dimensions[i]));
  }
  line.add("]");
}

// Texts of executables, defined at their first execution.
struct Program {
  std::atomic<const LoadedExecutable*> is{nullptr};
  std::uint32_t name = 0;  // A text, like the next ones.
  std::uint32_t step = 0;  // "step (jit_train_step)"
  std::uint32_t output_count = 0;
  std::uint32_t* outputs = nullptr;
  std::uint64_t output_bytes = 0;
  std::atomic<std::uint32_t> executions{0};
};
constexpr std::size_t programs_max = 4096, output_texts_max = std::size_t{1} << 20;
Program programs[programs_max];
std::uint32_t* output_texts = nullptr;  // Sparse; of all programs.
std::size_t output_texts_used = 0;
SpinLock programs_lock;
const char gone = 0;  // Its address stands for a program that was destroyed.

std::size_t home_of(const LoadedExecutable* executable) {
  return (reinterpret_cast<std::uintptr_t>(executable) >> 4) * 0x9e3779b97f4a7c15U >> 52;
}

Program* find(const LoadedExecutable* executable) {
  for (std::size_t i = 0, at = home_of(executable); i < programs_max; ++i, at = (at + 1) % programs_max) {
    const LoadedExecutable* is = programs[at].is.load(std::memory_order_acquire);
    if (is == executable) return &programs[at];
    if (is == nullptr) return nullptr;
  }
  return nullptr;
}

// A training step is the program that is executed again and again and has the most outputs, in bytes. Each execution is
// marked. A program that is not executed any more gives way to the next one. Nothing is lost if two threads disagree
// about it for a moment.
std::atomic<std::uint64_t> step_output_bytes{0};
std::atomic<std::uint32_t> executions_since_step{0};

bool note_step(Program& program) {
  constexpr std::uint32_t executions_min = 3;
  if (program.executions.fetch_add(1, std::memory_order_relaxed) + 1 < executions_min) return false;
  constexpr std::uint32_t others_max = 256;
  if (executions_since_step.fetch_add(1, std::memory_order_relaxed) > others_max)
    step_output_bytes.store(0, std::memory_order_relaxed);
  const std::uint64_t most = step_output_bytes.load(std::memory_order_relaxed);
  if (program.output_bytes < most) return false;
  executions_since_step.store(0, std::memory_order_relaxed);
  if (program.output_bytes > most) step_output_bytes.store(program.output_bytes, std::memory_order_relaxed);
  wire::MarkerRecord record;
  record.name = program.step;
  record.device = wire::no_device;
  rings.add_of_driver(record);
  return true;
}

void describe(Program& program, Executable* executable) {
  Line name;
  NameArguments named{{sizeof(NameArguments)}, executable};
  if (!succeeds(executable_name, &named)) return;
  const std::size_t bytes = named.name_bytes < sizeof(name.text) - 1 ? named.name_bytes : sizeof(name.text) - 1;
  char text[sizeof(name.text)] = "";
  std::memcpy(text, named.name, bytes);
  program.name = rings.define_string(text);
  program.step = rings.define_string(Line().add("step (").add(text).add(")").text);
  OutputTypesArguments types{{sizeof(OutputTypesArguments)}, executable};
  OutputDimensionsArguments shapes{{sizeof(OutputDimensionsArguments)}, executable};
  if (!succeeds(output_types, &types) || !succeeds(output_dimensions, &shapes) || types.count != shapes.count) return;
  if (output_texts == nullptr) {
    void* at = mmap(nullptr, output_texts_max * sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    output_texts = static_cast<std::uint32_t*>(at);
  }
  if (output_texts_max - output_texts_used < types.count) return;
  program.outputs = output_texts + output_texts_used;
  program.output_count = static_cast<std::uint32_t>(types.count);
  output_texts_used += types.count;
  const std::int64_t* dimensions = shapes.dimensions;
  for (std::size_t i = 0; i < types.count; ++i) {
    Line output;
    add_shape(output, types.types[i], dimensions, shapes.ranks[i]);
    output.add(" output ").add_number(static_cast<unsigned>(i)).add(" of ").add(text);
    program.outputs[i] = rings.define_string(output.text);
    std::uint64_t elements = 1;
    for (std::size_t each = 0; each < shapes.ranks[i]; ++each) elements *= static_cast<std::uint64_t>(dimensions[each]);
    program.output_bytes += elements * bits_of_type(types.types[i]) / 8;
    dimensions += shapes.ranks[i];
  }
}

// The program's texts; null: there is no room.
Program* program_of(LoadedExecutable* executable) {
  if (Program* known = find(executable)) return known;
  // Asked before the lock is taken, as the plugin has locks of its own.
  GetExecutableArguments got{{sizeof(GetExecutableArguments)}, executable};
  if (!succeeds(get_executable, &got)) return nullptr;
  programs_lock.lock();
  Program* program = find(executable);
  for (std::size_t i = 0, at = home_of(executable); program == nullptr && i < programs_max;
       ++i, at = (at + 1) % programs_max) {
    const void* is = programs[at].is.load(std::memory_order_relaxed);
    if (is != nullptr && is != &gone) continue;
    program = &programs[at];
    program->name = program->step = program->output_count = 0;
    program->output_bytes = 0;
    program->executions.store(0, std::memory_order_relaxed);
    describe(*program, got.executable);
    program->is.store(executable, std::memory_order_release);
  }
  programs_lock.unlock();
  ExecutableArguments destroyed{{sizeof(ExecutableArguments)}, got.executable};
  succeeds(executable_destroy, &destroyed);
  return program;
}

void name_block_of(Buffer* buffer, std::uint32_t text) {
  if (buffer == nullptr || text == 0) return;
  PointerArguments asked{{sizeof(PointerArguments)}, buffer};
  if (!succeeds(buffer_pointer, &asked) || asked.pointer == 0) return;
  pools::report_attribute(asked.pointer, pools::text_of("array"), text);
}

Error* execute_instead(void* given) {
  const auto* arguments = static_cast<const ExecuteArguments*>(given);
  Program* program = is_observed() ? program_of(arguments->executable) : nullptr;
  if (program == nullptr) return call(execute, given);
  const bool is_step = note_step(*program);
  const std::uint32_t outer = rings.set_tag(program->name);
  Error* error = call(execute, given);
  rings.set_tag(outer);
  if (error != nullptr || arguments->output_lists == nullptr) return error;
  for (std::size_t device = 0; device < arguments->device_count; ++device)
    for (std::uint32_t i = 0; i < program->output_count; ++i)
      name_block_of(arguments->output_lists[device][i], program->outputs[i]);
  wake_agent(is_step ? Occasion::step : Occasion::use);
  return error;
}

Error* buffer_from_host_instead(void* given) {
  auto* arguments = static_cast<FromHostArguments*>(given);
  Error* error = call(buffer_from_host, given);
  if (error != nullptr || !is_observed()) return error;
  Line line;
  add_shape(line, arguments->type, arguments->dimensions, arguments->rank);
  line.add(" from the host");
  name_block_of(arguments->buffer, pools::text_of(line.text));
  return error;
}

Error* destroy_instead(void* given) {
  const auto* arguments = static_cast<const ExecutableArguments*>(given);
  if (Program* known = find(static_cast<const LoadedExecutable*>(arguments->executable))) {
    programs_lock.lock();
    known->is.store(reinterpret_cast<const LoadedExecutable*>(&gone), std::memory_order_release);
    programs_lock.unlock();
  }
  return call(loaded_executable_destroy, given);
}

Function stand_in(Place place) {
  switch (place) {
    case buffer_from_host: return buffer_from_host_instead;
    case execute: return execute_instead;
    default: return destroy_instead;
  }
}

std::uintptr_t* slot_of(Api* api, Place place) {
  return reinterpret_cast<std::uintptr_t*>(&api->functions[place]);
}

}  // namespace

void take_pjrt_of(const void* address_in_library) {
  void* get = find_function_in_object_of(address_in_library, "GetPjrtApi");
  if (get == nullptr) return;
  Api* api = reinterpret_cast<Api* (*)()>(get)();
  constexpr int newest_major = 0;
  if (api == nullptr || api->major != newest_major || api->struct_bytes < sizeof(Api)) return;
  taking.lock();
  Api* known = plugin.api.load(std::memory_order_relaxed);
  if (known == nullptr || known == api) {
    for (unsigned place = 0; place < places_needed; ++place)
      if (api->functions[place] != stand_in(static_cast<Place>(place))) plugin.originals[place] = api->functions[place];
    plugin.api.store(api, std::memory_order_release);
    for (const Place place : patched)
      store_word(slot_of(api, place), reinterpret_cast<std::uintptr_t>(stand_in(place)));
  }
  taking.unlock();
}

void leave_pjrt() {
  taking.lock();
  if (Api* api = plugin.api.load(std::memory_order_relaxed); api != nullptr && is_loaded(api))
    for (const Place place : patched)
      if (*slot_of(api, place) == reinterpret_cast<std::uintptr_t>(stand_in(place)))
        store_word(slot_of(api, place), reinterpret_cast<std::uintptr_t>(plugin.originals[place]));
  taking.unlock();
}

void forget_pjrt_texts() {
  taking.unlock();
  programs_lock.unlock();
  for (Program& program : programs) program.is.store(nullptr, std::memory_order_relaxed);
  output_texts_used = 0;
  step_output_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject
