// What a recording stores about this process: its command, its rank, and the variables that affect device memory.
// Nothing else of its environment is recorded, because it may contain secrets. The job reports this itself, because it
// may end or become another program before the observer can read /proc.
#pragma once

namespace hbmscope::inject {

// Called right after the rings were opened. Reports the environment with which the process was started; later changes
// are not seen. Anything that can't be read, as in a chroot without /proc, is left out.
void report_process_facts();

}  // namespace hbmscope::inject
