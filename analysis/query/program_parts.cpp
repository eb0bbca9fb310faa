#include "analysis/query/program_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/query/event_rows.h"
#include "analysis/trace/stream_state.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t rounding = 256;  // In XLA's BFC allocator.

bool is_program_heap(const HeapInfo& heap) {
  constexpr std::uint32_t has_plan = wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
  return heap.id != 0 && heap.layer == wire::Layer::program && (heap.flags & has_plan) == has_plan;
}

std::string_view attribute_of(const Stream& stream, std::uint64_t allocation, std::string_view key) {
  if (allocation == wire::before_the_stream) return {};
  std::string_view value;
  for (const Attribute& one : stream.attributes().find(allocation))
    if (stream.definitions().text(one.key) == key) value = stream.definitions().text(one.value);
  return value;
}

// "jit_step(17)" is a compilation of jit_step.
std::string_view without_number(std::string_view program) {
  return program.substr(0, program.find('('));
}

// "f32[8,4]{1,0:T(8,128)}" holds an array "f32[8,4]".
bool is_same_shape(std::string_view one, std::string_view other) {
  const auto bare = [](std::string_view shape) { return shape.substr(0, shape.find('{')); };
  return bare(one) == bare(other);
}

}  // namespace

ProgramParts::ProgramParts(const Trace& trace) : trace_(trace), is_program_(trace.streams.size()) {
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const std::vector<HeapInfo>& heaps = trace.streams[i].definitions().heaps();
    is_program_[i] = std::any_of(heaps.begin(), heaps.end(), is_program_heap);
    if (is_program_[i]) add_program(i);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) by_size_.emplace(parts_[i].range.size(), i);
  if (!parts_.empty()) labels_ = labels_of(trace);
}

// A region is an allocation. One block fills it, unless it holds temporaries.
void ProgramParts::add_program(std::size_t number) {
  const Stream& stream = trace_.streams[number];
  const Definitions& definitions = stream.definitions();
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> begins;  // By heap and address.
  const std::string_view name = definitions.job_fact("hlo_module");
  for (const EventRow& row : compute_event_rows(stream, 0, stream.end_position())) {
    if (!row.address || !row.size || !is_program_heap(definitions.heap(row.heap))) continue;
    if (row.kind == wire::RecordKind::region_grow) {
      begins[{row.heap, *row.address}] = parts_.size();
      parts_.push_back({number, row.heap, {*row.address, *row.address + *row.size}, name, "temporary", {}, {}});
    }
    if (row.kind != wire::RecordKind::alloc) continue;
    const auto found = begins.find({row.heap, *row.address});
    if (found == begins.end() || parts_[found->second].range.size() != *row.size) continue;
    ProgramPart& part = parts_[found->second];
    part.kind = attribute_of(stream, row.event, "kind");
    if (part.kind.empty()) part.kind = "value";
    if (part.is_temporary()) continue;
    part.value = definitions.text(row.text);
    part.shape = attribute_of(stream, row.event, "shape");
  }
}

std::vector<ProgramPart> ProgramParts::find(std::size_t stream, const LiveBlock& block) const {
  std::vector<ProgramPart> found;
  if (parts_.empty() || is_program_[stream] || !block.has_address()) return found;
  // Without the requested size, whatever the allocator rounds up to the block's.
  const bool is_known = block.requested != wire::unknown_bytes;
  const std::uint64_t most = is_known ? block.requested : block.size;
  const std::uint64_t least = is_known ? most : most - std::min(most, rounding - 1);
  if (!is_known && most < rounding) return found;
  for (auto each = by_size_.lower_bound(least); each != by_size_.end() && each->first <= most; ++each)
    found.push_back(parts_[each->second]);
  if (found.empty()) return found;
  // Not by size.
  std::sort(found.begin(), found.end(), [](const ProgramPart& a, const ProgramPart& b) {
    return std::tuple(a.stream, a.heap, a.range.begin) < std::tuple(b.stream, b.heap, b.range.begin);
  });
  const auto keep = [&](const auto& fits) {
    std::erase_if(found, [&](const ProgramPart& each) { return !fits(each); });
  };
  const auto prefer = [&](const auto& fits) {
    if (std::any_of(found.begin(), found.end(), fits)) keep(fits);
  };
  // From the allocator's events, or from a recording, whose tags are names of programs.
  const Stream& pool = trace_.streams[stream];
  std::string_view running = attribute_of(pool, block.event, "program");
  if (running.empty()) running = pool.definitions().text(block.tag);
  if (const std::string_view array = labels_[stream].array(block.event); !array.empty()) {
    keep([&](const ProgramPart& each) { return !each.is_temporary(); });
    prefer([&](const ProgramPart& each) { return is_same_shape(each.shape, array.substr(0, array.find(' '))); });
  }
  prefer([&](const ProgramPart& each) {
    return !running.empty() && without_number(each.program) == without_number(running) &&
           each.kind.find("argument") == std::string_view::npos;
  });
  return found;
}

std::vector<ProgramValue> find_program_values(const Trace& trace, const ProgramPart& part) {
  const Stream& stream = trace.streams[part.stream];
  std::vector<ProgramValue> values;
  std::unordered_map<std::uint64_t, std::size_t> of_allocation;
  for (const EventRow& row : compute_event_rows(stream, 0, stream.end_position())) {
    if (row.heap != part.heap || !row.address || !row.size) continue;
    if (row.kind == wire::RecordKind::alloc && part.range.begin <= *row.address && *row.address < part.range.end) {
      of_allocation[row.event] = values.size();
      ProgramValue& value = values.emplace_back();
      value.offset = *row.address - part.range.begin;
      value.size = *row.size;
      value.begin = row.event;
      value.end = stream.end_position();
      value.tag = row.text;
      value.stack = row.stack;
      value.shape = attribute_of(stream, row.event, "shape");
    } else if (row.kind == wire::RecordKind::free && row.allocation) {
      if (const auto found = of_allocation.find(*row.allocation); found != of_allocation.end())
        values[found->second].end = row.event;
    }
  }
  return values;
}

std::string text_from_parts(const std::vector<ProgramPart>& parts) {
  constexpr std::size_t named_max = 3;
  std::set<std::string> texts;
  std::set<std::size_t> programs;
  for (const ProgramPart& part : parts) {
    programs.insert(part.stream);
    const std::string program = part.program.empty() ? "a program" : std::string(part.program);
    texts.insert(part.is_temporary()  ? "temporaries of " + program
                 : part.value.empty() ? fmt::format("{} of {}", part.kind, program)
                                      : fmt::format("{} {} of {}", part.kind, part.value, program));
  }
  if (texts.size() > named_max)
    return fmt::format("one of {} allocations of {} programs", parts.size(), programs.size());
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", or ") + each;
  return text;
}

std::vector<ProgramBlock> find_program_blocks(const Trace& trace, const std::vector<StreamState>& states,
                                              const ProgramParts& parts) {
  std::vector<ProgramBlock> blocks;
  if (parts.is_empty()) return blocks;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    std::uint32_t slot = 0;
    for (const LiveBlock& block : states[i].slots()) {
      const std::uint32_t own_slot = slot++;
      if (!block.is_live()) continue;
      std::vector<ProgramPart> found = parts.find(i, block);
      const bool holds_temporaries =
          std::any_of(found.begin(), found.end(), [](const ProgramPart& part) { return part.is_temporary(); });
      if (!holds_temporaries) continue;
      blocks.push_back({i, own_slot, std::move(found)});
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(), [&](const ProgramBlock& a, const ProgramBlock& b) {
    return states[a.stream].slots()[a.slot].size > states[b.stream].slots()[b.slot].size;
  });
  return blocks;
}

}  // namespace hbmscope
