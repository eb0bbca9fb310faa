// Texts of programs that few know, what was got over, and growth that is told in words or printed without a unit.
#include "tests/analysis/wild_text.h"

namespace hbmscope {
namespace {

const tests::WildText program_texts[] = {
    {"a batch finder that went on",
     "AutoBatch: Computing optimal batch size for imgsz=640\nCUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 "
     "has "
     "a total capacity of 16.00 GiB of which 20.00 MiB is free. Of the allocated memory 15.00 GiB is allocated by "
     "PyTorch, and 600.00 MiB is reserved by PyTorch but unallocated.\nAutoBatch: Using batch-size 7 for CUDA:0 "
     "9.10G/16.00G (57%)\n",
     "none",
     {"Not a failure", "took one that fits"},
     {"a smaller batch"}},
    {"requests that SGLang takes back",
     "[2025-05-01 10:00:00 TP1] Decode out of memory happened. #retracted_reqs: 2, #new_token_ratio: 0.20 -> 0.30\n",
     "none",
     {"Not a failure", "--schedule-conservativeness"},
     {"in all of"}},
    {"a note of TensorFlow",
     "2021-02-03 10:00:00.000001: W tensorflow/core/common_runtime/bfc_allocator.cc:248] Allocator (GPU_0_bfc) ran out "
     "of memory trying to allocate 3.10GiB with freed_by_count=0. The caller indicates that this is not a failure, but "
     "may mean that there could be performance gains if more memory were available.\n",
     "none",
     {"Not a failure", "runs with less memory"},
     {}},
    {"pinned memory of llama.cpp",
     "ggml_cuda_host_malloc: failed to allocate 900.00 MiB of pinned memory: invalid argument\n",
     "none",
     {"Not a failure", "isn't pinned"},
     {}},
    {"growth in words",
     "Resident GPU memory grew from 400 MB to 6400 MB over 30 hours of requests.\n",
     "none",
     {"5.86 GiB more"},
     {}},
    {"readings without a unit",
     "mem_usage: 512.5\nmem_usage: 513.5\nmem_usage: 514.5\nmem_usage: 516.5\n",
     "none",
     {"512.5 in line 1", "516.5 in line 4", "+4 in 3 more lines", "no unit"},
     {}},
    {"readings after a warm-up",
     "Used GPU Memory MB 4,100.50\nUsed GPU Memory MB 2,000.00\nUsed GPU Memory MB 2,010.00\nUsed GPU Memory MB "
     "2,020.00\nUsed GPU Memory MB 2,030.00\n",
     "none",
     {"2000 in line 2", "+30 in 3 more lines, +10 each"},
     {"no unit"}},
    {"CUDA.jl's status",
     "Effective GPU memory usage: 99.00% (5.940 GiB/6.000 GiB)\nMemory pool usage: 3.000 GiB (5.500 GiB reserved)\n",
     "none",
     {"3.00 GiB", "5.50 GiB reserved"},
     {}},
    {"CUDA.jl at its limit",
     "Out of GPU memory trying to allocate 9.000 MiB\nEffective GPU memory usage: 90.00% (14.400 GiB/16.000 GiB)\nCUDA "
     "allocator usage: 13.980 GiB (capped at 14.000 GiB)\nbinned usage: 16.000 KiB (16.000 KiB allocated, 0 bytes "
     "cached)\n",
     "pool_limit",
     {"near its limit of 14.0 GiB", "JULIA_CUDA_HARD_MEMORY_LIMIT"},
     {"a device that nothing else uses"}},
    {"CuPy's limit",
     "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,610,612,736 bytes (allocated so far: 1,073,741,824 "
     "bytes, limit set to: 2,147,483,648 bytes).\n",
     "pool_limit",
     {"leaves 1.00 GiB to grow: requested 1.50 GiB", "free_all_blocks()", "set_limit()"},
     {"is in use"}},
    {"RELION",
     "cudaCustomAllocator out of memory\n [requestedSpace:             50331648 B]\n [largestContinuousFreeSpace: "
     "31457280 B]\n [totalFreeSpace:             41943040 B]\n",
     "unknown",
     {"Requested 48.0 MiB; 40.0 MiB was free in the pool", "--free_gpu_memory"},
     {"checkpointing"}},
    {"TensorRT's builder",
     "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (no further "
     "information)\n[TRT] [W] Requested amount of GPU memory (21474836480 bytes) could not be allocated. There may not "
     "be enough free memory for allocation to succeed.\n",
     "unknown",
     {"Requested 20.0 GiB", "while the engine is built"},
     {"(1 of 2)", "framework's pool"}},
    {"a board that shares its memory",
     "board: jetson orin\n[TensorRT] ERROR: Requested amount of memory (209715200 bytes) could not be allocated. There "
     "may not be enough free memory for allocation to succeed.\n",
     "unknown",
     {"Requested 200 MiB", "tegrastats"},
     {"nvidia-smi"}},
    {"Ollama by its path",
     "CUDA error: out of memory\n  current device: 0, in function ggml_cuda_pool_malloc_vmm at "
     "C:\\src\\ollama\\llm\\llama.cpp\\ggml-cuda.cu:8000\n  cuMemCreate(&handle, reserve_size, &prop, 0)\n",
     "unknown",
     {"engine: ollama", "num_gpu", "num_ctx"},
     {"a smaller batch or input"}},
    {"a buffer that Vulkan never gives",
     "ggml_vulkan: Device memory allocation of size 4831838208 failed.\nggml_vulkan: Requested buffer size exceeds "
     "device memory allocation limit: ErrorOutOfDeviceMemory\nggml_gallocr_reserve_n: failed to allocate Vulkan0 "
     "buffer of size 4831838208\n",
     "driver_refused",
     {"Requested 4.50 GiB as a single allocation", "-ub"},
     {"how much was free is unknown"}},
    {"LM Studio's guardrail",
     "LM Studio: Model loading was stopped due to insufficient system resources. Under the current settings, this "
     "model "
     "requires approximately 120.00 GB of memory, and continuing to load it would likely overload your system.\n",
     "unknown",
     {"expects the model to need 120 GiB", "Context Length"},
     {"nvidia-smi"}},
    {"vLLM without a block for its cache",
     "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 16.00 "
     "GiB of which 300.00 MiB is free.\nvllm serve model --gpu-memory-utilization 0.97\nINFO # GPU blocks: 0, # CPU "
     "blocks: 600\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
     "initializing the engine.\n",
     "too_big",
     {"a smaller or a quantized model"},
     {"--gpu-memory-utilization 0.92"}},
    {"one array that is more than a TPU has",
     "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=34359738368) would exceed memory "
     "(size=33822867456) :: #allocation374 [shape = 'bf16[8,32,8192,8192]{2,3,1,0:T(8,128)(2,1)}', space=hbm, size = "
     "0xffffffffffffffff, tag = 'output of fusion.549@{1}'] :: <no-hlo-instruction>\n",
     "compile_time",
     {"never have all of bf16[8,32,8192,8192] at once: flash attention", "output of fusion.549"},
     {"donate", "checkpointing"}},
    {"a driver that doesn't know what a process has",
     "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.00 GiB is "
     "free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the allocated memory "
     "14.00 GiB is allocated by PyTorch, and 500.00 MiB is reserved by PyTorch but unallocated.\n",
     "driver_refused",
     {"page file"},
     {"EiB", "this process: "}},
    {"PyTorch's words within those of another program",
     "panicked at 'Unable to warmup model: Generation(\"Allocation on device 0 would exceed allowed memory. (out of "
     "memory)\\nCurrently allocated     : 15.00 GiB\\nRequested               : 4.00 GiB\\nDevice limit            : "
     "22.00 GiB\\nFree (according to CUDA): 16.00 MiB\")'\ntext_generation_launcher: Webserver Crashed\n",
     "too_big",
     {"requested 4.00 GiB, and 16.0 MiB was free", "--max-batch-prefill-tokens"},
     {"does not say how much was requested"}},
    {"Ray's threshold",
     "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: "
     "10.0.0.1, ID: 00) where the task (task ID: 01, name=work, pid=7, memory used=10.00GB) was running was 20.00GB / "
     "32.00GB (0.625), which exceeds the memory usage threshold of 0.6. Ray killed this worker.\n",
     "host_memory",
     {"20.0 GiB of 32.0 GiB", "Ray kills above 0.6", "RAY_memory_usage_threshold (0.6 now"},
     {}},
    {"a control group's report without its end",
     "[100.000001] memory: usage 262144kB, limit 262144kB, failcnt 99\n[100.000002] memory+swap: usage 0kB, limit "
     "9007199254740988kB, failcnt 0\n",
     "host_memory",
     {"256 MiB", "resources.limits.memory"},
     {}},
    {"a child that the kernel killed to no use",
     "[1.0] Out of memory: Kill process 500 (python) score 900 or sacrifice child\n[1.1] Killed process 501 (python) "
     "total-vm:1463280kB, anon-rss:0kB, file-rss:10kB\n[2.0] Out of memory: Kill process 500 (python) score 900 or "
     "sacrifice child\n[2.1] Killed process 500 (python) total-vm:100000000kB, anon-rss:83886080kB, file-rss:10kB\n",
     "host_memory",
     {"It had 80.0 GiB of it"},
     {"0 B"}},
    {"a kernel that is far too large",
     "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 655360, Hardware limit: 101376. "
     "Reducing block sizes or `num_stages` may help.\n",
     "shared_memory",
     {"6.5 times", "may have 99.0 KiB"},
     {"1. smaller block sizes"}},
    {"unified memory",
     "TF_FORCE_UNIFIED_MEMORY=1\nI external/org_tensorflow/tensorflow/compiler/xla/pjrt: Execution of replica 0 "
     "failed: "
     "Resource exhausted: Out of memory while trying to allocate 42949672960 bytes.\n",
     "unknown",
     {"Requested 40.0 GiB", "a larger XLA_PYTHON_CLIENT_MEM_FRACTION"},
     {"nvidia-smi"}},
    {"a process that the text names to two decimals",
     "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 32.00 GiB of which 400.00 MiB is "
     "free. Including non-PyTorch memory, this process has 16.58 GiB memory in use. Process 77 has 15.03 GiB memory in "
     "use. Of the allocated memory 15.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
     "unallocated.\n",
     "held_elsewhere",
     {"15.0 GiB of the device's 32.0 GiB is held by process 77", "594 MiB"},
     {}},
    {"Windows' page file",
     "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "
     "\"torch.dll\" or "
     "one of its dependencies.\n",
     "host_memory",
     {"a larger page file", "fewer processes"},
     {"nvidia-smi"}},
    {"TensorFlow's first try for the whole device",
     "totalMemory: 11.17GiB freeMemory: 11.00GiB\nE tensorflow/stream_executor/cuda/cuda_driver.cc:903] failed to "
     "allocate "
     "11.17G (11993696174 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
     "none",
     {"Not a failure", "11.0 GiB was free", "requests less by itself"},
     {"others most likely"}},
    {"SGLang's words without figures, and what it said before",
     "[2025-01-01 10:00:00 TP0] Load weight begin. avail mem=40.00 GB\n[2025-01-01 10:00:09 TP0] Load weight end. "
     "type=Model, dtype=torch.bfloat16, avail mem=5.00 GB\nRuntimeError: Not enough memory. Please try to increase "
     "--mem-fraction-static.\n",
     "unknown",
     {"of 40.0 GiB that was free, the weights leave 5.00 GiB"},
     {"says neither"}},
    {"Ollama without enough RAM",
     "Error: model requires more system memory (60.0 GiB) than is available (20.0 GiB)\n",
     "host_memory",
     {"requested 60.0 GiB, and 20.0 GiB was free", "a smaller model"},
     {"ran out", "memory-mapped"}},
    {"a buffer that Metal doesn't allow",
     "RuntimeError: [metal::malloc] Attempting to allocate 34359738368 bytes which is greater than the maximum allowed "
     "buffer size of 25769803776 bytes.\n",
     "too_big",
     {"--prefill-step-size"},
     {"fewer bits"}},
    {"a version before the settings",
     "torch 1.4.0\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity; 4.00 "
     "GiB "
     "already allocated; 20.00 MiB free; 14.00 GiB reserved in total by PyTorch)\n",
     "fragmentation",
     {"the largest input first"},
     {"ALLOC_CONF"}},
    {"a GPU of which the runtime sees a part",
     "[drm] amdgpu: 65536M of VRAM memory ready\ntorch.OutOfMemoryError: HIP out of memory. Tried to allocate 40.00 "
     "GiB. GPU "
     "0 has a total capacity of 32.00 GiB of which 31.00 GiB is free. Of the allocated memory 0 bytes is allocated by "
     "PyTorch, and 0 bytes is reserved by PyTorch but unallocated.\n",
     "too_big",
     {"1. a newer driver and ROCm", "64.0 GiB"},
     {}},
    {"inference with diffusers",
     "pipe = DiffusionPipeline.from_pretrained(name)  # diffusers\npipe(prompt, "
     "num_inference_steps=20)\nOutOfMemoryError: "
     "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 15.00 GiB of which 30.00 MiB is "
     "free. "
     "Of the allocated memory 14.50 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but "
     "unallocated.\n",
     "too_big",
     {"enable_sequential_cpu_offload()"},
     {"checkpointing"}},
    {"figures of two devices, by their names",
     "nvidia-smi GPU-0 memory (MB) 3000\nnvidia-smi GPU-1 memory (MB) 1700\nnvidia-smi GPU-0 memory (MB) "
     "3002\nnvidia-smi "
     "GPU-1 memory (MB) 1700\nnvidia-smi GPU-0 memory (MB) 3004\nnvidia-smi GPU-1 memory (MB) 1700\n",
     "none",
     {"GPU-0 memory (MB)\": 3000 in line 1, and 3004 in line 5 (+4", "GPU-1 memory (MB)\": 1700 in all of 3"},
     {}},
    {"addresses are no sizes",
     "Total allocated bytes: 20000000000\nAllocated memory at 0000001B2D400000 to 0000001B46FFCC00\nTotal allocated "
     "bytes: "
     "20400000000\nAllocated memory at 0000002B2D400000 to 0000002B46FFCC00\nTotal allocated bytes: 20800000000\n",
     "none",
     {"+763 MiB in 2 more lines"},
     {"Allocated memory at"}},
    {"R", "Error: cannot allocate vector of size 500.0 MB\n", "host_memory", {"requested 500 MiB"}, {"nvidia-smi"}},
    {"what `free` shows again and again",
     "              total  used  free  shared  buff/cache  available\nMem:   64  3  20  0  41  60\nSwap:  2  0  "
     "2\nMem:   64  5  18 "
     " 0  41  58\nMem:   64  8  15  0  41  55\n",
     "none",
     {"in use, by free\": 3 in line 2, and 8 in line 5 (+5"},
     {"64"}},
    {"a buffer that fits, on Windows",
     "OS: Windows\nllama_load_model_from_file: using device CUDA0 (NVIDIA GeForce) - 12000 MiB "
     "free\nllama_load_model_from_file: using device CUDA1 (NVIDIA GeForce) - 15000 MiB "
     "free\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 1: cudaMalloc failed: out of "
     "memory\n",
     "driver_refused",
     {"8.79 GiB although 14.6 GiB was free", "1. a larger page file"},
     {"-ub"}},
    {"the rest of a full device and of a full pool",
     "CUDA out of memory. Tried to allocate 120.00 MiB (GPU 0; 32.00 GiB total capacity; 30.40 GiB already allocated; "
     "60.00 "
     "MiB free; 30.48 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
     "max_split_size_mb to avoid fragmentation.\n",
     "too_big",
     {"The device is full"},
     {"max_split_size_mb:128"}},
    {"a table of nvidia-smi beside the failure",
     "CUDA error 2 at ggml-cuda.cu:100: out of memory\n|   GPU  Name  Memory-Usage |\n|   0  NVIDIA GeForce  Off |\n| "
     "30%  40C "
     "P2  40W / 180W |   7900MiB /  8000MiB |  0% |\n|    0   N/A  N/A     4242      C   python      7800MiB |\n",
     "unknown",
     {"7.71 GiB of 7.81 GiB was in use (line 4)", "end process 4242 (python), 7.62 GiB"},
     {"says neither"}},
    {"a fraction below the default",
     "XLA_PYTHON_CLIENT_MEM_FRACTION=.40\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate "
     "request for 3.00GiB (3221225472B) on device ordinal 0\n",
     "unknown",
     {"1. XLA_PYTHON_CLIENT_MEM_FRACTION=.90"},
     {"TF_BFC_MEMORY_DUMP"}},
    {"llama.cpp without flash attention",
     "llama_context: flash_attn    = 0\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 18000.00 MiB on device "
     "0: "
     "cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 18874368000\n",
     "unknown",
     {"1. flash attention (-fa), a smaller batch (-ub)"},
     {}},
};

class WildProgramTexts : public testing::TestWithParam<tests::WildText> {};

TEST_P(WildProgramTexts, are_answered) {
  expect_answered(GetParam());
}

INSTANTIATE_TEST_SUITE_P(all, WildProgramTexts, testing::ValuesIn(program_texts));

}  // namespace
}  // namespace hbmscope
