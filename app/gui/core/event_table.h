// The events around the selected time as rows of text, for the window and for copying.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/query/event_rows.h"
#include "analysis/trace/trace.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// At least this many events are listed on each side of the selected time.
inline constexpr std::uint64_t event_window = 512;

struct EventsAnswer {
  std::shared_ptr<const Trace> trace;
  std::uint32_t stream = 0;
  std::vector<EventRow> rows;

  const Stream& of() const { return trace->streams[stream]; }
};

struct EventText {
  std::string time, what, size, address, heap, by;
  std::string tooltip;
  bool is_failure = false;
};
EventText text_from_event(const EventsAnswer& answer, const EventRow& row);

TextTable table_from_events(const EventsAnswer& answer);

}  // namespace hbmscope::gui
