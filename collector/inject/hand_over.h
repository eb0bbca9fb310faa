// Decides how large the job's memory (collector/wire/ring_layout.h) may be, and hands it to the observer as a
// descriptor, through the observer's socket.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Bytes that RLIMIT_AS still lets the process map; a large number if there is no limit.
std::uint64_t addresses_left();

// Null, or what went wrong, in words; `observer` gets the observer's process. The observer may be slow to take it, but
// the job waits at most a second. If `link` is given, the observer must confirm that it took the memory, on a
// connection that stays open; `link` gets its descriptor.
const char* hand_over(int memory, const char* observer_path, int& observer, int* link);

}  // namespace hbmscope::inject
