#include "analysis/trace/definitions.h"

#include <algorithm>

namespace hbmscope {
namespace {

// Enough for any job. A larger heap id must be damage, and would cost memory in every state.
constexpr std::uint32_t heaps_max = 65'536, heap_gap_max = 1024;
// A damaged file may repeat a name of a megabyte ten thousand times.
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

// All our writers assign ids in ascending order without gaps. A gap is a lost block, whose definitions read as empty.
// The budget keeps a damaged id from creating a table of four billion rows. Existing definitions never change, because
// others may be reading them.
bool Definitions::may_be_next(std::uint64_t size, std::uint32_t id) {
  const std::uint64_t next = size + 1;
  if (id >= next && id <= next + gap_budget_) {
    note_missing(id - next);
    return true;
  }
  ++bad_definitions_;
  return false;
}

void Definitions::note_missing(std::uint64_t count) {
  missing_definitions_ += count;
  gap_budget_ -= std::min(gap_budget_, count);
}

template <class Row>
void Definitions::define(SharedLog<Row>& rows, std::uint32_t id, const Row& row) {
  if (id != 0 && id <= rows.size() && rows[id - 1] == row) return;  // Repeated.
  if (!may_be_next(rows.size(), id)) return;
  while (rows.size() + 1 < id) rows.push_back({});
  rows.push_back(row);
}

void Definitions::add(const wire::DecodedBlock& block) {
  // A keyframe repeats definitions: names that it skips stay missing and contradict nothing.
  const bool is_keyframe = block.header().type == wire::BlockType::keyframe;
  const std::uint64_t bad_before = bad_definitions_;
  const auto strings = block.rows<wire::StringRecord>();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string_view new_text = block.text(i);
    const std::uint32_t id = strings[i].id;
    if (id != 0 && id <= texts_.size() && text(id) == new_text) continue;
    if (!may_be_next(texts_.size(), id)) continue;
    while (texts_.size() + 1 < id) texts_.push_back({});
    texts_.push_back({characters_.append_together(std::span(new_text.data(), new_text.size())),
                      static_cast<std::uint32_t>(new_text.size())});
  }
  std::vector<wire::FrameRecord> names;
  for (const wire::FrameRecord& record : block.rows<wire::FrameRecord>()) {
    const TraceFrame frame{record.function, record.file, record.line};
    if (record.id != 0 && record.id <= frames_.size() && frames_[record.id - 1] != frame)
      names.push_back(record);
    else
      define(frames_, record.id, frame);
  }
  name_frames(block, names);
  for (const wire::StackRecord& record : block.rows<wire::StackRecord>()) {
    // A caller is defined before the stacks that it calls, so chains end whatever a file contains.
    const bool is_sound = record.parent < record.id;
    if (!is_sound) ++bad_definitions_;
    define(stacks_, record.id, {is_sound ? record.parent : 0, record.frame});
  }
  for (const wire::HeapRecord& record : block.rows<wire::HeapRecord>()) {
    if (record.id == 0 || record.id >= heaps_max || record.id > heaps_.size() + heap_gap_max) {
      ++bad_definitions_;
      continue;
    }
    if (record.id >= heaps_.size()) {
      note_missing(record.id - heaps_.size());
      heaps_.resize(record.id + std::size_t{1});
    }
    HeapInfo& heap = heaps_[record.id];
    const std::uint32_t first_block = heap.id == 0 ? block.header().sequence : heap.defined_in_block;
    heap = {record.id,
            record.parent,
            std::string(text(record.name).substr(0, name_bytes_max)),
            std::string(text(record.memory_kind).substr(0, name_bytes_max)),
            record.device,
            static_cast<wire::Layer>(record.layer),
            record.flags,
            first_block,
            std::string(text(record.uuid).substr(0, name_bytes_max))};
  }
  for (const wire::ModuleRecord& record : block.rows<wire::ModuleRecord>())
    define(modules_, record.id, {record.base, record.size, record.path, record.build_id});
  for (const wire::JobRecord& record : block.rows<wire::JobRecord>()) {
    if (is_keyframe && facts_reported_.contains({record.key, record.value})) continue;
    if (facts_reported_.size() < job_facts_max) facts_reported_.emplace(record.key, record.value);
    if (job_.size() < job_facts_max)
      job_.push_back({std::string(text(record.key).substr(0, name_bytes_max)),
                      std::string(text(record.value).substr(0, value_bytes_max))});
    else
      ++bad_definitions_;
  }
  if (is_keyframe) bad_definitions_ = bad_before;
}

// Code frames may be defined again with a name that was found later; other redefinitions are contradictions.
void Definitions::name_frames(const wire::DecodedBlock& block, const std::vector<wire::FrameRecord>& names) {
  const auto codes = block.rows<wire::CodeRecord>();
  if (codes.empty() && names.empty()) return;
  if (late_names_ == nullptr)
    late_names_ = std::make_shared<std::vector<LateName>>();
  else if (late_names_.use_count() > 1)
    late_names_ = std::make_shared<std::vector<LateName>>(*late_names_);
  for (const wire::CodeRecord& code : codes) {
    if (code.frame == 0 || code.frame > frames_.size()) {
      ++bad_definitions_;
      continue;
    }
    if (late_names_->size() < code.frame) late_names_->resize(code.frame);
    LateName& late = (*late_names_)[code.frame - 1];
    late.has_code = true;
    late.module = code.module;
  }
  for (const wire::FrameRecord& name : names) {
    if (name.id > late_names_->size() || !(*late_names_)[name.id - 1].has_code) {
      ++bad_definitions_;
      continue;
    }
    LateName& late = (*late_names_)[name.id - 1];
    late.frame = {name.function, name.file, name.line};
    late.is_named = true;
  }
}

std::string_view Definitions::text(std::uint32_t string) const {
  if (string == 0 || string > texts_.size()) return {};
  const Text& text = texts_[string - 1];
  return {characters_.together(text.begin, text.bytes).data(), text.bytes};
}

TraceFrame Definitions::frame(std::uint32_t frame) const {
  if (frame != 0 && late_names_ != nullptr && frame <= late_names_->size())
    if (const LateName& late = (*late_names_)[frame - 1]; late.is_named) return late.frame;
  return frame != 0 && frame <= frames_.size() ? frames_[frame - 1] : TraceFrame{};
}

bool Definitions::is_code(std::uint32_t frame) const {
  return frame != 0 && late_names_ != nullptr && frame <= late_names_->size() && (*late_names_)[frame - 1].has_code;
}

std::string_view Definitions::code_file(std::uint32_t frame) const {
  if (!is_code(frame)) return {};
  const std::uint32_t module = (*late_names_)[frame - 1].module;
  return module != 0 && module <= modules_.size() ? text(modules_[module - 1].path) : std::string_view();
}

TraceStack Definitions::stack(std::uint32_t stack) const {
  return stack != 0 && stack <= stacks_.size() ? stacks_[stack - 1] : TraceStack{};
}

const HeapInfo& Definitions::heap(std::uint32_t id) const {
  return id < heaps_.size() ? heaps_[id] : heaps_[0];
}

std::uint32_t Definitions::find_module(std::uint64_t address) const {
  for (std::size_t id = modules_.size(); id > 0; --id)
    if (address - modules_[id - 1].base < modules_[id - 1].size) return static_cast<std::uint32_t>(id);
  return 0;
}

std::string_view Definitions::job_fact(std::string_view key) const {
  for (const JobFact& fact : job_)
    if (fact.key == key) return fact.value;
  return {};
}

std::uint64_t Definitions::memory_bytes() const {
  return characters_.capacity() + texts_.capacity() * sizeof(Text) + frames_.capacity() * sizeof(TraceFrame) +
         (late_names_ != nullptr ? late_names_->capacity() * sizeof(LateName) : 0) +
         stacks_.capacity() * sizeof(TraceStack) + modules_.capacity() * sizeof(ModuleInfo) +
         heaps_.capacity() * sizeof(HeapInfo);
}

}  // namespace hbmscope
