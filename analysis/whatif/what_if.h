// What would have happened under other settings: the recorded requests, played into the reference allocators.
//
// A replay that serves what failed in the recording lacks what made it fail, such as the requests before an error text.
// What fits can then not be said: the verdict of every row is *not reproduced*.
//
// A job that dies with 80 GiB under fraction .75 may live with .85, or need another allocator, or a larger device. Each
// scenario is one replay, on all cores. The requests stay as they were, so a setting that changes what the program asks
// for (XLA may choose other algorithms with less workspace) is not covered, and what the job would have asked for after
// its recorded failure is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/reference/replay/player.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/trace/pass_control.h"
#include "analysis/whatif/scenario.h"

namespace hbmscope {

enum class Confidence : std::uint8_t {
  exact,        // The allocator's rules were compared with the original, and every request is known.
  checked,      // So were they, and this recording replays address for address under its own settings.
  approximate,  // Anything else; the figures may be off.
};
std::string_view text_from_confidence(Confidence confidence);  // "exact"

// A recording and its own settings, ready to be played.
struct WhatIfSource {
  DeviceRequests requests;
  OwnSettings own;
  // Whether it replays address for address under its own settings; why not: a sentence without a full stop, empty if it
  // does.
  std::string check_fault;
  std::uint64_t checked_requests = 0;  // Their addresses were equal.
  bool differs = false;                // An address is another one; else nothing could be compared.
  bool is_text = false;                // It is the output of a job: it has the failures, not the requests before them.
  std::optional<std::int64_t> zero_ns{};  // On the clock of the origins: the stream's start. Absent: it has no times.

  bool is_checked() const { return check_fault.empty(); }
};

struct WhatIfChoice {
  std::optional<std::uint32_t> device;        // Absent: the one with the most requests.
  std::optional<std::size_t> stream;          // In the trace. Absent means the one with the most requests.
  std::optional<std::uint64_t> device_bytes;  // Absent: as recorded.
  std::uint64_t device_bytes_otherwise = 0;   // Where it is neither given nor recorded. 0 makes that an error.
};
// The requests to the device of a heap, by its stream.
WhatIfChoice choice_of_heap(const Trace& trace, HeapKey heap);
// Errors: those of find_device_requests and find_own_settings.
Result<WhatIfSource> find_what_if_source(const Trace& trace, const WhatIfChoice& choice);

// "XLA's allocator (classic), jaxlib 0.9.1, on a device of 80.0 GiB; NAME=VALUE", and whether the recording replays so:
// a sentence.
std::string text_from_own_settings(const OwnSettings& own);
std::string text_from_check(const WhatIfSource& source);

// A note of the settings as a sentence: "Which allocator the job had is not recorded; JAX's is assumed."
std::string sentence_from_note(std::string_view note);

enum class WhatIfVerdict : std::uint8_t { fits, does_not_fit, not_reproduced };
std::string_view text_from_verdict(WhatIfVerdict verdict);  // "fits", "does_not_fit"

struct WhatIfRow {
  Scenario scenario;
  Confidence confidence = Confidence::approximate;
  WhatIfVerdict verdict = WhatIfVerdict::does_not_fit;
  allocator::ReplayResult result;
  // At the peak of the bytes in use, as far as the allocator reports it. Absent if nothing was free.
  std::optional<double> fragmentation_at_peak;

  bool fits() const { return verdict == WhatIfVerdict::fits; }
};
std::string_view text_from_fits(const WhatIfRow& row);  // "yes", "no", "not reproduced"
// As recorded, then what fits, then the rest, each in the order of before.
void put_fitting_first(std::vector<WhatIfRow>& rows);

// With more events, replays under many settings take too long for an answer that somebody waits for.
inline constexpr std::uint64_t quick_events_max = 5'000'000;

struct WhatIfLimits {
  std::uint64_t operations_max = ~std::uint64_t{0};  // The first ones are played.
  unsigned threads = 0;                              // 0: one per core.
};
// Calls work(0), work(1), ... work(count - 1) on all cores, or on that many threads; what has not begun when it is
// cancelled is left out.
void run_on_all_cores(std::size_t count, const PassControl& control, const std::function<void(std::size_t)>& work,
                      unsigned threads = 0);

// One row per scenario, in their order; empty if it was cancelled. Counts operations of all scenarios as events. The
// job's own settings must be among them if a request failed: they show whether the replay reproduces that.
std::vector<WhatIfRow> run_what_if(const WhatIfSource& source, std::vector<Scenario> scenarios, PassControl& control,
                                   const WhatIfLimits& limits = {});

// Why the replay does not reproduce the failure, and what to do about it: "an error text has no requests to replay;
// record the job: hbmscope run -- COMMAND". Empty if it does, or none failed.
std::string find_missing(const WhatIfSource& source, const std::vector<WhatIfRow>& rows);
// "Not reproduced: a request of 24.0 MiB failed, and the replay serves it, so what fits is unknown: ...". Empty, too.
std::string text_from_missing(const WhatIfSource& source, const std::vector<WhatIfRow>& rows);

}  // namespace hbmscope
