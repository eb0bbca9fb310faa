// The moment of a trace that a person wants to see, before it is looked up: either typed words (peak,
// oom, 12.5s: the language of analysis/trace/moment.h), or the place in a stream that a picture was clicked at. Views
// and commands hand over the place itself; it becomes text only for a command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/model/result.h"
#include "analysis/trace/moment.h"

namespace hbmscope::gui {

struct StreamPosition {
  std::size_t stream = 0;
  std::uint64_t position = 0;  // So many of the stream's events have happened.
  bool is_only_stream = true;  // Of a trace with several streams, the text names the stream too: "2#4711".

  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

class MomentName {
 public:
  MomentName() = default;  // Names none, which means the end.
  MomentName(std::string_view text);
  MomentName(const std::string& text) : MomentName(std::string_view(text)) {}
  MomentName(const char* text) : MomentName(std::string_view(text)) {}
  MomentName(const Trace& trace, std::size_t stream, std::uint64_t position)
      : value_(StreamPosition{stream, position, trace.streams.size() == 1}) {}

  bool empty() const;
  void clear() { value_ = {}; }
  bool is_end() const { return empty() || *this == "end"; }
  std::string text() const;  // For --at. Empty where none is named.
  // As errors and answers name it: where it lies in each stream.
  Result<Moment> find_in(const Trace& trace) const;

  friend bool operator==(const MomentName&, const MomentName&) = default;

 private:
  std::variant<std::string, StreamPosition> value_;
};

// A stretch of a trace between two moments. Both empty: none is selected.
struct TimeRange {
  MomentName from, to;

  bool empty() const { return from.empty() && to.empty(); }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace hbmscope::gui
