"""Takes 200 MiB more at each step, and waits. The simulated NVML, if there is one, gets this process' figures from here.

    steps.py STEPS SECONDS
"""

import os
import sys
import time

import cuda

cuda.use_device()
simulated = os.environ.get("FAKE_NVML")
used = 0
for step in range(int(sys.argv[1])):
    cuda.allocate(200 * cuda.MIB)
    used += 200 * cuda.MIB
    if simulated:
        total = os.environ["HBMSCOPE_DEVICE_BYTES"]
        context = int(os.environ["HBMSCOPE_DEVICE_CONTEXT_BYTES"])
        bytes_held = context + (used if not cuda.is_planted() else 0)
        with open(simulated + ".new", "w") as file:
            file.write(f"device {total} {bytes_held} emulated\nholder {os.getpid()} {bytes_held}\n")
        os.rename(simulated + ".new", simulated)
    time.sleep(float(sys.argv[2]))
cuda.report(used=used)
cuda.leave()
