// A time in a trace before it is looked up: either typed text (peak, oom, 12.5s: the language of
// analysis/trace/moment.h), or a position in a stream, from a click on a picture. Views and commands pass the position
// itself; it becomes text only for a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/model/result.h"
#include "analysis/trace/moment.h"

namespace hbmscope::gui {

struct StreamPosition {
  std::size_t stream = 0;
  std::uint64_t position = 0;  // The number of events of the stream before this time.
  bool is_only_stream = true;  // In a trace with several streams, the text also names the stream: "2#4711".
  // Where the user clicked on the stream's axis, if that was between two events: the cursor stands there.
  std::optional<std::int64_t> clicked_at = {};

  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

class MomentName {
 public:
  MomentName() = default;  // Empty, which means the end.
  MomentName(std::string_view text);
  MomentName(const std::string& text) : MomentName(std::string_view(text)) {}
  MomentName(const char* text) : MomentName(std::string_view(text)) {}
  MomentName(const Trace& trace, std::size_t stream, std::uint64_t position,
             std::optional<std::int64_t> clicked_at = {})
      : value_(StreamPosition{stream, position, trace.streams.size() == 1, clicked_at}) {}

  bool empty() const;
  void clear() { value_ = {}; }
  bool is_end() const { return empty() || *this == "end"; }
  std::optional<std::int64_t> clicked_at() const;
  std::string text() const;  // For --at. Empty if no time is named.
  // Its position in each stream, with the name that answers and errors show.
  Result<Moment> find_in(const Trace& trace) const;

  friend bool operator==(const MomentName&, const MomentName&) = default;

 private:
  std::variant<std::string, StreamPosition> value_;
};

// The range between two times. Both empty: no selection.
struct TimeRange {
  MomentName from, to;

  bool empty() const { return from.empty() && to.empty(); }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace hbmscope::gui
