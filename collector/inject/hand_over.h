// Hands the memory that the job shares (shared_memory.h) to the observer as a descriptor, through the observer's
// socket.
#pragma once

namespace hbmscope::inject {

// Returns null, or the error as a sentence. `observer` receives the observer's process number. The observer may be slow
// to take the memory, but the job waits at most a second. If `link` is given, the observer must confirm that it took
// the memory, on a connection that stays open; `link` receives its descriptor.
const char* hand_over(int memory, const char* observer_path, int& observer, int* link);

}  // namespace hbmscope::inject
