#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

std::string_view text_from_action(TorchAction action) {
  switch (action) {
    case TorchAction::alloc: return "alloc";
    case TorchAction::free: return "free";
    case TorchAction::free_requested: return "free_requested";
    case TorchAction::free_completed: return "free_completed";
    case TorchAction::segment_alloc: return "segment_alloc";
    case TorchAction::segment_free: return "segment_free";
    case TorchAction::segment_map: return "segment_map";
    case TorchAction::segment_unmap: return "segment_unmap";
    case TorchAction::snapshot: return "snapshot";
    case TorchAction::oom: return "oom";
    case TorchAction::unknown: break;
  }
  return "unknown";
}

std::vector<TorchFrame> TorchSnapshot::stack_frames(TorchStackId stack) const {
  std::vector<TorchFrame> frames;
  for (; stack != TorchStackId::none; stack = stacks.caller[row(stack)])
    frames.push_back(stacks.frames[row(stacks.innermost[row(stack)])]);
  return frames;
}

}  // namespace hbmscope
