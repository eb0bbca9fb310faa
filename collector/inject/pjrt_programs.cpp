#include "collector/inject/pjrt_programs.h"

#include <sys/mman.h>

#include "collector/inject/driver_rows.h"
#include "collector/inject/rings.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject {
namespace pjrt {

void add_shape(Line& line, int type, const std::int64_t* dimensions, std::size_t rank) {
  line.add(name_of_type(type)).add("[");
  for (std::size_t i = 0; i < rank; ++i) {
    if (i > 0) line.add(",");
    line.add_number(static_cast<unsigned>(dimensions[i]));
  }
  line.add("]");
}

namespace {

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

void report_memory(const char* name, const CompiledMemoryQuery<Executable>& memory) {
  const auto bytes = [](std::int64_t count) { return count > 0 ? static_cast<std::uint64_t>(count) : 0; };
  Line key, value;
  key.add(wire::program_facts.data()).add(name);
  value.add("arguments=").add_number(bytes(memory.arguments)).add(" outputs=").add_number(bytes(memory.outputs));
  value.add(" aliased=").add_number(bytes(memory.aliased)).add(" temporaries=");
  value.add_number(bytes(memory.temporaries)).add(" code=").add_number(bytes(memory.code));
  rings.define_job_fact(key.text, value.text);
}

void describe(const Plugin& plugin, Program& program, Executable* executable) {
  TextQuery<Executable> named{{sizeof(named)}, executable};
  if (!plugin.succeeds(executable_name, &named)) return;
  char text[sizeof(Line::text)] = "";
  copy_text(text, named.text, named.bytes);
  program.name = rings.define_string(text);
  program.step = rings.define_string(Line().add("step (").add(text).add(")").text);
  program.temporaries = rings.define_string(Line().add("temporaries of ").add(text).text);
  CompiledMemoryQuery<Executable> memory{{sizeof(memory)}, executable};
  if (plugin.succeeds(memory_stats, &memory)) {
    report_memory(text, memory);
    if (!plugin.has_pool() && memory.temporaries > 0)
      program.temporary_bytes = static_cast<std::uint64_t>(memory.temporaries);
  }
  ListQuery<Executable, const int> types{{sizeof(types)}, executable};
  OutputDimensionsQuery<Executable> shapes{{sizeof(shapes)}, executable};
  if (!plugin.succeeds(output_types, &types) || !plugin.succeeds(output_dimensions, &shapes) ||
      types.count != shapes.count)
    return;
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
    add_shape(output, types.items[i], dimensions, shapes.ranks[i]);
    output.add(" output ").add_number(static_cast<unsigned>(i)).add(" of ").add(text);
    program.outputs[i] = rings.define_string(output.text);
    std::uint64_t elements = 1;
    for (std::size_t each = 0; each < shapes.ranks[i]; ++each) elements *= static_cast<std::uint64_t>(dimensions[each]);
    program.output_bytes += elements * bits_of_type(types.items[i]) / 8;
    dimensions += shapes.ranks[i];
  }
}

}  // namespace

bool note_execution(Program& program) {
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

Program* program_of(const Plugin& plugin, LoadedExecutable* executable) {
  if (Program* known = find(executable)) return known;
  // Asked before the lock is taken, as the plugin has locks of its own.
  Query<LoadedExecutable, Executable*> got{{sizeof(got)}, executable};
  if (!plugin.succeeds(get_executable, &got)) return nullptr;
  programs_lock.lock();
  Program* program = find(executable);
  for (std::size_t i = 0, at = home_of(executable); program == nullptr && i < programs_max;
       ++i, at = (at + 1) % programs_max) {
    const void* is = programs[at].is.load(std::memory_order_relaxed);
    if (is != nullptr && is != &gone) continue;
    program = &programs[at];
    program->name = program->step = program->temporaries = program->output_count = 0;
    program->output_bytes = program->temporary_bytes = 0;
    program->are_arguments_listed.store(false, std::memory_order_relaxed);
    program->executions.store(0, std::memory_order_relaxed);
    describe(plugin, *program, got.value);
    program->is.store(executable, std::memory_order_release);
  }
  programs_lock.unlock();
  Command<void> destroyed{{sizeof(destroyed)}, got.value};
  plugin.succeeds(executable_destroy, &destroyed);
  return program;
}

void forget_program(const LoadedExecutable* executable) {
  Program* known = find(executable);
  if (known == nullptr) return;
  programs_lock.lock();
  known->is.store(reinterpret_cast<const LoadedExecutable*>(&gone), std::memory_order_release);
  programs_lock.unlock();
}

}  // namespace pjrt

void forget_pjrt_programs() {
  using namespace pjrt;
  programs_lock.unlock();
  for (Program& program : programs) program.is.store(nullptr, std::memory_order_relaxed);
  output_texts_used = 0;
  step_output_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject
