// Defines a snapshot's stacks and frames in a stream, each once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/read/torch/torch_snapshot.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::torch {

class StackWriter {
 public:
  StackWriter(const TorchSnapshot& snapshot, wire::StreamWriter& writer)
      : snapshot_(snapshot),
        writer_(writer),
        stacks_(snapshot.stacks.caller.size()),
        frames_(snapshot.stacks.frames.size()) {}

  // Callers have smaller numbers, so the chain ends quickly: each stack is converted only once.
  std::uint32_t stack_from(TorchStackId id) {
    if (id == TorchStackId::none) return 0;
    std::vector<std::uint32_t> chain;
    auto at = static_cast<std::uint32_t>(id);
    for (; at != 0 && stacks_[at] == 0; at = static_cast<std::uint32_t>(snapshot_.stacks.caller[at]))
      chain.push_back(at);
    std::uint32_t parent = at == 0 ? 0 : stacks_[at];
    for (std::size_t i = chain.size(); i-- > 0;)
      parent = stacks_[chain[i]] = writer_.define_stack(parent, frame_from(snapshot_.stacks.innermost[chain[i]]));
    return parent;
  }

  // A hint that this stack is needed soon.
  void expect(TorchStackId id) const { __builtin_prefetch(&stacks_[static_cast<std::size_t>(id)]); }

 private:
  // Many stacks have the same frames.
  std::uint32_t frame_from(TorchFrameId id) {
    std::uint32_t& converted = frames_[static_cast<std::size_t>(id)];
    if (converted != 0) return converted;
    const TorchFrame& frame = snapshot_.stacks.frames[static_cast<std::size_t>(id)];
    // A C++ frame without debug information; PyTorch itself writes either nothing or "??".
    const std::string_view file = snapshot_.text(frame.file);
    return converted = writer_.define_frame(snapshot_.text(frame.function), file.empty() ? "??" : file,
                                            static_cast<std::uint32_t>(std::max(0, frame.line)));
  }

  const TorchSnapshot& snapshot_;
  wire::StreamWriter& writer_;
  std::vector<std::uint32_t> stacks_;  // By TorchStackId, 0 before it is converted.
  std::vector<std::uint32_t> frames_;  // By TorchFrameId, likewise.
};

}  // namespace hbmscope::torch
