// What a recording keeps of this process: its command, its rank, and the variables that decide about device memory.
// Nothing else of its environment is recorded, because it may contain secrets. The job reports this itself, because it
// may end or become another program before the observer can read /proc.
#pragma once

namespace hbmscope::inject {

// Called right after the rings were opened. Reports the environment as the process was started; later changes are not
// seen. What can't be read, as in a chroot without /proc, is left out.
void tell_process_facts();

}  // namespace hbmscope::inject
