// What a reader and whoever waits for it share: how far it is, and the wish to stop. The atomic fields may be touched
// from any thread at any time.
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

  // A file whose beginning means something by itself (a recording; a snapshot without its history): set before reading
  // begins, it is handed what is there so far, from the reader's thread, of a recording each time that four times as
  // much has been read. From the first time on the reader can also end where it is: what it returns is then what it has
  // read.
  std::function<void(std::shared_ptr<const Trace>)> take_part;
  std::atomic<bool> stop_here = false;
};

// The first part has so many events: less than a tenth of a second of reading.
constexpr std::uint64_t first_part_events = std::uint64_t{1} << 18;

}  // namespace hbmscope
