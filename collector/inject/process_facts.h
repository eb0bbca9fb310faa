// What a recording keeps of this process itself: its command, its rank, and the variables that decide over device
// memory. Nothing else of its environment is told, for there are secrets in it. The job tells it, as it may be over, or
// be another program, before the observer can ask /proc.
#pragma once

namespace hbmscope::inject {

// Right after the rings were opened. As the process was started: what it has set since is not seen. What can't be read,
// as in a chroot without /proc, is not told.
void tell_process_facts();

}  // namespace hbmscope::inject
