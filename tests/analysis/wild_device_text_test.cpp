// What people paste of TPUs, of devices and drivers that refuse a request, and of hosts that end a job.
#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/wild_text.h"

namespace hbmscope {
namespace {

const std::vector<tests::WildText> device_texts = {
    {"a TPU program without arguments",
     "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.00G of 15.00G hbm. Exceeded hbm capacity by "
     "5.00G.\n\nTotal hbm usage >= 20.50G:\n    reserved        512.00M\n    program          20.00G\n    arguments    "
     "        0B\n",
     "compile_time",
     {"program, not listed", "5.00 GiB more must be free", "jax.checkpoint"},
     {"donate"}},
    {"a TPU's list without its first line",
     "Total hbm usage >= 11.50G:\n    reserved        512.00M\n    program          11.00G\n    arguments            "
     "0B\n\nProgram hbm requirement 11.00G:\n    HLO temp         11.00G (1.0% utilization: Unpadded (128.00M) Padded "
     "(11.00G), 0.0% fragmentation (0B))\n",
     "compile_time",
     {"padding of the temporaries: 10.9 GiB of 11.0 GiB", "multiples of 8 and 128"},
     {"donate"}},
    {"arrays on a TPU",
     "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 15.00G. That was not possible. There "
     "are 11.00G free.; (0x0x0_HBM0)\n",
     "too_big",
     {"requested 15.0 GiB, and 11.0 GiB was free", "4.00 GiB more must be free", "earlier work left"},
     {"donate", "checkpoint", "is unknown"}},
    {"exabytes on a TPU",
     "Aborting compilation early because it's unlikely to have enough memory. Requires 3.00E, has 14.00G available.\n",
     "impossible_size",
     {"no device has"},
     {"donate", "sharding"}},
    {"fairseq's words before PyTorch's",
     "WARNING | fairseq.trainer | OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate 68.00 "
     "MiB (GPU 0; 16.00 GiB total capacity; 14.75 GiB already allocated; 55.75 MiB free; 14.90 GiB reserved in total "
     "by PyTorch)\n",
     "too_big",
     {"The device is full: requested 68.0 MiB, and only 55.8 MiB"},
     {}},
    {"PyTorch before its settings",
     "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity; 9.00 GiB already "
     "allocated; 20.00 MiB free; 14.00 GiB reserved in total by PyTorch)\n",
     "fragmentation",
     {"1. a smaller batch or input; and if PyTorch is 1.10 or later"},
     {"_record_memory_history"}},
    {"a driver that refuses while the pool has holes",
     "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 658.00 MiB. GPU 0 has a total capacity of 20.00 GiB "
     "of which 922.00 MiB is free. Of the allocated memory 15.00 GiB is allocated by PyTorch, and 3.50 GiB is reserved "
     "by PyTorch but unallocated.\n",
     "fragmentation",
     {"expandable_segments", "the driver did not give it"},
     {"Settings of the allocator don't help"}},
    {"one allocation on Intel's GPU",
     "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 15.00 GiB "
     "of which 15.00 GiB is free. Of the allocated memory 1024 bytes is allocated by PyTorch, and 2.00 MiB is reserved "
     "by PyTorch but unallocated.\n",
     "driver_refused",
     {"UR_L0_USE_RELAXED_ALLOCATION_LIMITS"},
     {"see what else uses", "Why the pool has"}},
    {"a limit of Apple's GPU that is passed",
     "RuntimeError: MPS backend out of memory (MPS allocated: 16.00 GB, other allocations: 3.25 GB, max allowed: 18.00 "
     "GB). Tried to allocate 256 bytes on shared pool.\n",
     "pool_limit",
     {"1.25 GiB more than the limit", "a smaller model"},
     {"1. PYTORCH_MPS"}},
    {"a batch of one",
     "batch_size=1\nRuntimeError: CUDA out of memory. Tried to allocate 3.00 GiB (GPU 0; 22.00 GiB total capacity; "
     "18.00 GiB already allocated; 2.50 GiB free; 18.10 GiB reserved in total by PyTorch)\n",
     "too_big",
     {"smaller or shorter inputs"},
     {"a smaller batch"}},
    {"pinned memory",
     "Traceback (most recent call last):\n  File \"/x/a.py\", line 3, in f\n    t = torch.empty(9, "
     "pin_memory=True)\nRuntimeError: CUDA error: out of memory\n",
     "host_memory",
     {"less pinned or managed memory"},
     {"nvidia-smi"}},
    {"a driver that can't start",
     "CudaAPIError: [2] Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY\n",
     "unknown",
     {"The driver could not start", "ulimit -v"},
     {"smaller batch or input"}},
    {"a control group",
     "Memory cgroup out of memory: Killed process 15 (python3) total-vm:11892kB, anon-rss:4,292,001kB, "
     "file-rss:3428kB\n",
     "host_memory",
     {"its container or batch job may use", "4.09 GiB"},
     {"DataLoader"}},
    {"a pod that was evicted",
     "Warning  Evicted  pod/a  The node was low on resource: memory. Container a was using 5053216Ki, which exceeds "
     "its request of 0.\n",
     "host_memory",
     {"evicted the pod", "resources.requests.memory"},
     {"resources.limits.memory"}},
    {"a node of Ray",
     "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: "
     "10.0.0.7, ID: a) where the task (actor ID: b, pid=3, memory used=2.00GB) was running was 59.00GB / 62.00GB "
     "(0.95), which exceeds the memory usage threshold of 0.95.\n",
     "host_memory",
     {"59.0 GiB of 62.0 GiB was in use", "The task held 2.00 GiB"},
     {"It had"}},
    {"systemd-oomd",
     "systemd-oomd[588]: Killed /user.slice/a.scope due to memory pressure for /user.slice being 57.97% > 50.00% for > "
     "20s with reclaim activity\n",
     "host_memory",
     {"systemd-oomd killed the job"},
     {}},
    {"NCCL without shared memory",
     "[3] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n[3] include/shm.h:48 "
     "NCCL WARN Error while creating shared memory segment nccl-shm (size 9637888)\n",
     "host_memory",
     {"/dev/shm", "emptyDir"},
     {"DataLoader", "(1 of 2)"}},
    {"a kernel that ptxas refuses",
     "ptxas error   : Entry function 'f' uses too much shared data (0xc400 bytes, 0xc000 max)\n",
     "shared_memory",
     {"needs 49.0 KiB", "may have 48.0 KiB"},
     {}},
    {"Caffe", "Check failed: error == cudaSuccess (2 vs. 0)  out of memory\n", "unknown", {"GPU driver"}, {}},
    {"Blender", "System is out of GPU and shared host memory\n", "unknown", {"Cycles", "Simplify"}, {"smaller batch"}},
    {"RMM's log",
     "[2025-01-23 14:33:04.213] [RMM] [error] [A][Stream 0x1][Upstream 67108864B][FAILURE maximum pool size "
     "exceeded]\n",
     "pool_limit",
     {"requested 64.0 MiB", "maximum_pool_size"},
     {}},
    {"a negative size on the host",
     "ggml_aligned_malloc: insufficient memory (attempted to allocate 17592186044416.00 MB)\n"
     "alloc_tensor_range: failed to allocate CPU buffer of size 18446744073709549568\n",
     "impossible_size",
     {"more than 4.00 EiB", "the result of a mistake"},
     {"smaller context", "host ran out"}},
    {"more than nearly all devices have",
     "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 218.96 GiB\n",
     "unknown",
     {"smaller inputs"},
     {"nvidia-smi"}},
    {"a title, and then the sentence",
     "# MPS backend out of memory\nRuntimeError: MPS backend out of memory (MPS allocated: 9.00 GB, other allocations: "
     "1.00 GB, max allowed: 9.50 GB). Tried to allocate 1.00 GB on private pool.\n",
     "pool_limit",
     {"line 2 of the log", "limit of 9.50 GiB"},
     {"(1 of 2)", "times"}},
    {"a unit that a narrow window breaks",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 Gi\nB. GPU 1 has a total capacity of 23.65 "
     "GiB "
     "of which 1.20 GiB is free\n",
     "too_big",
     {"requested 2.50 GiB"},
     {}},
    {"a number that a narrow window breaks",
     "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 740\n6166528 bytes.\n",
     "unknown",
     {"Requested 6.90 GiB"},
     {}},
    {"words of nobody in a short text",
     "render node 3 stopped: insufficient GPU memory\n",
     "unknown",
     {"Memory ran out"},
     {"an unknown allocator"}},
};

class WildDeviceTexts : public testing::TestWithParam<tests::WildText> {};

TEST_P(WildDeviceTexts, are_answered) {
  expect_answered(GetParam());
}

INSTANTIATE_TEST_SUITE_P(all, WildDeviceTexts, testing::ValuesIn(device_texts));

}  // namespace
}  // namespace hbmscope
