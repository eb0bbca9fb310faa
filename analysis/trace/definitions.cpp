#include "analysis/trace/definitions.h"

#include <algorithm>

namespace hbmscope {
namespace {

// Enough for any job; beyond it a heap id is damage, and would cost memory in every state.
constexpr std::uint32_t heaps_max = 65'536, heap_gap_max = 1024;
// A damaged file may name a megabyte ten thousand times.
constexpr std::size_t name_bytes_max = 512, value_bytes_max = 65'536, job_facts_max = 4096;

}  // namespace

std::string_view text_from_layer(wire::Layer layer) {
  switch (layer) {
    case wire::Layer::physical: return "physical";
    case wire::Layer::pool: return "pool";
    case wire::Layer::chunk: return "chunk";
    case wire::Layer::framework: return "framework";
    case wire::Layer::program: return "program";
  }
  return "unknown";
}

// Ids come in ascending order without gaps from every writer of ours. A gap is a lost block, whose definitions read as
// empty; a damaged id must not make a table of four billion rows.
template <class Column>
bool Definitions::make_room(Column& column, std::uint32_t id) {
  if (id == 0 || id > column.size() + gap_budget_) {
    ++bad_definitions_;
    return false;
  }
  if (id >= column.size()) {
    note_missing(id - column.size());
    column.resize(id + std::size_t{1});
  }
  return true;
}

void Definitions::note_missing(std::uint64_t count) {
  missing_definitions_ += count;
  gap_budget_ -= std::min(gap_budget_, count);
}

bool Definitions::make_room_for_text(std::uint32_t id) {
  const std::uint64_t next = text_begin_.size() - 1;
  if (id < next || id > next + gap_budget_) {
    ++bad_definitions_;
    return false;
  }
  note_missing(id - next);
  text_begin_.resize(id + std::size_t{1}, text_.size());
  return true;
}

void Definitions::add(const wire::DecodedBlock& block) {
  const auto strings = block.rows<wire::StringRecord>();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (!make_room_for_text(strings[i].id)) continue;
    text_ += block.text(i);
    text_begin_.push_back(text_.size());
  }
  for (const wire::FrameRecord& record : block.rows<wire::FrameRecord>())
    if (make_room(frames_, record.id)) frames_[record.id] = {record.function, record.file, record.line};
  for (const wire::StackRecord& record : block.rows<wire::StackRecord>()) {
    if (!make_room(stacks_, record.id)) continue;
    // A caller is defined before the stack that it calls: chains end, whatever a file says.
    const bool is_sound = record.parent < record.id;
    if (!is_sound) ++bad_definitions_;
    stacks_[record.id] = {is_sound ? record.parent : 0, record.frame};
  }
  for (const wire::HeapRecord& record : block.rows<wire::HeapRecord>()) {
    if (record.id >= heaps_max || record.id > heaps_.size() + heap_gap_max) {
      ++bad_definitions_;
      continue;
    }
    if (!make_room(heaps_, record.id)) continue;
    HeapInfo& heap = heaps_[record.id];
    const std::uint32_t first_block = heap.id == 0 ? block.header().sequence : heap.defined_in_block;
    heap = {record.id,
            record.parent,
            std::string(text(record.name).substr(0, name_bytes_max)),
            std::string(text(record.memory_kind).substr(0, name_bytes_max)),
            record.device,
            static_cast<wire::Layer>(record.layer),
            record.flags,
            first_block};
  }
  for (const wire::ModuleRecord& record : block.rows<wire::ModuleRecord>())
    if (make_room(modules_, record.id)) modules_[record.id] = {record.base, record.size, record.path, record.build_id};
  for (const wire::JobRecord& record : block.rows<wire::JobRecord>()) {
    if (job_.size() < job_facts_max)
      job_.push_back({std::string(text(record.key).substr(0, name_bytes_max)),
                      std::string(text(record.value).substr(0, value_bytes_max))});
    else
      ++bad_definitions_;
  }
}

std::string_view Definitions::text(std::uint32_t string) const {
  if (string + std::uint64_t{1} >= text_begin_.size()) return {};
  return std::string_view(text_).substr(text_begin_[string], text_begin_[string + 1] - text_begin_[string]);
}

TraceFrame Definitions::frame(std::uint32_t frame) const {
  return frame < frames_.size() ? frames_[frame] : TraceFrame{};
}

TraceStack Definitions::stack(std::uint32_t stack) const {
  return stack < stacks_.size() ? stacks_[stack] : TraceStack{};
}

const HeapInfo& Definitions::heap(std::uint32_t id) const {
  return id < heaps_.size() ? heaps_[id] : heaps_[0];
}

std::uint32_t Definitions::find_module(std::uint64_t address) const {
  for (std::size_t id = modules_.size() - 1; id > 0; --id)
    if (address - modules_[id].base < modules_[id].size) return static_cast<std::uint32_t>(id);
  return 0;
}

std::string_view Definitions::job_fact(std::string_view key) const {
  for (const JobFact& fact : job_)
    if (fact.key == key) return fact.value;
  return {};
}

std::uint64_t Definitions::memory_bytes() const {
  return text_.capacity() + text_begin_.capacity() * sizeof(std::uint64_t) + frames_.capacity() * sizeof(TraceFrame) +
         stacks_.capacity() * sizeof(TraceStack) + modules_.capacity() * sizeof(ModuleInfo) +
         heaps_.capacity() * sizeof(HeapInfo);
}

}  // namespace hbmscope
