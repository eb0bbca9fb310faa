// The recorded history: one list of entries for each device. A million entries is usual, so everything here is a push
// to a column that was reserved.
#include "analysis/read/torch/snapshot_builder.h"

#include <limits>

namespace hbmscope::torch {
namespace {

using pickle::Value;

constexpr std::array actions = {
    TorchAction::alloc,         TorchAction::free,         TorchAction::free_requested, TorchAction::free_completed,
    TorchAction::segment_alloc, TorchAction::segment_free, TorchAction::segment_map,    TorchAction::segment_unmap,
    TorchAction::snapshot,      TorchAction::oom};

TorchAction action_from_text(std::string_view text) {
  for (const TorchAction action : actions)
    if (text_from_action(action) == text) return action;
  return TorchAction::unknown;
}

void reserve(TorchTrace& trace, std::size_t entries) {
  trace.action.reserve(entries);
  trace.address.reserve(entries);
  trace.size_bytes.reserve(entries);
  trace.stream.reserve(entries);
  trace.time_us.reserve(entries);
  trace.stack.reserve(entries);
  trace.user_metadata.reserve(entries);
  trace.compile_context.reserve(entries);
}

}  // namespace

void SnapshotBuilder::add_traces(Value traces) {
  for (const Value entries : document_.items(traces)) {
    const auto device = static_cast<std::int32_t>(snapshot_.traces.size());
    if (!take_rows(1)) return;
    TorchTrace& trace = snapshot_.traces.emplace_back();
    trace.device = device;
    if (entries.is(Value::Tag::list))
      add_trace(entries, trace);
    else
      ++odd_.traces;
  }
}

void SnapshotBuilder::add_trace(Value entries, TorchTrace& trace) {
  const auto items = document_.items(entries);
  if (!take_rows(items.size())) return;
  reserve(trace, items.size());
  for (const Value entry : items) {
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
  trace.compile_context.push_back(texts_.text(record.get(Field::compile_context)));
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
