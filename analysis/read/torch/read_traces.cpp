// The recorded history: one list of entries per device. A million entries is common, so everything here is a push to a
// reserved column. Entries are taken while the pickle is read: their dicts are never in memory all at once, and are
// processed while they are still in the cache.
#include "analysis/read/torch/snapshot_builder.h"

#include <algorithm>
#include <utility>

namespace hbmscope::torch {
namespace {

using pickle::Value;

constexpr std::array actions = {
    TorchAction::alloc,         TorchAction::free,         TorchAction::free_requested, TorchAction::free_completed,
    TorchAction::segment_alloc, TorchAction::segment_free, TorchAction::segment_map,    TorchAction::segment_unmap,
    TorchAction::snapshot,      TorchAction::oom};

constexpr std::uint64_t entry_bytes_usual = 48;  // Pickle bytes per entry; unused memory is never touched.

TorchAction action_from_text(std::string_view text) {
  for (const TorchAction action : actions)
    if (text_from_action(action) == text) return action;
  return TorchAction::unknown;
}

void reserve(TorchTrace& trace, std::size_t entries) {
  trace.action.reserve(entries);
  trace.address.reserve(entries);
  trace.size_bytes.reserve(entries);
  trace.time_us.reserve(entries);
  trace.stack.reserve(entries);
}

}  // namespace

// {"device_traces": [[entry, ...], [entry, ...]], ...}: the waiting values are the outermost dict, its keys and values
// so far, this key, the list of devices, and those of their lists that have begun. Only the end shows whether it really
// is the outermost dict.
bool SnapshotBuilder::wants(std::span<const Value> stack) {
  std::size_t key = stack.size();
  while (key > 0 && stack[key - 1].is(Value::Tag::list)) --key;
  if (key == 0 || stack.size() - key < 2 || document_.text(stack[key - 1]) != "device_traces") return false;
  root_ = stack.front();
  traces_list_ = stack[key];
  return true;
}

bool SnapshotBuilder::take(std::span<const Value> stack, std::span<const Value> items) {
  const auto traces = std::find(stack.rbegin(), stack.rend(), traces_list_);
  if (traces == stack.rend() || traces == stack.rbegin()) return false;  // Not found, or the list itself.
  const auto device = document_.items(traces_list_).size() + static_cast<std::size_t>(traces - stack.rbegin()) - 1;
  while (snapshot_.traces.size() <= device) begin_trace();
  Value& taken = taken_lists_[device];
  if (taken.is_missing()) {
    // In most jobs one device has all entries.
    if (!std::exchange(has_taken_, true))
      reserve(snapshot_.traces[device], static_cast<std::size_t>(snapshot_.pickle_bytes / entry_bytes_usual));
    taken = stack.back();
  }
  if (!(taken == stack.back()) || !document_.items(taken).empty()) return false;
  // Incomplete lists and dicts can't be used yet.
  stacks_.note_incomplete(stack);
  add_entries(items, snapshot_.traces[device]);
  stacks_.note_incomplete({});
  return !stacks_.has_met_incomplete() && !texts_.has_met_containers() && !has_met_list_for_pool_;
}

TorchTrace& SnapshotBuilder::begin_trace() {
  const auto device = static_cast<std::int32_t>(snapshot_.traces.size());
  taken_lists_.push_back(Value::missing());
  TorchTrace& trace = snapshot_.traces.emplace_back();
  trace.device = device;
  return trace;
}

// Returns false if the taken entries were not the history: the key was in another dict, or the lists were different
// ones.
bool SnapshotBuilder::add_traces(Value traces) {
  const auto lists = document_.items(traces);
  const std::size_t taken = snapshot_.traces.size();
  if (taken > lists.size() || (taken > 0 && !(traces == traces_list_))) return false;
  for (std::size_t device = 0; device < lists.size(); ++device) {
    if (!take_rows(1)) return true;
    TorchTrace& trace = device < taken ? snapshot_.traces[device] : begin_trace();
    if (!taken_lists_[device].is_missing()) {
      if (!(taken_lists_[device] == lists[device]) || !document_.items(lists[device]).empty()) return false;
    } else if (lists[device].is(Value::Tag::list)) {
      const auto entries = document_.items(lists[device]);
      reserve(trace, entries.size());
      add_entries(entries, trace);
    } else {
      ++odd_.traces;
    }
  }
  // The same list for two devices is the history of both, but was taken only once.
  std::vector<std::uint64_t> sorted;
  for (const Value list : lists) sorted.push_back(list.bits());
  std::sort(sorted.begin(), sorted.end());
  return std::all_of(taken_lists_.begin(), taken_lists_.end(), [&](Value list) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), list.bits());
    return list.is_missing() || last - first == 1;
  });
}

void SnapshotBuilder::add_entries(std::span<const Value> entries, TorchTrace& trace) {
  if (!take_rows(entries.size())) return;
  for (const Value entry : entries) {
    if (entry.is(Value::Tag::dict))
      add_entry(fields_.of(entry), trace);
    else
      ++odd_.entries;
    if (control_ != nullptr && (trace.size() & 0xffff) == 0 && control_->cancelled) {
      cancelled_ = true;
      return;
    }
  }
}

void SnapshotBuilder::add_entry(const ShapeFields::Record& record, TorchTrace& trace) {
  const auto entry = static_cast<std::uint32_t>(trace.size());
  const Value action_text = record.get(Field::action);
  const TorchAction action = this->action(action_text);
  const Value address = record.get(Field::addr), size = record.get(Field::size);
  if (action == TorchAction::oom) {
    trace.out_of_memory.push_back({entry, numbers_.size(record.get(Field::device_free), absent_bytes)});
  } else if (address.is_missing() && action != TorchAction::snapshot) {
    ++odd_.entries_without_address;
  }
  if (action == TorchAction::unknown) {
    trace.other_actions.push_back({entry, texts_.text(action_text)});
    if (odd_.actions++ == 0) odd_.first_action = document_.text(action_text).value_or("").substr(0, 100);
  }
  if (size.is_missing()) ++odd_.without_size;

  trace.action.push_back(action);
  trace.address.push_back(numbers_.address(address));
  trace.size_bytes.push_back(numbers_.size(size, 0));
  trace.stream.push_back(numbers_.integer(record.get(Field::stream), 0));
  trace.time_us.push_back(numbers_.integer(record.get(Field::time_us), absent_time));
  trace.stack.push_back(stacks_.stack(record.get(Field::frames)));
  trace.user_metadata.push_back(texts_.text(record.get(Field::user_metadata)));
  trace.pool.push_back(pool(record.get(Field::pool_id)));
  trace.compile_context.push_back(texts_.text(record.get(Field::compile_context)));
}

TorchPoolId SnapshotBuilder::pool(Value id) {
  const auto numbers = document_.items(id);
  if (numbers.size() < 2) return {};
  has_met_list_for_pool_ = has_met_list_for_pool_ || !document_.is_tuple(id);
  return {numbers_.address(numbers[0]), numbers_.address(numbers[1]), true};
}

TorchAction SnapshotBuilder::action(Value text) {
  if (!text.is(Value::Tag::text)) return TorchAction::unknown;
  auto& [number, known] = known_actions_[text.number() % known_actions_.size()];
  if (number != text.number()) {
    number = text.number();
    known = action_from_text(*document_.text(text));
  }
  return known;
}

}  // namespace hbmscope::torch
