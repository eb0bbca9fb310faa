// How large the job's memory (collector/wire/ring_layout.h) may be, and how it comes to the observer: as a descriptor,
// through its socket.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Of what RLIMIT_AS lets the process map, bytes that are not; a lot where there is no limit.
std::uint64_t addresses_left();

// Null, or what went wrong, in words; `observer` gets its process. It may be slow to take it, not the job to go on: a
// second at most. Where `link` is given the observer has asked for it, and says that it took it, on a connection that
// stays: its descriptor.
const char* hand_over(int memory, const char* observer_path, int& observer, int* link);

}  // namespace hbmscope::inject
