#include <array>

#include "analysis/read/log/wording.h"
#include "analysis/trace/failure_details.h"

namespace hbmscope::log {
namespace {

using enum SentenceKind;

// c10/cuda/CUDACachingAllocator.cpp, in the wordings of PyTorch 1.0 to 2.10. HIP, XPU and others print the same.
// "cached" of PyTorch 1.0 to 1.3 is what is reserved and not allocated. 2^64 bytes stand for what the driver does not
// report.
constexpr std::string_view pytorch_clauses =
    "GPU {device} has a total capacity of {total}\n"
    "GPU {device} has a total capacty of {total}\n"
    "of which {available} is free\n"
    "(GPU {device}; {total} total capacity;\n"
    "(NPU {device}; {total} total capacity;\n"
    "total capacity; {used} already allocated;\n"
    "already allocated; {available} free;\n"
    "current active; {available} free;\n"
    "free; {pool} reserved in total by PyTorch\n"
    "free; {limit} allowed;\n"
    "allowed; {pool} reserved in total by PyTorch\n"
    "free; {free} cached\n"
    "+Process {@process_} has {.} memory in use\n"
    "this process has {.this process} memory in use\n"
    "is free. {limit} allowed;\n"
    "memory in use. {limit} allowed;\n"
    "Of the allocated memory {used} is allocated by PyTorch\n"
    "with {.private pools} allocated in private pools\n"
    "by PyTorch, and {free} is reserved by PyTorch but unallocated\n"
    "Graphs), and {free} is reserved by PyTorch but unallocated";

constexpr std::string_view xla_clauses =
    "with allocator {allocator_}\n"
    "on device {device}\n"
    "executable_name='{program'}'\n"
    "by allocator {allocator_}\n"
    "parameter allocation: {.parameters}\n"
    "maybe_live_out allocation: {.outputs}\n"
    "preallocated temp allocation: {.temporaries}\n"
    "total allocation: {.all of the program}";

// Version 3 and earlier say what is cached, later ones what is reserved.
constexpr std::string_view julia_clauses =
    "Effective GPU memory usage: {*(}({.in use on the device}/{total})\n"
    "CUDA allocator usage: {pool}\n"
    "pool usage: {pool} ({used} allocated, {free} cached)\n"
    "binned usage: {.binned} ({used} allocated, {free} cached)\n"
    "Memory pool usage: {used} ({pool} reserved)\n"
    "(capped at {limit})\n"
    "hard = {limit}";

constexpr std::string_view anon_memory = ", anon-rss:{used}\n, anon-rss:{.held by the killed process}";

// "nodeA:211:611 [3] include/alloc.h:185 NCCL WARN ...": the number is the device's.
constexpr std::string_view nccl_clauses = "<[{device}]";

constexpr std::string_view sglang_tokens =
    "Try to allocate {setting_} tokens\nAvaliable tokens: {suggested_}\nAvailable tokens: {suggested_}";

constexpr Wording repeated(std::string_view framework, std::string_view allocator, std::string_view anchor,
                           std::string_view part = {}) {
  return {.framework = framework, .allocator = allocator, .anchor = anchor, .repeats = true, .part = part};
}

// The driver's words in the lines of ggml.
constexpr Wording in_ggml(std::string_view anchor) {
  return {failure, "ggml", "ggml", anchor, "!ggml\ncurrent device: {device}"};
}

constexpr Wording went_on(std::string_view framework, std::string_view allocator, std::string_view anchor,
                          std::string_view meaning, std::string_view clauses = {}) {
  return {.kind = recovery,
          .framework = framework,
          .allocator = allocator,
          .anchor = anchor,
          .clauses = clauses,
          .meaning = meaning};
}

constexpr std::string_view retracts =
    "SGLang takes requests back when its KV cache is full, and computes them again later. Where that happens often, "
    "a larger --schedule-conservativeness or --mem-fraction-static, or a smaller --max-running-requests avoids it.";
constexpr std::string_view goes_on_unpinned =
    "The program goes on with memory of the host that isn't pinned; copies from there are slower.";

constexpr Wording in_kernel(std::string_view memory, std::string_view anchor) {
  return {SentenceKind::failure, "kernel", memory, anchor, {}, "shared memory"};
}

constexpr Wording of_shared_memory(std::string_view anchor, std::string_view allocator = "a worker of the DataLoader",
                                   std::string_view clauses = {}) {
  return {SentenceKind::kill, "host", allocator, anchor, clauses, "host", killer::shared_memory};
}

constexpr std::array wordings = {
    // PyTorch.
    Wording{failure, "pytorch", "PyTorch's CUDA allocator", "CUDA out of memory. Tried to allocate {requested}",
            pytorch_clauses},
    Wording{failure, "pytorch", "PyTorch's HIP allocator", "HIP out of memory. Tried to allocate {requested}",
            pytorch_clauses},
    Wording{failure, "pytorch", "PyTorch's XPU allocator", "XPU out of memory. Tried to allocate {requested}",
            pytorch_clauses},
    Wording{failure, "pytorch", "PyTorch's MUSA allocator", "MUSA out of memory. Tried to allocate {requested}",
            pytorch_clauses},
    Wording{failure, "pytorch", "PyTorch's NPU allocator", "NPU out of memory. Tried to allocate {requested}",
            pytorch_clauses},
    Wording{failure, "pytorch", "PyTorch's MPS allocator", "MPS backend out of memory",
            "(MPS allocated: {used}\nother allocations: {.other allocations}\nmax allowed: {limit}\n"
            "Tried to allocate {requested}"},
    Wording{failure, "pytorch", "cudaMallocAsync in PyTorch",
            "Allocation on device {device} would exceed allowed memory. (out of memory)",
            "Currently allocated : {used}\nRequested : {requested}\nDevice limit : {total}\n"
            "Free (according to CUDA): {available}\nPyTorch limit (set by user-supplied memory fraction) : {limit}"},
    Wording{failure, "pytorch", "cudaMallocAsync in PyTorch", "OutOfMemoryError: Allocation on device"},
    Wording{failure, "pytorch", "PyTorch", "Tried to allocate more than 1EB memory"},
    Wording{failure, "pytorch", "PyTorch in a Ray task", "RayTaskError(OutOfMemoryError)"},
    Wording{failure, "pytorch", "PyTorch's CPU allocator", "DefaultCPUAllocator: can't allocate memory",
            "you tried to allocate {requested}", "host"},
    Wording{failure, "pytorch", "PyTorch's CPU allocator", "DefaultCPUAllocator: not enough memory",
            "you tried to allocate {requested}", "host"},

    Wording{failure, "pytorch", "PyTorch's CPU allocator", "Torch: not enough memory",
            "you tried to allocate {requested}", "host"},
    Wording{failure, "pytorch", "PyTorch's shared memory", "unable to mmap {requested} from file",
            "!Cannot allocate memory", "host"},
    Wording{failure, "pytorch", "GPU driver", "THCudaCheck FAIL file=", "!error=2 : out of memory"},
    repeated("pytorch", "GPU driver", "cuda runtime error (2) : out of memory"),
    Wording{failure, "metal", "Metal", "Invalid buffer size: {requested}"},

    // XLA, JAX, TensorFlow.
    Wording{failure, "xla:gpu", "XLA's device allocator", "Out of memory while trying to allocate {requested}",
            xla_clauses},
    Wording{failure, "xla:gpu", "XLA's host allocator", "Out of host memory while trying to allocate {requested}",
            xla_clauses, "host"},
    Wording{
        failure, "xla:gpu", "XLA's host allocator", "Out of memory due to cuda_host_bfc allocator", {}, "host_pinned"},
    // Their pool then tries smaller sizes.
    Wording{refusal, "xla:gpu", "XLA's host allocator", "failed to alloc {requested} on host", {}, "host_pinned"},
    Wording{refusal,
            "xla:gpu",
            "XLA's host allocator",
            "could not allocate pinned host memory of size: {requested}",
            {},
            "host_pinned"},
    Wording{failure, "xla:gpu", "GPU driver", "failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY",
            "total memory reported: {total}"},
    in_kernel("shared memory of a kernel",
              "Shared memory size limit exceeded: requested {requested}, available: {limit}"),
    in_kernel("shared memory of a kernel",
              "Mosaic GPU kernel exceeds available shared memory: smem_bytes={requested} > max_smem_bytes={limit}"),
    in_kernel("shared memory of a kernel (LDS)", "local memory ({requested}) exceeds limit ({limit}) in function"),
    Wording{failure, "xla:gpu", "XLA's device allocator",
            "Failed to allocate request for {requested} ({requested}) on device ordinal {device}", xla_clauses},
    Wording{failure, "xla:gpu", "XLA's device allocator", "Failed to allocate {requested} for new constant",
            xla_clauses},
    Wording{failure, "xla:gpu", "TensorFlow's BFC allocator", "OOM when allocating tensor with shape[{shape]}]",
            "[T=DT_{type,}\nand type {type_} on\ndevice:GPU:{device}\nby allocator {allocator_}"},
    Wording{failure, "xla:gpu", "cuda_async in XLA", "cuMemAllocAsync failed to allocate {requested}",
            "Free memory/Total memory: {available}/{total}\nStats: Limit: {limit}\nInUse: {used}\n"
            "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: {pool}\ngpu_cudamallocasync_allocator.cc"},
    Wording{refusal, "xla:gpu", "GPU driver", "failed to allocate {requested} ({requested}) from device:"},
    // With the blocks that are free (cupy/cuda/memory.pyx).
    Wording{failure, "cupy", "CuPy's memory pool",
            "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating {requested}",
            "(allocated so far: {pool}\nlimit set to: {limit}"},
    Wording{failure, "cupy", "CuPy's memory pool", "Out of memory allocating {requested} (allocated so far: {pool}",
            "limit set to: {limit}"},
    // The total includes the request.
    Wording{failure, "cupy", "CuPy's memory pool",
            "out of memory to allocate {requested} (total {.with this request the pool would have}"},
    Wording{failure, "xla:gpu", "XLA's device allocator", "Out of memory allocating {requested}", xla_clauses},

    // RAPIDS, and other libraries for data.
    Wording{failure, "xgboost", "XGBoost", "Memory allocation error on worker",
            "- Free memory: {available}\n- Requested memory: {requested}"},
    Wording{failure, "rmm", "RMM's limit", "RMM failure at:", "!Exceeded memory limit\nfailed to allocate {requested}"},
    Wording{failure, "rmm", "RMM", "Maximum pool size exceeded", "failed to allocate {requested}"},
    Wording{failure, "rmm", "RMM", "FAILURE maximum pool size exceeded", "<[Upstream {requested}"},
    Wording{failure, "rmm", "RMM", "std::bad_alloc: out_of_memory:", "failed to allocate {requested}"},
    Wording{failure, "rmm", "RMM", "std::bad_alloc: CUDA error at:", "!cudaErrorMemoryAllocation"},
    // The driver couldn't start; the program has allocated nothing yet.
    Wording{failure, "cuda", "GPU driver at its start", "Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "cuda", "GPU driver at its start", "Call to cuCtxCreate results in CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "cuda", "GPU driver at its start",
            "Call to cuDevicePrimaryCtxRetain results in CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "cuda", "GPU driver at its start", "failed call to cuInit: CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "numba", "Numba", "results in CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "julia", "CUDA.jl's pool", "Out of GPU memory trying to allocate {requested}", julia_clauses},
    Wording{failure, "julia", "CUDA.jl's pool", "Out of GPU memory", julia_clauses},

    // Servers that load models.
    Wording{failure, "mlx", "Metal in MLX", "[METAL] Command buffer execution failed: Insufficient Memory"},
    Wording{failure, "ggml", "ggml", "allocating {requested} on device {device}: cudaMalloc failed: out of memory"},
    Wording{failure, "ggml", "ggml", "allocating {requested} on device {device}: hipMalloc failed: out of memory"},
    Wording{failure, "ggml", "ggml", "allocating {requested} on device {device}: aclrtMalloc failed"},
    Wording{failure, "ggml", "ggml", "can't allocate {requested}", "!Bytes of memory on device"},
    Wording{.framework = "ggml",
            .allocator = "ggml",
            .anchor = "ggml_gallocr_reserve_n: failed to allocate {gpu} buffer of size {requested}",
            .part = part::compute},
    Wording{.framework = "ggml",
            .allocator = "ggml",
            .anchor = "ggml_gallocr_reserve_n_impl: failed to allocate {gpu} buffer of size {requested}",
            .part = part::compute},
    Wording{failure, "ggml", "ggml", "failed to allocate {gpu} buffer of size {requested}"},
    Wording{.framework = "ggml",
            .allocator = "ggml",
            .anchor = "Device memory allocation of size {requested} failed",
            .clauses = "!exceeds device memory allocation limit",
            .part = part::single},
    Wording{failure, "ggml", "ggml", "Device memory allocation of size {requested} failed"},
    Wording{failure, "ggml", lm_studio_guardrail, "this model requires approximately {requested} of memory"},
    repeated("ggml", "ggml", "llama runner process no longer running: -1 cudaMalloc failed: out of memory"),
    Wording{failure, "ggml", "ggml on the host", "failed to allocate CPU buffer of size {requested}", {}, "host"},
    Wording{failure, "ggml", "ggml on the host", "failed to allocate CPU buffer of size", {}, "host"},
    Wording{failure,
            "ggml",
            "ggml on the host",
            "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size {requested}",
            {},
            "host"},
    Wording{failure, "ggml", "Metal in ggml", "Insufficient Memory (00000008:"},
    Wording{failure, "ggml", "Metal in ggml", "failed to allocate buffer, size = {requested}"},
    Wording{
        failure, "ggml", "ggml's output buffer", "failed to allocate output buffer of size {requested}", {}, "host"},
    Wording{failure, "ggml", "Ollama", "insufficient memory - required allocations"},
    Wording{failure, "mlx", "Metal in MLX", "Attempting to allocate {requested} which is greater than",
            "maximum allowed buffer size of {limit}"},
    Wording{failure, "mlx", "Metal in MLX", "[malloc] Unable to allocate {requested}"},
    Wording{failure, "mlx", "Metal in MLX", "[malloc_or_wait] Unable to allocate {requested}"},
    Wording{failure,
            "ggml",
            "Ollama",
            "model requires more system memory ({requested}) than is available ({free})",
            {},
            "host"},
    Wording{failure, "vllm", "vLLM's KV cache",
            "({requested} KV cache is needed, which is larger than the available KV cache memory ({free})",
            "estimated maximum model length is {suggested.}\n<max seq len ({setting)}"},
    Wording{failure, "vllm", "vLLM's KV cache",
            ", {requested} KV cache is needed, which is larger than the available KV cache memory ({free})",
            "estimated maximum model length is {suggested.}\n<max seq len ({setting)}"},
    Wording{failure, "vllm", "vLLM's KV cache", "No available memory for the cache blocks"},
    Wording{failure, "vllm", "vLLM",
            "Free memory on device {*(}({#available}/{total}) on startup is less than desired GPU memory utilization",
            "GPU memory utilization ({setting,}, {requested})"},
    Wording{failure, "vllm", "vLLM's KV cache",
            "is larger than the maximum number of tokens that can be stored in KV cache",
            "stored in KV cache ({suggested)}"},
    Wording{failure,
            "vllm",
            "vLLM's swap space",
            "Too large swap space. {requested} out of the {.memory of the host}",
            {},
            "host"},
    Wording{failure, "sglang", "SGLang's KV cache", "is larger than the profiled value -"},
    repeated("sglang", "SGLang's KV cache", "Not enough memory. Please try to increase --mem-fraction-static"),
    Wording{.framework = "sglang",
            .allocator = "SGLang's request slots",
            .anchor = "alloc_req_slots runs out of memory",
            .part = part::request_slots},
    Wording{failure, "sglang", "SGLang", "Prefill out of memory. Try to lower your batch size", sglang_tokens},
    Wording{failure, "sglang", "SGLang", "Decode out of memory. Try to lower your batch size", sglang_tokens},
    Wording{failure, "flashinfer", "FlashInfer's workspace",
            "Buffer overflow when allocating memory for {op_} with size {requested}", "but only {free} available"},
    Wording{failure, "flashinfer", "FlashInfer's workspace",
            "Failed to allocate memory for {op_} with size {requested}", "!in AlignedAllocator"},
    Wording{recovery, "triton", "Triton's pool", "Failed to allocate CUDA memory with byte size",
            "!falling back to pinned system memory"},
    Wording{failure, "triton", "Triton's pool",
            "Failed to allocate CUDA memory with byte size {requested} on GPU {device}"},
    Wording{failure, "tgi", "Text Generation Inference", "Not enough memory to handle {setting_} total tokens"},
    Wording{failure, "tgi", "Text Generation Inference", "Not enough memory to handle {setting_} prefill tokens"},
    Wording{failure, "tgi", "Text Generation Inference", "Not enough memory to handle"},

    // Libraries.
    in_kernel("shared memory of a kernel", "uses too much shared data ({requested}, {limit} max)"),
    in_kernel("shared memory of a Triton kernel",
              "out of resource: shared memory, Required: {requested}, Hardware limit: {limit}"),
    in_kernel("shared memory of a Triton kernel",
              "out of resource: shared memory, Required: {requested}, Hardware limitation: {limit}"),
    in_kernel("shared memory of a Triton kernel",
              "out of resource: {program_} Required: {requested} Hardware limit:{limit}"),
    Wording{failure, "nccl", "NCCL", "Failed to CUDA calloc async {requested}", nccl_clauses},
    Wording{failure, "nccl", "NCCL", "Failed to CUDA calloc {requested}", nccl_clauses},
    Wording{failure, "nccl", "NCCL", "Failed to CUDA malloc {requested}", nccl_clauses},
    Wording{failure, "nccl", "NCCL", "Failed to CUDA host alloc {requested}", nccl_clauses, "host_pinned"},
    Wording{failure, "nccl", "NCCL", "NCCL WARN Failed to malloc {requested}", nccl_clauses, "host"},
    Wording{failure, "nccl", "NCCL", "NCCL WARN Cuda failure 'out of memory'", nccl_clauses},
    Wording{failure, "nccl", "NCCL", "NCCL WARN Cuda failure 2 'out of memory'", nccl_clauses},
    Wording{failure, "cuda", "cuBLAS", "CUBLAS_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuBLAS", "CUBLAS_STATUS_NOT_INITIALIZED when calling"},
    Wording{failure, "cuda", "cuDNN", "CUDNN_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuDNN", "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED",
            "Memory usage: {available} bytes free, {total} bytes total\nMemory usage: {available} free, {total} total"},
    Wording{failure, "cuda", "cuDNN", "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"},
    Wording{failure, "cuda", "cuSOLVER", "CUSOLVER_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuSPARSE", "CUSPARSE_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuFFT", "CUFFT_ALLOC_FAILED"},
    Wording{failure, "tensorrt", "TensorRT", "Requested amount of GPU memory ({requested}) could not be allocated"},
    Wording{failure, "tensorrt", "TensorRT", "Requested amount of memory ({requested}) could not be allocated"},
    repeated("tensorrt", "TensorRT", "OutOfMemory Error in"),
    repeated("tensorrt", "TensorRT", "OutOfMemory (no further information)"),
    Wording{failure, "relion", "RELION's allocator", "cudaCustomAllocator out of memory",
            "requestedSpace: {requested}\nlargestContinuousFreeSpace: {largest}\ntotalFreeSpace: {free}"},
    Wording{failure, "onnxruntime", "ONNX Runtime's BFC arena",
            "Failed to allocate memory for requested buffer of size {requested}"},
    Wording{failure, "onnxruntime", "ONNX Runtime's BFC arena",
            "Available memory of {free} is smaller than requested bytes of {requested}"},
    Wording{failure, "tensorrt", "TensorRT-LLM", "[TensorRT-LLM][ERROR] CUDA runtime error in", "!: out of memory"},
    Wording{failure, "tensorrt", "TensorRT-LLM", "Executor creation failed due to insufficient GPU memory",
            "Total GPU memory (GiB): {#total}\n"
            "Free GPU memory before component creation attempt (GiB): {#available}"},
    // It reads on the host what the driver was to map.
    Wording{failure, "bitsandbytes", "managed memory in bitsandbytes", "Error out of memory at line",
            "!managed pointers", "host"},
    Wording{failure, "bitsandbytes", "bitsandbytes", "Error out of memory at line"},
    Wording{failure, "tensorflow", "GPU driver", "Internal: out of memory"},
    Wording{failure, "paddle", "PaddlePaddle",
            "Out of memory error on GPU {device}. Cannot allocate {requested} memory",
            "memory on GPU {device}, {used} memory has been allocated\navailable memory is only {available}"},
    Wording{failure, "paddle", "PaddlePaddle",
            "Out of memory error on XPU {device}. Cannot allocate {requested} memory"},
    Wording{failure, "paddle", "PaddlePaddle",
            "Out of memory error on GPU {device}. Cannot allocate {requested} CUDA managed memory",
            "memory on GPU {device}, {used} memory has been allocated"},
    Wording{failure, "paddle", "PaddlePaddle", "enforce allocating <= available failed, {requested} > {available}"},
    Wording{failure, "mxnet", "MXNet's pool", "Memory allocation failed out of memory"},
    Wording{failure, "mxnet", "MXNet", "Memory allocation failed Cannot allocate memory", {}, "host"},
    Wording{failure, "mxnet", "MXNet", "Failed to allocate CPU Memory", {}, "host"},
    Wording{failure, "mxnet", "MXNet's pool", "pooled_storage_manager.h", "!cudaMalloc failed: out of memory"},
    Wording{failure, "mxnet", "MXNet's pool", "cudaMalloc retry failed: out of memory"},
    Wording{failure, "cuda", "GPU driver", "cudaMalloc failed: out of memory"},
    Wording{failure, "cuda", "GPU driver", "hipMalloc failed: out of memory"},
    Wording{failure, "cuda", "MIOpen", "Memory not available to allocate buffer: {requested}"},
    Wording{failure, "cuda", "HIP's runtime", "Allocation failed : Device memory : required :{requested}",
            "| free :{available}\n| total :{total}"},
    Wording{failure, "cuda", "HIP's runtime", "HSA_STATUS_ERROR_OUT_OF_RESOURCES",
            "!Available Free mem :\nAvailable Free mem : {available}"},
    Wording{failure, "ggml", "ggml", "CUDA error 2 at", "!ggml-cuda.cu\n!: out of memory\ncurrent device: {device}"},
    Wording{failure, "cuda", "GPU driver", "CUDA error 2 at", "!: out of memory\ncurrent device: {device}"},
    Wording{failure, "cuda", "GPU driver", "failed with error CUDA_ERROR_OUT_OF_MEMORY"},
    Wording{failure, "cuda", "torch_memory_saver", "[torch_memory_saver.cpp] CUresult error", "!result=2 file="},
    Wording{failure, "cuda", "GPU driver", "Error while calling cuda", "!code: 2, reason: out of memory"},
    Wording{failure, "mxnet", "MXNet", "Check failed: err == cudaSuccess (2 vs. 0) Name:", "ErrStr:out of memory"},
    Wording{failure, "cuda", "GPU driver", "== cudaSuccess (2 vs. 0)"},
    Wording{failure, "cycles", "Cycles", "System is out of GPU memory"},
    Wording{failure, "cycles", "Cycles", "System is out of GPU and shared host memory"},
    Wording{failure, "cycles", "Cycles", "Out of memory in cu"},
    Wording{failure, "cuda", "GPU driver", "CUDA failure 2: out of memory", "GPU={device}"},
    Wording{failure, "cuda", "GPU driver", "HIP failure 2: out of memory", "GPU={device}"},
    Wording{failure, "cuda", "GPU driver", "Triton Error [CUDA]: out of memory"},
    Wording{failure, "cuda", "GPU driver", "Triton Error [HIP]: out of memory"},
    Wording{failure, "cuda", "GPU driver", "CUDA: out of memory"},
    in_ggml("CUDA error: out of memory"),
    in_ggml("ROCm error: out of memory"),
    in_ggml("MUSA error: out of memory"),
    Wording{failure, "cuda", "GPU driver", "ROCm error: out of memory", "current device: {device}"},
    Wording{failure, "cuda", "GPU driver", "MUSA error: out of memory", "current device: {device}"},
    Wording{failure, "cuda", "GPU driver", "CUDA error: out of memory", "current device: {device}"},
    Wording{failure, "cuda", "GPU driver", "HIP error: out of memory"},
    Wording{failure, "cuda", "GPU driver", "Error while calling cudaMalloc(", "!code: 2, reason: out of memory"},
    Wording{failure, "cuda", "torch_memory_saver", "[torch_memory_saver.cpp] CUresult error result=2"},
    Wording{failure, "cuda", "GPU driver", "CUDA driver error: out of memory"},
    Wording{failure, "cuda", "GPU driver", "cudaErrorMemoryAllocation: out of memory"},

    // Memory of the host, and what ended the job because of it.
    Wording{failure, "host", page_file, "[WinError 1455]", {}, "host"},
    Wording{failure, "host", page_file, "(os error 1455)", {}, "host"},
    Wording{failure, "host", "R", "cannot allocate vector of size {requested}", {}, "host"},
    Wording{failure, "host", "NumPy", "Unable to allocate {requested} for an array with shape", {}, "host"},
    Wording{failure, "host", "Python", "MemoryError", "=", "host"},
    Wording{
        kill, "host", "the kernel's OOM killer", "oom-kill:constraint=CONSTRAINT_MEMCG", {}, "host", killer::cgroup},
    Wording{kill,
            "host",
            "the kernel's OOM killer",
            "memory: usage {used}, limit {limit}, failcnt",
            {},
            "host",
            killer::cgroup},
    Wording{kill, "host", "the kernel's OOM killer", "Memory cgroup out of memory: Killed process {*(}({program)}",
            anon_memory, "host", killer::cgroup},
    Wording{kill, "host", "the kernel's OOM killer", "Memory cgroup out of memory", {}, "host", killer::cgroup},
    went_on("host", "a Slurm job", "Detected 0 oom_kill events", "Slurm killed nothing for lack of memory."),
    Wording{kill, "host", "a Slurm job", "OUT_OF_MEMORY", "!0:125", "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "OUT_OF_ME+", "!0:125", "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "oom_kill event in StepId=", {}, "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "oom_kill events in StepId=", {}, "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "oom-kill event(s) in StepId=", {}, "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "oom-kill event(s) in step", {}, "host", killer::slurm},
    Wording{kill, "host", "the kernel's OOM killer", "oom_kill event", {}, "host", killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "oom-kill event", {}, "host", killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "out of memory: Killed process {*(}({program)}", anon_memory,
            "host", killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "Out of memory: Killed process {*(}({program)}", anon_memory,
            "host", killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "Killed process {*(}({program)}) total-vm", anon_memory, "host",
            killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "Kill process {*(}({program)}) score", {}, "host", killer::kernel},
    Wording{kill, "host", "the kernel's OOM killer", "invoked oom-killer", {}, "host", killer::kernel},
    Wording{kill, "host", "a Slurm job", "srun: error:", "!: Out Of Memory", "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "Exceeded job memory limit", {}, "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "Exceeded step memory limit", {}, "host", killer::slurm},
    Wording{kill, "host", "a Slurm job", "exceeded memory limit (", "!), being killed", "host", killer::slurm},
    Wording{kill, "host", "LSF", "TERM_MEMLIMIT: job killed after reaching", {}, "host", killer::lsf},
    Wording{kill, "host", "a systemd unit", "has been killed by the OOM killer", {}, "host", killer::systemd},
    Wording{kill, "host", "a systemd unit", "Failed with result 'oom-kill'", {}, "host", killer::systemd},
    Wording{kill, "host", "systemd-oomd", "due to memory used ({used}) / total ({limit})", {}, "host", killer::oomd},
    Wording{kill, "host", "systemd-oomd", "Killed {program_} due to memory pressure for /", {}, "host", killer::oomd},
    Wording{kill, "host", "a Kubernetes pod", "OOMKilled", {}, "host", killer::kubernetes},
    Wording{kill, "host", "a Kubernetes pod", "OOM Killed", "=", "host", killer::kubernetes},
    Wording{kill, "host", "a Kubernetes pod", "Reason: OOM Killed", {}, "host", killer::kubernetes},
    Wording{kill, "host", "a Kubernetes node", "The node was low on resource: memory", "was using {used}", "host",
            killer::kubernetes_node},
    Wording{kill, "host", "a Ray node", "killed due to the node running low on memory",
            "was {used} / {limit}\nwas {.in use on the node} / {.memory of the node}\nmemory used={.held by the killed "
            "task}\nmemory usage threshold of {setting_}",
            "host", killer::ray},
    Wording{kill, "host", "a Ray node", "RayOutOfMemoryError: More than",
            "is used ({#used} / {#limit} GB)\nis used ({#.in use on the node} / {#.memory of the node} GB)", "host",
            killer::ray},
    Wording{kill, "host", "a Ray node", "killed due to memory pressure (OOM)", {}, "host", killer::ray},
    Wording{kill, "host", "a worker of the DataLoader", "is killed by signal: Killed", {}, "host", killer::data_loader},
    of_shared_memory("is killed by signal: Bus error"),
    Wording{kill, "host", "a worker of the DataLoader", "Unexpected bus error encountered in worker",
            "!insufficient shared memory", "host", killer::shared_memory},
    of_shared_memory("workers are out of shared memory"),
    of_shared_memory("NCCL WARN Error while creating shared memory segment", "NCCL", "(size {requested})"),
    of_shared_memory("NCCL WARN Call to posix_fallocate failed : No space left on device", "NCCL"),
    Wording{kill, "host", "the host", "Killed", "=", "host", killer::signal},
    Wording{kill, "host", "the host", "exit code 137", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "exited with code 137", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "exit code: 137", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "Exit Code: 137", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "return code = -9", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "exitcode: -9", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "exitcode : -9", {}, "host", killer::signal},
    Wording{kill, "host", "the host", "Signal 9 (SIGKILL) received", {}, "host", killer::signal},

    // What was got over.
    went_on("ggml", "ggml", "retrying without pipeline parallelism",
            "llama.cpp needs smaller compute buffers without it, and goes on."),
    went_on("ggml", "ggml", "ggml_cuda_host_malloc: failed to allocate", goes_on_unpinned),
    went_on("ggml", "ggml", "ggml_vulkan: Failed to allocate pinned memory", goes_on_unpinned),
    went_on("ggml", "Ollama", "model requires more memory than is currently available, evicting a model",
            "Ollama unloads another model to make room."),
    went_on("comfyui", "ComfyUI", "Ran out of memory when regular VAE", "ComfyUI goes on in tiles, more slowly."),
    // These have no word that is looked for, and are read only where a failure stands before them.
    went_on("pytorch", "YOLO", "AutoBatch: Using batch-size",
            "It tried larger batches on purpose, and took one that fits."),
    went_on("pytorch", "a search for the batch size", "trying batch size",
            "It tries larger batches on purpose, and takes one that fits."),
    went_on("pytorch", "fairseq", "attempting to recover from OOM",
            "fairseq skips that batch and goes on; the model learns nothing from it."),
    went_on("deepspeed", "PyTorch's allocator", "pytorch allocator cache flushes since last step",
            "PyTorch gave unused memory back to the driver and went on; each time costs speed, and memory is nearly "
            "full."),
    went_on("triton", "Triton's pinned memory", "falling back to non-pinned system memory", goes_on_unpinned),
    went_on("julia", "CUDA.jl's pool", "memory allocation failed; attempting to free up memory",
            "CUDA.jl collects garbage and then requests the memory again."),
    went_on("tensorrt", "TensorRT", "Device memory is insufficient to use tactic",
            "TensorRT takes another tactic, which may be slower."),
    went_on("tensorrt", "TensorRT", "Skipping tactic", "TensorRT takes another tactic, which may be slower.",
            "!due to insufficient memory"),
    went_on("sglang", "SGLang's KV cache", "Decode out of memory happened.", retracts),
    went_on("sglang", "SGLang's KV cache", "KV cache pool is full. Retract requests", retracts),
    went_on("vllm", "vLLM's KV cache", "because there is not enough KV cache space",
            "vLLM computes the request again later; a larger KV cache (--gpu-memory-utilization) or fewer requests at "
            "once (--max-num-seqs) avoid that."),

    // The same failure once more, by whoever asked for the memory.
    repeated("ggml", "ggml", "unable to allocate {gpu} buffer", part::weights),
    repeated("ggml", "ggml", "error loading model: unable to allocate backend buffer", part::weights),
    repeated("ggml", "ggml", "failed to allocate compute pp buffers", part::compute),
    repeated("ggml", "ggml", "failed to allocate compute tg buffers", part::compute),
    repeated("ggml", "ggml", "failed to allocate compute buffers", part::compute),
    repeated("ggml", "ggml", "failed to allocate buffer for kv cache", part::kv_cache),
    repeated("ggml", "ggml", "failed to allocate buffer for rs cache", part::kv_cache),
    repeated("ggml", "ggml", "vk::Device::allocateMemory: ErrorOutOfDeviceMemory"),
    repeated("ggml", "Ollama", "memory layout cannot be allocated"),
    repeated("vllm", "vLLM", "CUDA out of memory occurred when warming up sampler", part::measuring),
    repeated("vllm", "vLLM", "CUDA out of memory occurred when"),
};

}  // namespace

std::span<const Wording> failure_wordings() {
  return wordings;
}

}  // namespace hbmscope::log
