// What people paste: texts in the frameworks' own words, as they arrive, and what the answer must say and must not say.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/analysis/log_texts.h"
#include "tests/analysis/wild_text.h"

namespace hbmscope {
namespace {

using tests::expect_answered;
using tests::WildText;

const std::string in_container =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.50 GiB "
    "of "
    "which 1.40 GiB is free. Process 812 has 38.08 GiB memory in use. Of the allocated memory 36.60 GiB is allocated "
    "by "
    "PyTorch, and 900.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
    "setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.\n";

const std::string of_many =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 1 has a total capacity of 47.40 GiB "
    "of "
    "which 30.00 MiB is free. Process 71 has 22.00 GiB memory in use. Process 72 has 24.00 GiB memory in use. "
    "Including "
    "non-PyTorch memory, this process has 1.30 GiB memory in use. Of the allocated memory 800.00 MiB is allocated by "
    "PyTorch, and 90.00 MiB is reserved by PyTorch but unallocated.\n";

const WildText wild_texts[] = {
    // Whose memory it is.
    {"own process in a container",
     in_container,
     "cannot_grow",
     {"process 812 (38.1 GiB) is most likely this job itself", "PYTORCH_ALLOC_CONF=expandable_segments:True"},
     {"end process 812", "contradict"}},
    {"other processes hold the device",
     of_many,
     "held_elsewhere",
     {"46.0 GiB of the device's 47.4 GiB is held by 2 other processes", "end process 72"},
     {"Fragmented", "expandable_segments"}},
    {"ranks on one GPU in a container",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.32 GiB "
     "of which 12.56 MiB is free. Process 100 has 26.43 GiB memory in use. Process 101 has 26.43 GiB memory in use. "
     "Process 102 has 26.44 GiB memory in use. Of the allocated memory 25.90 GiB is allocated by PyTorch, and 18.00 "
     "MiB is reserved by PyTorch but unallocated.\n",
     "held_elsewhere",
     {"52.9 GiB of the device's 79.3 GiB is held by 2 other processes", "One of these 3 is this process itself",
      "torch.cuda.set_device(local_rank)", "without the others, 52.9 GiB would be free"},
     {"end process", "contradict"}},
    {"others hold much, and the pool has room in pieces",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 79.10 GiB "
     "of which 1.34 GiB is free. Process 81234 has 40.02 GiB memory in use. Including non-PyTorch memory, this process "
     "has 37.73 GiB memory in use. Of the allocated memory 33.07 GiB is allocated by PyTorch, and 3.61 GiB is reserved "
     "by PyTorch but unallocated.\n",
     "held_elsewhere",
     {"end process 81234", "3.61 GiB was free in the pool, in free blocks", "expandable_segments:True"},
     {}},
    {"arguments that are donated already",
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in "
     "memory space hbm. Used 21.43G of 15.48G hbm. Exceeded hbm capacity by 5.95G.\n\nTotal hbm usage >= 21.95G:\n"
     "    reserved        530.00M\n    program          15.31G\n    arguments         6.12G\n\n"
     "Output size 6.12G; shares 6.12G with arguments.\n\nProgram hbm requirement 15.31G:\n"
     "    HLO temp         15.31G (98.2% utilization: Unpadded (14.70G) Padded (14.97G), 2.2% fragmentation "
     "(341.77M))\n",
     "compile_time",
     {"checkpointing the layers", "sharding over more devices"},
     {"donate the arguments"}},
    {"old text, and the rest is held by others",
     "RuntimeError: CUDA out of memory. Tried to allocate 12.00 MiB (GPU 2; 15.90 GiB total capacity; 2.20 GiB already "
     "allocated; 5.00 MiB free; 2.40 GiB reserved in total by PyTorch)\n",
     "held_elsewhere",
     {"About 12.5 GiB of the device's 15.9 GiB is held by others", "nvidia-smi"},
     {}},
    {"on an NPU",
     "RuntimeError: NPU out of memory. Tried to allocate 128.00 MiB (NPU 3; 60.96 GiB total capacity; 8.10 GiB already "
     "allocated; 8.10 GiB current active; 70.10 MiB free; 8.90 GiB reserved in total by PyTorch) If reserved memory is "
     ">> "
     "allocated memory try setting max_split_size_mb to avoid fragmentation.\n",
     "held_elsewhere",
     {"GPU 3", "npu-smi"},
     {"PYTORCH_CUDA_ALLOC_CONF", "nvidia-smi"}},
    {"on MPS",
     "RuntimeError: MPS backend out of memory (MPS allocated: 2.90 GB, other allocations: 15.10 GB, max allowed: 18.13 "
     "GB). Tried to allocate 512.00 MB on private pool.\n",
     "held_elsewhere",
     {"15.1 GiB of the 18.1 GiB that may be used", "PYTORCH_MPS_HIGH_WATERMARK_RATIO"},
     {"torch.cuda"}},
    {"with the driver's pool",
     "torch.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\n"
     "Currently allocated     : 10.00 GiB\nRequested               : 600.00 MiB\nDevice limit            : 44.50 GiB\n"
     "Free (according to CUDA): 12.00 MiB\nPyTorch limit (set by user-supplied memory fraction)\n"
     "                        : 17179869184.00 GiB\n",
     "held_elsewhere",
     {"About 33.5 GiB of the device's 44.5 GiB"},
     {"_record_memory_history", "Windows"}},

    // Which value fits.
    {"vLLM at its start",
     "(EngineCore_DP0 pid=77) ValueError: Free memory on device cuda:1 (30.10/79.10 GiB) on startup is less than "
     "desired "
     "GPU memory utilization (0.9, 71.19 GiB). Decrease GPU memory utilization or reduce GPU memory used by other "
     "processes.\n",
     "held_elsewhere",
     {"--gpu-memory-utilization 0.38", "30.1 GiB was free"},
     {"0.95", "unknown"}},
    {"vLLM without room for its cache",
     "INFO worker.py:267] the current vLLM instance can use total_gpu_memory (23.60GiB) x gpu_memory_utilization "
     "(0.60) = "
     "14.16GiB\nINFO worker.py:267] model weights take 12.00GiB; non_torch_memory takes 0.10GiB; PyTorch activation "
     "peak "
     "memory takes 2.50GiB; the rest of the memory reserved for KV Cache is -0.44GiB.\n"
     "  File \"/opt/v/worker.py\", line 45, in check\n    raise ValueError(\"No available memory for the cache blocks. "
     "\"\n"
     "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`.\n",
     "pool_limit",
     {"Nothing is left for the KV cache", "14.2 GiB (0.60 of 23.6 GiB)", "14.6 GiB", "--gpu-memory-utilization 0.90",
      "6.64 GiB would be left", "weights", "line 5 of the log"},
     {}},
    {"vLLM with a length that fits",
     "ValueError: To serve at least one request with the models's max seq len (32768), (6.00 GiB KV cache is needed, "
     "which "
     "is larger than the available KV cache memory (4.10 GiB). Based on the available memory, the estimated maximum "
     "model "
     "length is 22384. Try increasing `gpu_memory_utilization`.\n",
     "unknown",
     {"--max-model-len 22384", "needs 6.00 GiB", "4.10 GiB"},
     {}},
    {"limit of the process",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 79.10 GiB "
     "of "
     "which 70.00 GiB is free. 8.00 GiB allowed; Of the allocated memory 7.60 GiB is allocated by PyTorch, with 100.00 "
     "MiB "
     "allocated in private pools (e.g., HIP Graphs), and 350.00 MiB is reserved by PyTorch but unallocated.\n",
     "pool_limit",
     {"The process may take 8.00 GiB of the device", "70.0 GiB is free on the device",
      "set_per_process_memory_fraction"},
     {"Fragmented", "expandable_segments", "contradict"}},
    {"VMEM of a kernel",
     "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack "
     "for "
     "%my_kernel.7 = bf16[1024,1024]{1,0:T(8,128)(2,1)} custom-call(%p0), custom_call_target=\"tpu_custom_call\". "
     "Scoped "
     "allocation with size 18.20M and limit 16.00M exceeded scoped vmem limit by 2.20M.\n",
     "compile_time",
     {"vmem_limit_bytes=19 * 2**20", "--xla_tpu_scoped_vmem_limit_kib=19456"},
     {}},
    {"PyTorch without expandable segments",
     "RuntimeError: CUDA out of memory. Tried to allocate 700.00 MiB (GPU 0; 10.76 GiB total capacity; 7.50 GiB "
     "already "
     "allocated; 80.00 MiB free; 9.40 GiB reserved in total by PyTorch)\n",
     "fragmentation",
     {"max_split_size_mb:128"},
     {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True  "}},

    // Figures that mean something else.
    {"cached, before 1.4",
     "RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 11.91 GiB total capacity; 8.70 GiB already "
     "allocated; 1.10 GiB free; 210.00 MiB cached)\n",
     "too_big",
     {"8.70 GiB of the pool's 8.91 GiB was in use", "210 MiB was free in the pool"},
     {}},
    {"no free memory printed on XPU",
     "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 5.00 GiB. GPU 0 has a total capacity of 15.11 GiB. "
     "Of "
     "the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.\n",
     "unknown",
     {"how much was free on the device is unknown", "4 GiB"},
     {"Not enough memory", "Nothing was free"}},
    {"megabytes",
     "Out of memory error on GPU 3. Cannot allocate 512.250000MB memory on GPU 3, 15.100000GB memory has been "
     "allocated and "
     "available memory is only 180.500000MB.\n",
     "too_big",
     {"GPU 3", "512 MiB", "180 MiB", "FLAGS_fraction_of_gpu_memory_to_use"},
     {}},
    {"decimal commas",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2,50 GiB. GPU 0 has a total capacity of 23,69 GiB "
     "of "
     "which 611,56 MiB is free. Of the allocated memory 20,10 GiB is allocated by PyTorch, and 300,00 MiB is reserved "
     "by "
     "PyTorch but unallocated.\n",
     "too_big",
     {"requested 2.50 GiB", "612 MiB was free on the device"},
     {}},
    {"a size that cannot be",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory.\n",
     "impossible_size",
     {"a mistake", "shapes"},
     {"_record_memory_history"}},
    {"refused with room",
     "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 MiB. GPU 5 has a total capacity of 191.98 GiB "
     "of "
     "which 150.20 GiB is free. Of the allocated memory 40.10 GiB is allocated by PyTorch, and 16.00 MiB is reserved "
     "by "
     "PyTorch but unallocated.\n",
     "driver_refused",
     {"although 150 GiB was free", "dmesg"},
     {"Fragmented", "expandable_segments"}},
    {"refused with room on Windows",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 24.00 GiB "
     "of "
     "which 12.00 GiB is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the "
     "allocated memory 9.00 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.\n",
     "driver_refused",
     {"page file"},
     {"limit of the process"}},
    {"more than there is, on Windows",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 12.00 GiB "
     "of "
     "which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the "
     "allocated memory 19.50 GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated.\n",
     "too_big",
     {"on Windows, and in WSL, the driver moves memory"},
     {"contradict"}},
    {"a device that shares the host's memory",
     "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 12.00 GiB. GPU 0 has a total capacity of 4.00 GiB "
     "of "
     "which 40.00 GiB is free. Of the allocated memory 500.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved "
     "by "
     "PyTorch but unallocated.\n",
     "driver_refused",
     {"shares the memory of the host"},
     {"more than the whole device", "contradict"}},
    {"far more than the compiler's target",
     "W0101 10:00:00.000000 11 hlo_rematerialization.cc:3005] Can't reduce memory usage below 30.00GiB (32212254720 "
     "bytes) "
     "by rematerialization; only reduced to 2.00TiB (2199023255552 bytes), down from 2.10TiB originally\n"
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2199023255552 "
     "bytes.\n",
     "too_big",
     {"more than the limit of the pool (30.0 GiB)", "68 times as much"},
     {}},

    // Who failed, and for what.
    {"cuBLAS in TensorFlow",
     "2024-03-01 10:00:00.1: E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: "
     "CUBLAS_STATUS_ALLOC_FAILED\n",
     "outside_pool_starved",
     {"TF_FORCE_GPU_ALLOW_GROWTH=true"},
     {"XLA_PYTHON_CLIENT", "torch.cuda"}},
    {"NCCL in PyTorch",
     "[rank2]: torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:268\n"
     "[rank2]: Last error:\n[rank2]: Failed to CUDA calloc async 4194304 bytes\n"
     "nodeB:15:90 [2] include/alloc.h:185 NCCL WARN Cuda failure 'out of memory'\n"
     "nodeB:15:90 [2] include/alloc.h:185 NCCL WARN Failed to CUDA calloc 4194304 bytes\n",
     "outside_pool_starved",
     {"Out of memory on NCCL, rank 2", "GPU 2", "4.00 MiB"},
     {"XLA_PYTHON_CLIENT", "TF_FORCE", "The other failures"}},
    {"refused to TensorFlow",
     "2023-05-05 09:00:01.0: E tensorflow/stream_executor/cuda/cuda_driver.cc:828] failed to allocate 7.10G "
     "(7623566950 "
     "bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
     "2023-05-05 09:00:01.1: E tensorflow/stream_executor/cuda/cuda_driver.cc:828] failed to allocate 6.39G "
     "(6861210255 "
     "bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
     "unknown",
     {"The driver refused 7.10 GiB", "TF_FORCE_GPU_ALLOW_GROWTH"},
     {"No out-of-memory"}},
    {"got over",
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.50 MiB on device 0: cudaMalloc failed: out of memory\n"
     "llama_context: failed to allocate compute pp buffers, retrying without pipeline parallelism\n"
     "main: server is listening on http://127.0.0.1:8080\n",
     "none",
     {"No out-of-memory", "Not a failure", "retrying without pipeline parallelism"},
     {}},
    {"RMM, and the driver refused what its pool wanted",
     "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/rmm/pool.cpp:71: Maximum pool size exceeded (failed "
     "to "
     "allocate 2.000000 GiB): std::bad_alloc: out_of_memory: CUDA error (failed to allocate 2147483648 bytes) at: "
     "/rmm/cuda.cpp:24: cudaErrorMemoryAllocation out of memory\n",
     "unknown",
     {"Requested 2.00 GiB"},
     {"The pool is full", "maximum_pool_size"}},
    {"RMM's limit",
     "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/rmm/limiting_resource_adaptor.hpp:154: Exceeded "
     "memory "
     "limit (failed to allocate 2.000000 GiB)\n",
     "pool_limit",
     {"allocation_limit of the LimitingResourceAdaptor"},
     {"maximum_pool_size"}},
    {"FlashInfer's workspace",
     "RuntimeError: allocator.h:49: Buffer overflow when allocating memory for batch_prefill_tmp_v with size "
     "2415919104 "
     "and alignment 16, but only 2147483648 bytes available in AlignedAllocator. Increase the workspace buffer size.\n",
     "pool_limit",
     {"requested 2.25 GiB, and 2.00 GiB is left"},
     {}},
    {"killed, and then by whom",
     "Killed\nslurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM "
     "Killed.\n",
     "host_memory",
     {"host memory (RAM) that Slurm allows it", "--mem"},
     {"most often"}},
    {"RMM's debug log with errors alone",
     "[ 7001][09:00:00:000001][info  ] ----- RMM LOG BEGIN [PTDS DISABLED] -----\n"
     "[ 7001][09:00:00:000045][error ] [A][Stream 0x1][Upstream 3000000000B][FAILURE maximum pool size exceeded]\n",
     "pool_limit",
     {"The pool is full: requested 2.79 GiB", "maximum_pool_size"},
     {"0 B is in use", "0 B was in use"}},
    {"shared memory of a kernel",
     "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 262144, available: "
     "232448\n",
     "shared_memory",
     {"needs 256 KiB of shared memory", "227 KiB", "block sizes"},
     {}},
    {"shared memory of Inductor's kernel",
     "torch._inductor.exc.InductorError: RuntimeError: No valid triton configs. OutOfMemoryError: out of resource: "
     "triton_red Required: 262144 Hardware limit:101376 Reducing block sizes or `num_stages` may help.\n",
     "shared_memory",
     {"needs 256 KiB", "99.0 KiB"},
     {}},
    {"killed by Slurm",
     "epoch 1\nslurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM "
     "Killed.\n"
     "srun: error: node1: task 0: Out Of Memory\n",
     "host_memory",
     {"host memory (RAM) that Slurm allows it", "--mem"},
     {}},
    {"killed, and no more",
     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n  exitcode  : -9 (pid: 4711)\n",
     "host_memory",
     {"most often because memory of the host (RAM) ran out"},
     {}},
    {"shared memory of a container",
     "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's "
     "workers "
     "are out of shared memory. Please try to raise your shared memory limit.\n",
     "host_memory",
     {"/dev/shm", "--shm-size"},
     {}},
    {"killed, as a shell says it",
     "iter 144: loss 0.5\n\n**Killed**\n",
     "host_memory",
     {"most often because memory of the host (RAM) ran out"},
     {}},
    {"killed, as the kernel says it",
     "python invoked oom-killer: gfp_mask=0x6200ca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n"
     "Out of memory: Killed process 77 (python) total-vm:87033376kB, anon-rss:60356340kB, file-rss:0kB\n",
     "host_memory",
     {"Memory of the host (RAM) ran out"},
     {"The other failures", "0 B was in use"}},
    {"a size that no device has",
     "RuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1374521760000 bytes.\n",
     "impossible_size",
     {"shapes"},
     {}},
    {"of HIP's runtime, with room",
     ":1:hip_memory.cpp :303 : 96 us: [tid:0x7f] Allocation failed : Device memory : required :4096 | free :2314338304 "
     "| "
     "total :17163091968 \n",
     "driver_refused",
     {"4.00 KiB", "2.16 GiB"},
     {}},
    {"a length of an older vLLM",
     "ValueError: The model's max seq len (8192) is larger than the maximum number of tokens that can be stored in KV "
     "cache "
     "(5360). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
     "unknown",
     {"--max-model-len 5360"},
     {}},
    {"pinned memory that llama.cpp does without",
     "ggml_cuda_host_malloc: failed to allocate 1900,00 MiB of pinned memory: invalid argument\n",
     "none",
     {"Not a failure"},
     {}},
    {"pinned memory of the host",
     "failed to alloc 8589934592 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
     "host_memory",
     {"8.00 GiB"},
     {}},

    // How it arrives.
    {"wrapped between words",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of\n"
     "31.36 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 30.20 GiB memory in\n"
     "use. Of the allocated memory 28.80 GiB is allocated by PyTorch, and 820.00 MiB is reserved by PyTorch but\n"
     "unallocated.\n",
     "too_big",
     {"GPU 0", "28.8 GiB of the pool's 29.6 GiB", "This process used 30.2 GiB of the device"},
     {"unknown"}},
    {"wrapped within words",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a tot\n"
     "al capacity of 31.36 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this \n"
     "process has 30.20 GiB memory in use. Of the allocated memory 28.80 GiB is allocated by P\n"
     "yTorch, and 820.00 MiB is reserved by PyTorch but unallocated.\n",
     "too_big",
     {"GPU 0", "28.8 GiB of the pool's 29.6 GiB", "This process used 30.2 GiB of the device"},
     {"unknown"}},
    {"wrapped at its first words",
     "ValueError: the model can't be loaded, because there is too little memory of the device: CUDA out of\n"
     "memory. Tried to allocate 1.00 GiB (GPU 0; 10.76 GiB total capacity; 9.00 GiB already allocated; 80.00\n"
     "MiB free; 9.20 GiB reserved in total by PyTorch)\n",
     "too_big",
     {"requested 1.00 GiB", "9.00 GiB of the pool's 9.20 GiB"},
     {}},
    {"wrapped before the word that is looked for",
     "[1] 2019-06-13 01:17:08.886805: E local_client.cc:672] Execution of replica 0 failed: Resource exhausted: Out \n"
     "of memory while trying to allocate 5520758552 bytes.\n",
     "unknown",
     {"Requested 5.14 GiB"},
     {}},
    {"in a box of rich",
     "\u256d\u2500\u2500 Traceback (most recent call last) \u2500\u2500\u256e\n"
     "\u2502 /home/me/fit.py:31 in main                                  \u2502\n"
     "\u2502   30 \u2502   x = x.cuda()                                      \u2502\n"
     "\u2502 \u2771 31 \u2502   y = net(x)                                        \u2502\n"
     "\u2570\u2500\u2500\u2500\u2500\u256f\n"
     "OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 23.69 \n"
     "GiB total capacity; 21.10 GiB already allocated; 611.56 MiB free; 22.39 GiB \n"
     "reserved in total by PyTorch)\n",
     "cannot_grow",
     {"21.1 GiB of the pool's 22.4 GiB", "Requested by main /home/me/fit.py:31"},
     {}},
    {"quoted in a mail, with HTML's escapes",
     "> RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 10.76 GiB total capacity; 9.00 GiB "
     "already\n"
     "> allocated; 80.00 MiB free; 9.20 GiB reserved in total by PyTorch) If reserved memory is &gt;&gt; allocated\n",
     "too_big",
     {"9.00 GiB of the pool's 9.20 GiB"},
     {}},
    {"in compiled code",
     "Traceback (most recent call last):\n  File \"/work/net.py\", line 12, in forward\n    return self.head(h)\n"
     "  File \"/tmp/torchinductor_me/ab/cxyz.py\", line 990, in call\n    buf = empty_strided_cuda((8, 8))\n" +
         of_many,
     "held_elsewhere",
     {"Requested by forward /work/net.py:12"},
     {}},
};

class WildTexts : public testing::TestWithParam<WildText> {};

TEST_P(WildTexts, are_answered) {
  expect_answered(GetParam());
}

TEST(WildText, of_two_bytes_a_character_is_read) {
  std::string wide = "\xff\xfe";
  for (const char c : in_container) wide += {c, '\0'};
  const auto source = read_text_source(wide, "error.txt");
  ASSERT_TRUE(source) << source.error().what;
  EXPECT_EQ(1U, find_failed_requests(*source->trace).size());
}

TEST(WildText, that_says_nothing_known_is_answered_with_what_it_has) {
  const auto source = read_text_source("step 1\nGPU memory: 12.5 GiB of 80 GiB\nstep 2\n", "train.log");
  ASSERT_TRUE(source);
  const std::string answer = text_from_document(describe_failures(*source->trace, {0, false}));
  EXPECT_NE(std::string::npos, answer.find("No out-of-memory in this log of 3 lines.")) << answer;
  EXPECT_NE(std::string::npos, answer.find("line 2: \"GPU memory: 12.5 GiB of 80 GiB\"")) << answer;
}

INSTANTIATE_TEST_SUITE_P(all, WildTexts, testing::ValuesIn(wild_texts));

}  // namespace
}  // namespace hbmscope
