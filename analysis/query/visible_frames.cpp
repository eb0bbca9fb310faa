#include "analysis/query/visible_frames.h"

#include <algorithm>
#include <iterator>

#include <re2/re2.h>

#include "analysis/query/interpreter_frame.h"
#include "analysis/query/short_name.h"

namespace hbmscope {

VisibleFrames::VisibleFrames(const Trace& trace) {
  if (trace.drop_frames.empty()) return;
  auto drop = std::make_shared<const RE2>("(?:" + trace.drop_frames + ")", RE2::Quiet);
  if (drop->ok()) drop_ = std::move(drop);
}

std::vector<TraceFrame> VisibleFrames::of(const Definitions& definitions, std::uint32_t stack) const {
  constexpr std::size_t frames_max = 4096;  // Python stops at 1,000; a damaged file may not.
  std::vector<TraceFrame> all;
  for (; stack != 0 && all.size() < frames_max; stack = definitions.stack(stack).parent)
    all.push_back(definitions.frame(definitions.stack(stack).frame));
  const auto is_dropped = [&](const TraceFrame& frame) {
    const std::string_view name = without_arguments(definitions.text(frame.function));
    return drop_ != nullptr && RE2::FullMatch({name.data(), name.size()}, *drop_);
  };
  // Drops inwards from the outermost dropped frame that has a caller.
  const auto caller = std::find_if_not(all.rbegin(), all.rend(), is_dropped);
  const auto outermost = std::find_if(caller, all.rend(), is_dropped);
  const auto begin = outermost == all.rend() ? all.begin() : outermost.base();
  std::vector<TraceFrame> visible;
  std::copy_if(begin, all.end(), std::back_inserter(visible), [&](const TraceFrame& frame) {
    return !is_interpreter_frame(definitions.text(frame.function), definitions.text(frame.file));
  });
  return visible.empty() ? all : visible;
}

}  // namespace hbmscope
