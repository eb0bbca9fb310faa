// The spans that are open on a thread, one in the other, as its stack: of profilers whose events have a begin and an
// end. Few spans contain an allocation, so stacks are defined only when one is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

class OpenSpans {
 public:
  // Spans are opened in the order of their begins, of those that begin together the outer one first.
  void open(std::int64_t end, std::uint64_t name) { open_.push_back({end, name, 0}); }
  // Closes those that end before the time.
  void close_before(std::int64_t time) {
    while (!open_.empty() && open_.back().end < time) open_.pop_back();
  }
  void clear() { open_.clear(); }

  // The stack of all open spans, or 0 if none is open. frame_of(name): the frame of a span.
  template <class FrameOf>
  std::uint32_t stack(wire::StreamWriter& writer, const FrameOf& frame_of) {
    std::size_t undefined = open_.size();
    while (undefined > 0 && open_[undefined - 1].stack == 0) --undefined;
    for (; undefined < open_.size(); ++undefined) {
      const std::uint32_t callers = undefined == 0 ? 0 : open_[undefined - 1].stack;
      open_[undefined].stack = writer.define_stack(callers, frame_of(open_[undefined].name));
    }
    return open_.empty() ? 0 : open_.back().stack;
  }

  // The first result of find(name) that is not 0, from the innermost span on, or 0.
  template <class Find>
  std::uint32_t find_innermost(const Find& find) const {
    for (std::size_t i = open_.size(); i-- > 0;)
      if (const std::uint32_t found = find(open_[i].name); found != 0) return found;
    return 0;
  }

 private:
  struct Span {
    std::int64_t end = 0;
    std::uint64_t name = 0;
    std::uint32_t stack = 0;  // 0: not defined yet.
  };
  std::vector<Span> open_;  // Innermost last.
};

}  // namespace hbmscope
