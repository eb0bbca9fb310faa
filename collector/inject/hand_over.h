// Decides how large the job's memory (collector/wire/ring_layout.h) may be, and hands it to the observer as a
// descriptor, through the observer's socket.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Bytes that a file may have: RLIMIT_FSIZE, which also counts for shared memory; a large number if there is no limit. A
// process that makes a larger file is killed by SIGXFSZ.
std::uint64_t file_bytes_max();

// Bytes that the job's memory may have: no more than that, and at most a quarter of the addresses that RLIMIT_AS
// (ulimit -v) still allows, because the process needs them.
std::uint64_t shared_bytes_max();

// Returns null, or the error as a sentence. `observer` receives the observer's process number. The observer may be slow
// to take the memory, but the job waits at most a second. If `link` is given, the observer must confirm that it took
// the memory, on a connection that stays open; `link` receives its descriptor.
const char* hand_over(int memory, const char* observer_path, int& observer, int* link);

}  // namespace hbmscope::inject
