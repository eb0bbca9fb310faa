#include "analysis/read/torch/stack_builder.h"

#include <algorithm>
#include <limits>

namespace hbmscope::torch {
namespace {

using pickle::Value;

std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = (a * 0x9e3779b97f4a7c15) ^ (b * 0xc2b2ae3d27d4eb4f);
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9;
  return hash ^ hash >> 32;
}

// `equal(number)` tells whether that row is the wanted one; `hash_row(number)` is for moving rows to a larger table.
// The reader assigns the numbers in the keys itself, so a file can't force collisions.
template <class Equal, class HashRow>
std::uint32_t* find_slot(std::vector<std::uint32_t>& slots, std::size_t rows, std::uint64_t hash, Equal equal,
                         HashRow hash_row) {
  if (rows * 2 >= slots.size()) {
    slots.assign(std::max<std::size_t>(1024, slots.size() * 4), 0);
    const std::size_t mask = slots.size() - 1;
    for (std::uint32_t i = 0; i < rows; ++i) {
      std::size_t slot = hash_row(i) & mask;
      while (slots[slot] != 0) slot = (slot + 1) & mask;
      slots[slot] = i + 1;
    }
  }
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = hash & mask;
  while (slots[slot] != 0 && !equal(slots[slot] - 1)) slot = (slot + 1) & mask;
  return &slots[slot];
}

std::uint64_t hash_frame(const TorchFrame& frame) {
  return hash_of(std::uint64_t{row(frame.function)} << 32 | row(frame.file), static_cast<std::uint32_t>(frame.line));
}

}  // namespace

StackBuilder::StackBuilder(const pickle::Document& document, ShapeFields& fields, TextBuilder& texts,
                           TorchStacks& stacks)
    : document_(document), fields_(fields), texts_(texts), stacks_(stacks) {
  stacks_.caller.push_back(TorchStackId::none);
  stacks_.innermost.push_back(static_cast<TorchFrameId>(0));
}

std::uint32_t StackBuilder::intern_frame(const TorchFrame& frame) {
  std::uint32_t* slot = find_slot(
      frame_slots_, stacks_.frames.size(), hash_frame(frame),
      [&](std::uint32_t i) {
        const TorchFrame& known = stacks_.frames[i];
        return known.function == frame.function && known.file == frame.file && known.line == frame.line;
      },
      [&](std::uint32_t i) { return hash_frame(stacks_.frames[i]); });
  if (*slot == 0) {
    stacks_.frames.push_back(frame);
    *slot = static_cast<std::uint32_t>(stacks_.frames.size());
  }
  return *slot - 1;
}

std::uint32_t StackBuilder::intern_node(std::uint32_t caller, std::uint32_t frame) {
  std::uint32_t* slot = find_slot(
      node_slots_, stacks_.caller.size(), hash_of(caller, frame),
      [&](std::uint32_t i) { return i != 0 && row(stacks_.caller[i]) == caller && row(stacks_.innermost[i]) == frame; },
      [&](std::uint32_t i) { return hash_of(row(stacks_.caller[i]), row(stacks_.innermost[i])); });
  if (*slot == 0) {
    stacks_.caller.push_back(static_cast<TorchStackId>(caller));
    stacks_.innermost.push_back(static_cast<TorchFrameId>(frame));
    *slot = static_cast<std::uint32_t>(stacks_.caller.size());
  }
  return *slot - 1;
}

std::uint32_t StackBuilder::frame(Value dict) {
  if (!dict.is(Value::Tag::dict)) return unknown;
  if (dict.number() >= frame_of_dict_.size()) frame_of_dict_.resize(document_.dict_count(), unknown);
  std::uint32_t& known = frame_of_dict_[dict.number()];
  if (known != unknown) return known;
  const auto record = fields_.of(dict);
  TorchFrame frame{texts_.text(record.get(Field::name)), texts_.text(record.get(Field::filename)), 0};
  if (const auto line = document_.integer(record.get(Field::line)); line && !line->is_negative && !line->is_too_wide)
    frame.line =
        static_cast<std::int32_t>(std::min<std::uint64_t>(line->bits, std::numeric_limits<std::int32_t>::max()));
  known = intern_frame(frame);
  return known;
}

// PyTorch lists the innermost frame first; the tree starts at the outermost.
std::uint32_t StackBuilder::add_stack(Value list) {
  auto frames = document_.items(list);
  if (frames.size() > TorchStacks::stack_frames_max) {
    frames = frames.first(TorchStacks::stack_frames_max);
    ++cut_stacks_;
  }
  for (const Value value : incomplete_)
    if (value == list || std::find(frames.begin(), frames.end(), value) != frames.end()) has_met_incomplete_ = true;
  std::uint32_t node = 0;
  for (std::size_t i = frames.size(); i > 0; --i) {
    const std::uint32_t number = frame(frames[i - 1]);
    if (number == unknown)
      ++odd_frames_;
    else
      node = intern_node(node, number);
  }
  return node;
}

}  // namespace hbmscope::torch
