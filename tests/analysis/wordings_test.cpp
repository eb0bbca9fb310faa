// The table of wordings: which figure of each sentence goes where, in the words of the sources that WORDINGS.md names.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "analysis/read/log/trigger_scan.h"
#include "analysis/read/log/wording.h"
#include "tests/analysis/log_texts.h"

namespace hbmscope::log {
namespace {

using enum SentenceKind;
using tests::findings_of;

void add(std::string& text, std::string_view name, const MaybeBytes& size) {
  if (size) text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(size->bytes);
}

// "requested 4096, limit 1024, device 0"
std::string figures_of(const Sentence& said) {
  std::string text;
  add(text, "requested", said.requested);
  add(text, "available", said.available);
  add(text, "used", said.used);
  add(text, "free", said.free);
  add(text, "largest", said.largest);
  add(text, "pool", said.pool);
  add(text, "limit", said.limit);
  add(text, "total", said.total);
  if (said.device) text += (text.empty() ? "device " : ", device ") + std::to_string(*said.device);
  if (!said.program.empty()) text += (text.empty() ? "program " : ", program ") + said.program;
  for (const auto& [name, size] : said.parts) add(text, name + ":", size);
  for (const auto& [name, size] : said.others) add(text, name, size);
  return text;
}

struct Line {
  SentenceKind kind;
  std::string_view allocator, text, figures;
};

void PrintTo(const Line& one, std::ostream* out) {
  *out << one.text.substr(0, 70);
}

class Wordings : public testing::TestWithParam<Line> {};

TEST_P(Wordings, give_their_figures_to_the_right_members) {
  const Line& one = GetParam();
  EXPECT_NE(std::string_view::npos, find_trigger(one.text, 0)) << "no trigger: the line is never read";
  const auto said = find_sentence(one.text);
  ASSERT_TRUE(said) << one.text;
  EXPECT_EQ(one.kind, said->wording->kind);
  EXPECT_EQ(one.allocator, said->allocator);
  EXPECT_EQ(one.figures, figures_of(*said));
  // Nothing else takes the line.
  const Findings found = findings_of("INFO one\n" + std::string(one.text) + "\nINFO two\n");
  const std::size_t failures = one.kind == failure || one.kind == refusal || one.kind == kill ? 1 : 0;
  EXPECT_EQ(failures, found.failures.size());
  EXPECT_EQ(one.kind == recovery ? 1U : 0U, found.recoveries.size());
  if (failures == 1 && !found.failures.empty()) {
    ASSERT_TRUE(found.failures[0].sentence);
    EXPECT_EQ(one.figures, figures_of(*found.failures[0].sentence));
  }
}

const Line lines[] = {
    // PyTorch.
    {failure, "PyTorch's CUDA allocator",
     "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 1; 16.00 GiB total capacity; 5.00 GiB already "
     "allocated; 9.00 GiB free; 6.00 GiB allowed; 5.50 GiB reserved in total by PyTorch)",
     "requested 1073741824, available 9663676416, used 5368709120, free 536870912, pool 5905580032, limit 6442450944, "
     "total 17179869184, device 1"},
    {failure, "PyTorch's XPU allocator",
     "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 12.00 GiB "
     "of "
     "which 1.00 GiB is free. 6.00 GiB allowed; Of the allocated memory 4.00 GiB is allocated by PyTorch, and 1.00 GiB "
     "is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
     "requested 2147483648, available 1073741824, used 4294967296, free 1073741824, pool 5368709120, limit 6442450944, "
     "total 12884901888, device 0"},
    {failure, "PyTorch's NPU allocator",
     "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 32.00 GiB total capacity; 20.00 GiB already "
     "allocated; 8.00 GiB free; 1.00 GiB cached)",
     "requested 2147483648, available 8589934592, used 21474836480, free 1073741824, pool 22548578304, total "
     "34359738368, device 3"},
    {failure, "PyTorch's CPU allocator",
     "RuntimeError: $ Torch: not enough memory: you tried to allocate 7GB. Buy new RAM! at "
     "/pytorch/aten/src/TH/THGeneral.c:218",
     "requested 7516192768"},
    {failure, "PyTorch's shared memory",
     "RuntimeError: unable to mmap 4096 bytes from file </torch_77_1>: Cannot allocate memory (12)", "requested 4096"},
    {failure, "GPU driver",
     "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58", ""},
    {failure, "Metal", "RuntimeError: Invalid buffer size: 24.00 GB", "requested 25769803776"},

    // XLA, JAX, TensorFlow.
    {refusal, "XLA's host allocator", "failed to alloc 2304 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
     "requested 2304"},
    {refusal, "XLA's host allocator",
     "W ./tensorflow/core/common_runtime/gpu/gpu_host_allocator.h:44] could not allocate pinned host memory of size: "
     "8589934592",
     "requested 8589934592"},
    {failure, "GPU driver",
     "Internal: failed initializing StreamExecutor for CUDA device ordinal 0: Internal: failed call to "
     "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 12000000000",
     "total 12000000000"},
    {failure, "shared memory of a kernel",
     "ValueError: Mosaic GPU kernel exceeds available shared memory: smem_bytes=327712 > max_smem_bytes=232448",
     "requested 327712, limit 232448"},
    {failure, "shared memory of a kernel (LDS)",
     "error: <unknown>:0:0: local memory (131072) exceeds limit (65536) in function 'attn_fwd'",
     "requested 131072, limit 65536"},

    // RAPIDS, and other libraries for data.
    {failure, "XGBoost",
     "[10:00:00] /workspace/src/common/device_vector.cu:23: Memory allocation error on worker 0: std::bad_alloc: "
     "cudaErrorMemoryAllocation: out of memory\n- Free memory: 1.5GB\n- Requested memory: 3GB\n",
     "requested 3221225472, available 1610612736"},
    {failure, "RMM's limit",
     "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/rmm/limiting_resource_adaptor.hpp:154: Exceeded "
     "memory limit (failed to allocate 2.000000 GiB)",
     "requested 2147483648"},
    {failure, "RMM",
     "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/rmm/pool.cpp:71: Maximum pool size exceeded (failed "
     "to "
     "allocate 2.000000 GiB): not enough room to grow",
     "requested 2147483648"},
    {failure, "RMM",
     "MemoryError: std::bad_alloc: CUDA error at: /rmm/cuda_memory_resource.hpp66: cudaErrorMemoryAllocation out of "
     "memory",
     ""},
    {failure, "CUDA.jl's pool",
     "ERROR: Out of GPU memory trying to allocate 2.000 GiB\nEffective GPU memory usage: 99.00% (7.900 GiB/8.000 "
     "GiB)\nMemory pool usage: 6.000 GiB (6.500 GiB reserved)\nMemory limit: soft = 7.000 GiB, hard = 7.500 GiB",
     "requested 2147483648, available 107374182, used 6442450944, free 536870912, pool 6979321856, limit 8053063680, "
     "total 8589934592, in "
     "use on the device 8482560410"},
    {failure, "CUDA.jl's pool",
     "Out of GPU memory trying to allocate 1.000 GiB\nEffective GPU memory usage: 99.00% (7.900 GiB/8.000 GiB)\nCUDA "
     "allocator usage: 6.500 GiB (capped at 7.000 GiB)\nMemory pool usage: 6.500 GiB (6.000 GiB allocated, 512.000 MiB "
     "cached)",
     "requested 1073741824, available 107374182, used 6442450944, free 536870912, pool 6979321856, limit 7516192768, "
     "total 8589934592, in "
     "use on the device 8482560410"},
    {failure, "CUDA.jl's pool", "ERROR: Out of GPU memory", ""},

    // Servers that load models.
    {failure, "ggml",
     "ggml_backend_cann_buffer_type_alloc_buffer: allocating 64.00 MiB on device 1: aclrtMalloc failed: EL0004",
     "requested 67108864, device 1"},
    {failure, "ggml", "ggml_backend_sycl_buffer_type_alloc_buffer: can't allocate 3503030272 Bytes of memory on device",
     "requested 3503030272"},
    {failure, "ggml", "ggml_gallocr_reserve_n: failed to allocate SYCL1 buffer of size 1048576",
     "requested 1048576, device 1"},
    {failure, "Metal in ggml", "ggml_metal_buffer: error: failed to allocate buffer, size =   512.00 MiB",
     "requested 536870912"},
    {failure, "ggml's output buffer", "output_reserve: failed to allocate output buffer of size 300.00 MiB",
     "requested 314572800"},
    {failure, "Ollama", "level=ERROR msg=\"insufficient memory - required allocations: {InputWeights:1 CPU:{...}}\"",
     ""},
    {failure, "ggml", "llama_model_load: error loading model: unable to allocate CUDA1 buffer", "device 1"},
    {failure, "ggml", "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers",
     ""},
    {failure, "ggml", "ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory", ""},
    {recovery, "ggml", "llama_context: failed to allocate compute pp buffers, retrying without pipeline parallelism",
     ""},
    {recovery, "ggml", "ggml_vulkan: Failed to allocate pinned memory.", ""},
    {recovery, "Ollama",
     "level=INFO msg=\"model requires more memory than is currently available, evicting a model to make space\"", ""},
    {failure, "Metal in MLX",
     "[metal::malloc] Attempting to allocate 21474836480 bytes which is greater than the maximum allowed buffer size "
     "of "
     "17179869184 bytes.",
     "requested 21474836480, limit 17179869184"},
    {failure, "Metal in MLX",
     "RuntimeError: Attempting to allocate 21474836480 bytes which is greater than the maximum allowed buffer size of "
     "17179869184 bytes.",
     "requested 21474836480, limit 17179869184"},
    {failure, "Metal in MLX", "RuntimeError: [malloc] Unable to allocate 4294967296 bytes.", "requested 4294967296"},
    {failure, "Metal in MLX", "RuntimeError: [malloc_or_wait] Unable to allocate 8192 bytes.", "requested 8192"},
    {failure, "vLLM's swap space",
     "ValueError: Too large swap space. 16.00 GiB out of the 15.50 GiB total CPU memory is allocated for the swap "
     "space.",
     "requested 17179869184, memory of the host 16642998272"},
    {failure, "vLLM",
     "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try lowering "
     "`max_num_seqs`",
     ""},
    {failure, "FlashInfer's workspace",
     "allocator.h:49: Buffer overflow when allocating memory for batch_prefill_tmp_v with size 2415919104 and "
     "alignment "
     "16, but only 2147483648 bytes available in AlignedAllocator. Increase the workspace buffer size.",
     "requested 2415919104, free 2147483648"},
    {failure, "FlashInfer's workspace",
     "RuntimeError: Failed to allocate memory for batch_prefill_tmp_v with size 448659456 and alignment 16 in "
     "AlignedAllocator",
     "requested 448659456"},
    {recovery, "Triton's pool",
     "W memory.cc:182] Failed to allocate CUDA memory with byte size 4096 on GPU 0: CNMEM_STATUS_OUT_OF_MEMORY, "
     "falling "
     "back to pinned system memory",
     ""},
    {failure, "Triton's pool",
     "Failed to allocate CUDA memory with byte size 4096 on GPU 2: CNMEM_STATUS_OUT_OF_MEMORY",
     "requested 4096, device 2"},
    {recovery, "Triton's pinned memory",
     "failed to allocate pinned system memory: no pinned memory pool, falling back to non-pinned system memory", ""},

    // Libraries.
    {failure, "NCCL", "nodeA:1:2 [3] include/alloc.h:32 NCCL WARN Failed to CUDA host alloc 4096 bytes",
     "requested 4096, device 3"},
    {failure, "NCCL", "nodeA:1:2 [1] include/alloc.h:47 NCCL WARN Failed to malloc 8192 bytes",
     "requested 8192, device 1"},
    {failure, "PaddlePaddle",
     "Out of memory error on GPU 1. Cannot allocate 512.000000MB CUDA managed memory on GPU 1, 8.000000GB memory has "
     "been "
     "allocated.",
     "requested 536870912, used 8589934592, device 1"},
    {failure, "PaddlePaddle", "Out of memory error on XPU 2. Cannot allocate 512.000000MB memory on XPU 2.",
     "requested 536870912, device 2"},
    {failure, "MXNet's pool", "src/storage/./pooled_storage_manager.h:212: Memory allocation failed out of memory", ""},
    {failure, "MXNet", "src/storage/./cpu_device_storage.h:75: Failed to allocate CPU Memory", ""},
    {failure, "HIP's runtime",
     ":0:rocdevice.cpp:2984: Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime "
     "failed to allocate the necessary resources. Code: 0x1008 Available Free mem : 512 MB",
     "available 536870912"},
    {failure, "GPU driver",
     "[E:onnxruntime:, cuda_call.cc:118] CUDA failure 2: out of memory ; GPU=1 ; hostname=box ; "
     "expr=cudaMalloc((void**)&p, size);",
     "device 1"},
    {failure, "GPU driver", "RuntimeError: Triton Error [CUDA]: out of memory", ""},
    {failure, "GPU driver",
     "dgl._ffi.base.DGLError: cuda_device_api.cc:117: Check failed: e == cudaSuccess || e == cudaErrorCudartUnloading: "
     "CUDA: out of memory",
     ""},
    {failure, "ggml", "ROCm error: out of memory\n  current device: 1, in function alloc at ggml-cuda.cu:433",
     "device 1"},
    {recovery, "ComfyUI", "Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.",
     ""},
    {recovery, "PyTorch's allocator",
     "[WARNING] [stage3.py:2160:step] 1 pytorch allocator cache flushes since last step. this happens when there is "
     "high "
     "memory pressure and is detrimental to performance.",
     ""},

    // Memory of the host.
    {failure, "Python", "MemoryError", ""},
    {kill, "a Slurm job",
     "slurmstepd: error: Detected 1 oom-kill event(s) in step 77.0 cgroup. Some of your processes may have been killed "
     "by the cgroup out-of-memory handler.",
     ""},
    {kill, "a Slurm job", "slurmstepd: error: Exceeded step memory limit at some point.", ""},
    // The unit differs between versions.
    {kill, "a Slurm job", "slurmstepd: error: Job 77 exceeded memory limit (8500000 > 8388608), being killed", ""},
    {kill, "the kernel's OOM killer", "Out of memory: Kill process 4711 (python) score 905 or sacrifice child",
     "program python"},
    {kill, "the kernel's OOM killer",
     "Killed process 4711 (python) total-vm:2048kB, anon-rss:1024kB, file-rss:0kB, shmem-rss:0kB",
     "used 1048576, program python, held by the killed process 1048576"},
    {kill, "LSF", "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", ""},
    {kill, "a systemd unit", "systemd[1]: train.service: A process of this unit has been killed by the OOM killer.",
     ""},
    {kill, "a systemd unit", "systemd[1]: train.service: Failed with result 'oom-kill'.", ""},
    {kill, "systemd-oomd",
     "systemd-oomd[7]: Killed /user.slice/train.scope due to memory used (64000000000) / total (67000000000) and swap "
     "used (1000) / total (2000) being more than 90.00%",
     "used 64000000000, limit 67000000000"},
    {kill, "a Kubernetes node",
     "The node was low on resource: memory. Threshold quantity: 100Mi, available: 17348Ki. Container app was using "
     "188Ki, request is 0, has larger consumption of memory.",
     "used 192512"},
    {kill, "a Ray node",
     "Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.7, ID: 6f) where the task "
     "(task ID: 4f, name=f, pid=7, memory used=1.25GB) was running was 28.00GB / 28.50GB (0.98), which exceeds the "
     "memory usage threshold of 0.95.",
     "used 30064771072, limit 30601641984, in use on the node 30064771072, memory of the node 30601641984, held by the "
     "killed task 1342177280"},

    // Older words, and those of programs that print the driver's code.
    {failure, "GPU driver", "THCudaCheck FAIL file=/b/THC/generic/THCStorage.cu line=58 error=2 : out of memory", ""},
    {failure, "ggml", "CUDA error 2 at /src/ggml-cuda.cu:4000: out of memory\ncurrent device: 1", "device 1"},
    {failure, "GPU driver", "CUDA error 2 at kernels.cu:12: out of memory", ""},
    {failure, "ggml", "Device memory allocation of size 4294967296 failed.", "requested 4294967296"},
    {failure, "GPU driver", "[KeOps] error: cuMemAlloc(&p, n) failed with error CUDA_ERROR_OUT_OF_MEMORY", ""},
    {failure, "torch_memory_saver",
     "[torch_memory_saver.cpp] CUresult error  result=2 file=csrc/core.cpp func=f line=7", ""},
    {failure, "GPU driver",
     "Error while calling cudaMalloc(&data, bytes) in file /d/cudnn.cpp:70. code: 2, reason: out of memory", ""},
    {failure, "PaddlePaddle", "EnforceNotMet: enforce allocating <= available failed, 8589934592 > 1073741824",
     "requested 8589934592, available 1073741824"},
    {failure, "shared memory of a Triton kernel",
     "out of resource: shared memory, Required: 131072, Hardware limitation: 65536. reducing the block size may help",
     "requested 131072, limit 65536"},
    {failure, "GPU driver at its start", "CudaAPIError: [2] Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY", ""},
    {recovery, "vLLM's KV cache",
     "Sequence group 4 is preempted in PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.", ""},
    {status, "Metal in MLX", "Iter 10: Train loss 0.4, It/sec 0.2, Peak mem 24.5 GB", "most used 24500000000"},
    {kill, "a worker of the DataLoader", "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error.",
     ""},
    {kill, "a worker of the DataLoader",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
     ""},
    {kill, "a Kubernetes pod", "      Reason: OOM Killed", ""},
    {kill, "the host", "      Exit Code:    137", ""},
    {kill, "a Ray node", "RayOutOfMemoryError: More than 95% of the memory on node a is used (30.0 / 31.0 GB).",
     "used 32212254720, limit 33285996544, in use on the node 32212254720, memory of the node 33285996544"},

    // Where memory went at the start of a server.
    {accounting, "ggml",
     "llama_model_load_from_file_impl: using device Vulkan1 (NVIDIA A100-SXM4-80GB) (0000:01:00.0) - 11024 MiB free",
     "device 1, free_before_bytes 11559501824"},
    {accounting, "ggml", "load_tensors: offloaded 31/33 layers to GPU", "layers_on_gpu 31, layers 33"},
    {accounting, "ggml", "load_tensors:      MTL0_Mapped model buffer size =  1024.00 MiB",
     "device 0, model: 1073741824"},
    {accounting, "ggml", "llm_load_tensors:      CUDA0 buffer size =  1024.00 MiB", "device 0, model: 1073741824"},
    {accounting, "ggml", "llama_memory_recurrent:      CUDA0 RS buffer size =    64.00 MiB",
     "device 0, +recurrent states: 67108864"},
    {accounting, "ggml", "level=INFO source=device.go:240 msg=\"model weights\" device=CUDA0 size=\"4.5 GiB\"",
     "device 0, model: 4831838208"},
    {accounting, "vLLM",
     "INFO [gpu_worker.py:1] CUDA graph pool memory: 0.5 GiB (actual), 0.75 GiB (estimated), difference: 0.25 GiB "
     "(50.0%).",
     "graphs: 536870912"},
    {accounting, "vLLM",
     "INFO [gpu_worker.py:391] Free memory on device (78.50/79.00 GiB) on startup. Desired GPU memory utilization is "
     "(0.9, 71.10 GiB). Actual usage is 14.00 GiB for weight, 2.00 GiB for peak activation, 0.50 GiB for non-torch "
     "memory, and 0.75 GiB for CUDAGraph memory. Current kv cache memory in use is 57982058496 bytes.",
     "total 84825604096, weights: 15032385536, activations at their peak: 2147483648, outside PyTorch: 536870912, "
     "graphs: "
     "805306368, KV cache: 57982058496, free_before_bytes 84288733184"},
    {accounting, "vLLM",
     "Free memory on device (78.50/79.00 GiB) on startup. Desired GPU memory utilization is (0.92, 72.68 GiB). Actual "
     "usage is 15.25 GiB for consumed memory (weights + non-torch), 1.50 GiB for peak activation, and 0.25 GiB for "
     "CUDAGraph memory. Current kv cache memory in use is 54.0 GiB.",
     "total 84825604096, weights, and outside PyTorch: 16374562816, activations at their peak: 1610612736, graphs: "
     "268435456, KV cache: "
     "57982058496, free_before_bytes 84288733184"},
    {accounting, "SGLang", "[TP0] Load weight begin. avail mem=78.50 GB", "free_before_bytes 84288733184"},
    {accounting, "SGLang",
     "[TP0] Load weight end. elapsed=93.30 s, type=X, dtype=torch.bfloat16, avail mem=60.00 GB, mem usage=18.00 GB.",
     "weights: 19327352832, free_after_bytes 64424509440"},
    {accounting, "SGLang",
     "Mamba Cache is allocated. max_mamba_cache_size: 64, conv_state size: 0.50GB, ssm_state size: 3.00GB",
     "convolution states: 536870912, SSM states: 3221225472"},
    {accounting, "SGLang",
     "Capture target decode CUDA graph end. elapsed=22.18 s, mem usage=2.00 GB, avail mem=14.00 GB.",
     "graphs: 2147483648, free_after_bytes 15032385536"},
    {accounting, "TensorRT-LLM",
     "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 16.00 GiB for max tokens in paged KV cache (263008).",
     "KV cache: 17179869184"},
    {kill, "a Kubernetes pod", "OOM Killed", ""},
};

INSTANTIATE_TEST_SUITE_P(all, Wordings, testing::ValuesIn(lines));

TEST(Wordings, that_are_like_those_of_a_lack_of_memory_and_say_something_else_are_none) {
  for (const std::string_view line :
       {"ValueError: Possibly too large swap space. 8.00 GiB out of the 15.27 GiB total CPU memory is allocated",
        "MemoryError: std::bad_alloc: CUDA error at: /rmm/x.hpp:66: cudaErrorIllegalAddress an illegal memory access",
        "RuntimeError: unable to mmap 4096 bytes from file </a>: No such device (19)",
        "out of resource: threads, Required: 2048, Hardware limit: 1024."})
    EXPECT_FALSE(find_sentence(line)) << line;
}

TEST(Wordings, in_code_and_in_prose_about_them_are_no_event) {
  for (const std::string_view line :
       {"if (e) { fprintf(stderr, \"CUDA error: out of memory\\n\"); }",
        "- raise E('CUDA out of memory. Tried to allocate 2.00 GiB')", "- `OOMKilled`: raise the limit",
        "  - alert: PodOOMKilled", "reason=\"OOMKilled\"", "  --adj N  of the OOM killer (oom_kill event)",
        "it says 'Exceeded job memory limit' then", "tests/t.py::test_cuda_out_of_memory PASSED",
        "models no longer run out of memory", "If you see an error such as out of memory, take less."})
    EXPECT_TRUE(findings_of(std::string(line) + "\n").failures.empty()) << line;
  for (const std::string_view line : {"'reason': 'OOMKilled', 'started_at': 1", "pod a terminated (exit code 137)"})
    EXPECT_EQ(1U, findings_of(std::string(line) + "\n").failures.size()) << line;
}

TEST(Wordings, that_no_row_has_are_a_failure_where_a_line_of_an_error_says_it) {
  for (const std::string_view line :
       {"java.lang.OutOfMemoryError: Java heap space", "fatal error: runtime: out of memory",
        "[worker 3] ERROR: device pool 7: out of memory", "mmap failed: Cannot allocate memory"})
    EXPECT_EQ(1U, findings_of("one\n" + std::string(line) + "\ntwo\n").failures.size()) << line;
  for (const std::string_view line :
       {"Error: how do I fix out of memory?", "# error: out of memory", "--oom-score: kill when out of memory",
        "except torch.OutOfMemoryError: pass", "raise OutOfMemoryError: x", "to avoid errors: never run out of memory",
        "This page is about out of memory", "- Fixed `error: out of memory` on Windows"})
    EXPECT_TRUE(findings_of("one\n" + std::string(line) + "\ntwo\n").failures.empty()) << line;
  // Beside another failure it says nothing new.
  const Findings both = findings_of("error: out of memory\nCUDA error: out of memory\n");
  ASSERT_EQ(1U, both.failures.size());
  EXPECT_EQ("GPU driver", both.failures[0].sentence->allocator);
}

TEST(Wordings, of_one_attempt_are_one_failure) {
  const auto only = [](std::string_view text) {
    const Findings found = findings_of(text);
    EXPECT_EQ(1U, found.failures.size()) << text;
    return found.failures.at(0);
  };
  const Finding tries = only(
      "failed to alloc 3145728 bytes on host: CUDA_ERROR_OUT_OF_MEMORY\n"
      "could not allocate pinned host memory of size: 3145728\n"
      "failed to alloc 2097152 bytes on host: CUDA_ERROR_OUT_OF_MEMORY\n"
      "could not allocate pinned host memory of size: 2097152\n");
  EXPECT_EQ(1U, tries.times);
  EXPECT_EQ("requested 3145728, the last size tried 2097152", figures_of(*tries.sentence));
  const Finding ggml = only(
      "Error: runner has terminated: cudaMalloc failed: out of memory\n"
      "ggml_gallocr_reserve_n: failed to allocate CUDA1 buffer of size 1048576\n");
  EXPECT_EQ("requested 1048576, device 1", figures_of(*ggml.sentence));
  EXPECT_EQ(1U, ggml.times);
  const Finding nccl = only(
      "h:1:2 [3] include/alloc.h:1 NCCL WARN Cuda failure 'out of memory'\n"
      "h:1:2 [3] include/alloc.h:2 NCCL WARN Failed to CUDA calloc 1024 bytes\n");
  EXPECT_EQ("requested 1024, device 3", figures_of(*nccl.sentence));
  EXPECT_EQ(1U, nccl.times);
  const Findings vulkan = findings_of(
      "ggml_vulkan: Failed to allocate pinned memory.\nggml_vulkan: vk::Device::allocateMemory: "
      "ErrorOutOfDeviceMemory\n");
  ASSERT_EQ(1U, vulkan.failures.size());
  EXPECT_FALSE(vulkan.failures[0].got_over.empty());
}

TEST(Wordings, end_where_the_next_entry_of_the_log_begins) {
  for (const std::string_view next : {"E1103 18:23:55.1 7 a.cc:1] Stats: Limit: 0", "INFO 01-23 14:00:00 [x.py:1] on",
                                      "[2026-01-23 14:00:00] on", "2026-01-23 on"}) {
    const Findings found = findings_of(
        "E1103 18:23:55.1 7 a.cc:1] cuMemAllocAsync failed to allocate 4096 bytes: RESOURCE_EXHAUSTED\n"
        " Reported by CUDA: Free memory/Total memory: 1024/2048\n" +
        std::string(next) + "\n");
    ASSERT_EQ(1U, found.failures.size());
    const Sentence& said = *found.failures[0].sentence;
    EXPECT_TRUE(said.text.ends_with("1024/2048")) << said.text;
  }
  const auto again = find_sentence(
      "raise ValueError(\"No available memory for the cache blocks. \" ValueError: No available memory for the cache "
      "blocks. Try more.");
  ASSERT_TRUE(again);
  EXPECT_EQ("No available memory for the cache blocks. Try more.", again->text);
}

TEST(Wordings, may_have_exbibytes) {
  EXPECT_EQ(std::uint64_t{2} << 60, WordCursor("2E,", 0).take_size()->bytes);
  EXPECT_EQ(3U, WordCursor("3E+05", 0).take_size()->bytes);
  EXPECT_EQ(1U,
            findings_of("Aborting compilation early because it's unlikely to have enough memory. Requires 2.00E, has "
                        "16.00G available.\n")
                .failures.size());
}

TEST(Wordings, are_read_in_a_quotation_of_a_quotation) {
  EXPECT_EQ(1U, findings_of("> > Next region\n>> > CUDA error: out of memory\n").failures.size());
}

}  // namespace
}  // namespace hbmscope::log
