#include "analysis/query/same_memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/layers.h"
#include "analysis/trace/lent_stacks.h"
#include "analysis/trace/same_process.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

constexpr std::size_t by_size_max = 16;

template <class Visit>
void for_each_block(const StreamState& state, std::uint32_t heap, const Visit& visit) {
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap && block.is_live() && block.has_address()) visit(block);
}

std::size_t count_of_size(const StreamState& state, std::uint32_t heap, const LiveBlock& block) {
  std::size_t count = 0;
  for_each_block(state, heap, [&](const LiveBlock& one) { count += can_be_same(one, block) ? 1 : 0; });
  return count;
}

void find_by_size(const StreamState& state, const SameMemory& of, const LiveBlock& block,
                  std::vector<SameMemory>& found) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, SameMemory> kinds;  // By stack and tag.
  std::size_t there = 0;
  for_each_block(state, of.heap, [&](const LiveBlock& one) {
    if (!can_be_same(one, block)) return;
    ++there;
    const auto [kind, is_new] = kinds.try_emplace({one.stack, one.tag}, of);
    if (is_new)
      kind->second.place = {PlaceAt::What::block, {one.address, one.address + one.size}, one.slot};
    else
      ++kind->second.alike;
  });
  std::vector<SameMemory> sorted;
  for (auto& [key, one] : kinds) {
    one.there = there;
    sorted.push_back(std::move(one));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SameMemory& a, const SameMemory& b) { return a.alike > b.alike; });
  if (sorted.size() > by_size_max) sorted.resize(by_size_max);
  found.insert(found.end(), sorted.begin(), sorted.end());
}

}  // namespace

std::string ambiguity_text(const SameMemory& same) {
  if (!same.is_ambiguous()) return {};
  if (same.alike < same.there)
    return fmt::format("ambiguous: {} of {} candidates", text_from_count(same.alike), text_from_count(same.there));
  return fmt::format("ambiguous: {} for {} blocks of this size", text_from_count(same.there),
                     text_from_count(same.here));
}

std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range) {
  std::vector<SameMemory> found;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  const HeapInfo& own = trace.streams[stream].definitions().heap(heap);
  const std::string process = process_of(trace, stream);
  const PlaceAt here = find_place(states[stream], heap, range.begin);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    if (process_of(trace, i) != process) continue;
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if ((i == stream && info.id == heap) || !can_share_memory(own, info)) continue;
      SameMemory same{i, info.id, {}, labels[i][info.id]};
      if (!is_matched_by_size(own, info)) {
        same.place = find_place(states[i], info.id, range.begin);
        if (same.place.what == PlaceAt::What::block) found.push_back(std::move(same));
      } else if (i != stream && here.slot) {
        const LiveBlock& block = states[stream].slots()[*here.slot];
        same.is_by_size = true;
        same.here = count_of_size(states[stream], heap, block);
        find_by_size(states[i], same, block, found);
      }
    }
  }
  return found;
}

namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;  // Address and size; without addresses 0 and the size class.

void compare(const StreamState& state, const StreamState& other, SharedHeap& shared) {
  const auto key_of = [&](const LiveBlock& block) {
    return shared.is_by_size ? Key{0, size_class_of(block)} : Key{block.address, block.size};
  };
  std::map<Key, std::uint64_t> left;
  for_each_block(other, shared.other_heap, [&](const LiveBlock& block) { ++left[key_of(block)]; });
  for_each_block(state, shared.heap, [&](const LiveBlock& block) {
    ++shared.blocks;
    shared.bytes += block.size;
    const auto same = left.find(key_of(block));
    if (same == left.end() || same->second == 0) return;
    --same->second;
    ++shared.found;
    shared.found_bytes += block.size;
  });
}

}  // namespace

std::vector<SharedHeap> find_shared_heaps(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<SharedHeap> found;
  if (trace.stream_processes.empty()) return found;  // It comes from one file.
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  const auto counts = find_counted_heaps(trace);
  const auto lent = find_lent_stacks(trace, states);
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) {
      if (heap.id == 0 || counts[i][heap.id]) continue;
      for (std::size_t j = 0; j < trace.streams.size(); ++j) {
        if (j == i || trace.stream_processes[i] != trace.stream_processes[j]) continue;
        for (const HeapInfo& other : trace.streams[j].definitions().heaps()) {
          if (!can_share_memory(heap, other) || !counts[j][other.id]) continue;
          SharedHeap shared{i, j, heap.id, other.id, labels[i][heap.id], labels[j][other.id]};
          shared.is_by_size = is_matched_by_size(heap, other);
          compare(states[i], states[j], shared);
          for (const LiveBlock& block : states[j].slots())
            if (block.heap == other.id && !lent[j].empty() && lent[j][block.slot].stack != 0 &&
                lent[j][block.slot].stream == i)
              ++shared.stacks_lent;
          if (shared.found > 0) found.push_back(std::move(shared));
        }
      }
    }
  return found;
}

std::string text_from_shared_heap(const SharedHeap& shared) {
  std::string text = fmt::format("{} of {} ({} of {}) of {} are in {}, found by their {}",
                                 text_from_count(shared.found), text_from_count_of(shared.blocks, "block"),
                                 text_from_bytes(shared.found_bytes), text_from_bytes(shared.bytes), shared.label,
                                 shared.other_label, shared.is_by_size ? "sizes" : "addresses and sizes");
  if (shared.stacks_lent > 0)
    text += fmt::format("; the code of {} there is known from it", text_from_count_of(shared.stacks_lent, "block"));
  return text;
}

}  // namespace hbmscope
