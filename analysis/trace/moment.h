// A moment of a trace, as a person names it, and where each stream then stands.
//
//   start     before the first event: what lived already       end      after the last one (the default)
//   peak      where the heap with the highest peak had it      oom      as the last out-of-memory was reported
//   #4711     after so many events                             12.5s, 300ms, 40us   since the first event
//   2#4711    after so many events of the second stream, where there are several; the others as their clocks say
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Moment {
  std::vector<std::uint64_t> positions;  // By stream: so many of its events have happened.
  std::string text;                      // "the end (event 8,301, 2.41 s)"
};

// The text that names a position of a stream: "#4711", or "2#4711" where there are several.
std::string text_from_position(const Trace& trace, std::size_t stream, std::uint64_t position);

// Errors: a text that is none of these, a time where the source has none, oom or peak where there was none.
Result<Moment> find_moment(const Trace& trace, std::string_view text);

// After so many events of one stream, by its index. The error is a position beyond the stream's end.
Result<Moment> find_moment(const Trace& trace, std::size_t stream_index, std::uint64_t position);

// The states of all streams then.
std::vector<StreamState> compute_states(const Trace& trace, const Moment& moment);

}  // namespace hbmscope
