"""Takes blocks from the driver and gives some back; knows its bytes. The sizes are no multiples of anything.

    blocks.py [twice]     twice: runs itself in two processes at the same time, which share the device
"""

import subprocess
import sys

import cuda

children = [subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True, env=None) for _ in range(2)] if sys.argv[1:] else []
if children:
    for child in children:
        print(child.communicate()[0], end="", flush=True)
    sys.exit(any(child.returncode for child in children))

cuda.use_device()
free_before = cuda.free_bytes()
blocks = [(cuda.allocate(size), size) for size in range(3 * cuda.MIB + 1, 60 * cuda.MIB, 3 * cuda.MIB + 5)]
for address, _ in blocks[::2]:
    cuda.free(address)
left = blocks[1::2]
cuda.report(
    in_use=sum(size for _, size in left),
    peak=sum(size for _, size in blocks),
    blocks=len(left),
    driver=free_before - cuda.free_bytes(),
)
cuda.leave()
