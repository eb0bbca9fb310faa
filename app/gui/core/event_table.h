// The events around the selected time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/event_rows.h"
#include "analysis/trace/trace.h"

namespace hbmscope::gui {

// At least this many events are listed on each side of the selected time.
inline constexpr std::uint64_t event_window = 512;

struct EventsAnswer {
  std::shared_ptr<const Trace> trace;
  std::uint32_t stream = 0;
  std::vector<EventRow> rows;

  const Stream& of() const { return trace->streams[stream]; }
};

// A click on a row goes to the time just after the event.
Table describe_events(const EventsAnswer& answer);

}  // namespace hbmscope::gui
