// Converts a snapshot's lists of frames to stacks. PyTorch shares one list among all entries from the same place, and
// one dict among all equal frames, so each list and dict is converted once, by its number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/read/pickle/document.h"
#include "analysis/read/torch/shape_fields.h"
#include "analysis/read/torch/text_builder.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope::torch {

class StackBuilder {
 public:
  StackBuilder(const pickle::Document& document, ShapeFields& fields, TextBuilder& texts, TorchStacks& stacks);

  // TorchStackId::none if it is not a list.
  TorchStackId stack(pickle::Value frames) {
    if (!frames.is(pickle::Value::Tag::list)) return TorchStackId::none;
    if (frames.number() >= stack_of_list_.size()) stack_of_list_.resize(document_.list_count(), unknown);
    std::uint32_t& known = stack_of_list_[frames.number()];
    if (known == unknown) known = add_stack(frames);
    return static_cast<TorchStackId>(known);
  }

  // Values that must not occur in the stacks converted from now on; has_met_incomplete() reports if one did.
  void note_incomplete(std::span<const pickle::Value> values) { incomplete_ = values; }
  bool has_met_incomplete() const { return has_met_incomplete_; }

  std::int64_t odd_frames() const { return odd_frames_; }  // Frames that are not dicts; left out.
  std::int64_t cut_stacks() const { return cut_stacks_; }  // Lost their outermost frames (stack_frames_max).

 private:
  static constexpr std::uint32_t unknown = 0xffffffff;
  std::uint32_t add_stack(pickle::Value frames);
  std::uint32_t frame(pickle::Value dict);
  std::uint32_t intern_frame(const TorchFrame& frame);
  std::uint32_t intern_node(std::uint32_t caller, std::uint32_t frame);

  const pickle::Document& document_;
  ShapeFields& fields_;
  TextBuilder& texts_;
  TorchStacks& stacks_;
  std::vector<std::uint32_t> stack_of_list_, frame_of_dict_;
  std::vector<std::uint32_t> frame_slots_, node_slots_;  // Open addressing, number + 1, 0 is free.
  std::int64_t odd_frames_ = 0, cut_stacks_ = 0;
  std::span<const pickle::Value> incomplete_;
  bool has_met_incomplete_ = false;
};

}  // namespace hbmscope::torch
