// A time in a trace, as the user names it, and the position of each stream at that time.
//
//   start     before the first event: blocks already live     end      after the last one (the default)
//   peak      the highest peak of all heaps                   oom      when the last out-of-memory was reported
//   first-oom when the first one was
//   #4711     after that many events                          12.5s, 300ms, 40us   since the first event
//   2#4711    after that many events of the second stream, if there are several; clocks place the others
//   train step 31   where the first marker of that name begins
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Moment {
  std::vector<std::uint64_t> positions;             // By stream: the number of its events applied so far.
  std::string text;                                 // "the end (event 8,301, 2.41 s)"
  std::string name = {};                            // "the end", "the peak", "step 31"; empty for an event or a time.
  std::optional<std::size_t> stream = {};           // Of which stream it is the peak or a failure.
  std::optional<std::int64_t> since_start_ns = {};  // The instant, on the clock of all streams, where it is known.
};

// An out-of-memory: failures()[index] of that stream.
struct FailedRequest {
  std::size_t stream = 0, index = 0;
};
// In the order of time, as far as the clocks of the streams relate it; those without times last. What a log reports of
// a failure that another file of its process has with times is left out, and so are failures of pools that only serve
// as a comparison (layers.h), unless they are asked for.
enum class ExtraPools : std::uint8_t { without, only };
std::vector<FailedRequest> find_failed_requests(const Trace& trace, ExtraPools extra = ExtraPools::without);

// Where a sentence needs it: "at the peak (...)", "at event 7 of 10".
std::string text_from_moment(const Moment& moment);

// The text for a position of a stream: "#4711", or "2#4711" if there are several.
std::string text_from_position(const Trace& trace, std::size_t stream, std::uint64_t position);

// Errors: any other text; a time if the source has none; oom or peak if there was none.
Result<Moment> find_moment(const Trace& trace, std::string_view text);

// After that many events of one stream, by its index; the other streams are where its clock says, or at
// `since_start_ns`, which lies between that event and the next. Error: a position beyond the end of the stream.
Result<Moment> find_moment(const Trace& trace, std::size_t stream_index, std::uint64_t position,
                           std::optional<std::int64_t> since_start_ns = {});

// The time that a state shows, on the clock of its stream: just before a failed request when that failed, however long
// nothing happened before, else that of the last event.
std::int64_t time_of(const Stream& stream, const StreamState& state);

// The states of all streams at that time, from which ages count: a state's time_ns() is that of the moment.
std::vector<StreamState> compute_states(const Trace& trace, const Moment& moment);

}  // namespace hbmscope
