// Shared between a reader and the side that waits for it: progress and cancellation. Any thread may access the atomic
// fields at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace hbmscope {

struct Trace;

struct ReadControl {
  std::atomic<std::uint64_t> done_bytes = 0, total_bytes = 0;  // total 0: not known yet.
  std::atomic<bool> cancelled = false;                         // Set by the waiting side; the reader returns an Error.

  // For files whose beginning is useful by itself (a recording; a snapshot without its history). Set this before
  // reading starts. The reader's thread calls it with what it has read so far; for a recording, each time that four
  // times as much has been read, up to a quarter of the file. After the first call, stop_here makes the reader return
  // what it has read.
  std::function<void(std::shared_ptr<const Trace>)> take_part;
  std::atomic<bool> stop_here = false;
};

// The number of events in the first part: less than a tenth of a second of reading.
constexpr std::uint64_t first_part_events = std::uint64_t{1} << 18;

}  // namespace hbmscope
