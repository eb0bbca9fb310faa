"""Reports what is free on the device, for a process that has taken nothing but its context."""

import cuda

cuda.use_device()
cuda.report(free=cuda.free_bytes())
