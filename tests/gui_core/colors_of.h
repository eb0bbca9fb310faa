// The colours that a window without history gives a trace.
#pragma once

#include "app/gui/core/trace_colors.h"

namespace hbmscope::test {

inline gui::TraceColors colors_of(const Trace& trace) {
  const std::atomic<bool> cancelled = false;
  return gui::HueMemory().assign(*gui::compute_color_ranks(trace, choose_heap(trace, {}), cancelled));
}

}  // namespace hbmscope::test
