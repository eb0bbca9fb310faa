// Definitions in the rings' shared memory: texts, frames, stacks, heaps, modules and facts, each with the next number.
#include <cstring>

#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

constexpr std::size_t text_bytes_max = 4096, fact_bytes_max = 65'000;

}  // namespace

// `record` gets the number after `last`. 0 if there is no room.
template <class Record>
std::uint32_t Rings::define(Record record, std::uint32_t& last, const char* text, std::size_t text_bytes) {
  definitions_lock_.lock();
  std::uint32_t id = 0;
  const std::uint64_t end = header_->definitions_end;
  const bool has_room = end + row_bytes(sizeof(Record), text_bytes) <= header_->definitions_bytes;
  if (is_open() && has_room) {
    id = ++last;
    if constexpr (requires { record.id; })
      record.id = id;
    else if constexpr (requires { record.frame; })
      record.frame = id;
    const std::uint64_t bytes = put_row(bytes_ + header_->definitions_offset + end, 0, record, text, text_bytes);
    std::atomic_ref(header_->definitions_end).store(end + bytes, std::memory_order_release);
  } else if (!has_room) {
    std::atomic_ref(header_->definitions_lost).store(header_->definitions_lost + 1, std::memory_order_relaxed);
  }
  definitions_lock_.unlock();
  return id;
}

std::uint32_t Rings::define_string(const char* text) {
  if (text == nullptr || *text == 0) return 0;
  return define(wire::StringRecord{}, strings_, text, strnlen(text, text_bytes_max));
}

std::uint32_t Rings::define_frame(const char* function, const char* file, std::uint32_t line) {
  wire::FrameRecord record;
  record.function = define_string(function);
  record.file = define_string(file);
  record.line = line;
  return define(record, frames_);
}

std::uint32_t Rings::define_code_frame(std::uint64_t address, std::uint32_t module) {
  wire::CodeRecord record;
  record.address = address;
  record.module = module;
  return define(record, frames_);
}

std::uint32_t Rings::define_module(wire::ModuleRecord module, const char* path, const char* build_id) {
  module.path = define_string(path);
  module.build_id = define_string(build_id);
  return define(module, modules_);
}

std::uint32_t Rings::define_stack(std::uint32_t parent, std::uint32_t frame) {
  wire::StackRecord record;
  record.parent = parent;
  record.frame = frame;
  return define(record, stacks_);
}

std::uint32_t Rings::define_heap(wire::HeapRecord heap, const char* name, const char* memory_kind) {
  heap.name = define_string(name);
  heap.memory_kind = define_string(memory_kind);
  return define(heap, heaps_);
}

void Rings::define_job_fact(const char* key, const char* value) {
  std::uint32_t none = 0;  // It has no number.
  const std::size_t bytes = strnlen(value, fact_bytes_max);
  const std::uint32_t said = bytes == 0 ? 0 : define(wire::StringRecord{}, strings_, value, bytes);
  define(wire::JobRecord{define_string(key), said}, none);
}

}  // namespace hbmscope::inject
