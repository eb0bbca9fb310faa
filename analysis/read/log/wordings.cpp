#include <array>

#include "analysis/read/log/wording.h"

namespace hbmscope::log {
namespace {

using enum SentenceKind;

// c10/cuda/CUDACachingAllocator.cpp, in the wordings of PyTorch 1.0 to 2.10. HIP, XPU and others print the same.
constexpr std::string_view pytorch_clauses =
    "GPU {device} has a total capacity of {total} of which {available} is free\n"
    "GPU {device} has a total capacty of {total} of which {available} is free\n"
    "(GPU {device}; {total} total capacity;\n"
    "total capacity; {used} already allocated;\n"
    "already allocated; {available} free;\n"
    "free; {pool} reserved in total by PyTorch\n"
    "free; {pool} cached\n"
    "+Process {@process_} has {.} memory in use\n"
    "Including non-PyTorch memory, this process has {.this process} memory in use\n"
    "memory in use. {limit} allowed;\n"
    "Of the allocated memory {used} is allocated by PyTorch\n"
    "with {.private pools} allocated in private pools\n"
    "allocated by PyTorch, and {free} is reserved by PyTorch but unallocated\n"
    "private pools (e.g., CUDA Graphs), and {free} is reserved by PyTorch but unallocated";

constexpr std::string_view vllm_clauses =
    "model weights take {=weights}\n"
    "non_torch_memory takes {=outside PyTorch}\n"
    "non_torch_memory {=outside PyTorch}\n"
    "PyTorch activation peak memory takes {=activations at their peak}\n"
    "PyTorch activation peak memory {=activations at their peak}\n"
    "reserved for KV Cache is {=KV cache}\n"
    "available_kv_cache_memory {=KV cache}\n"
    "total_gpu_memory ({total})\n"
    "total_gpu_memory {total}\n"
    "instance can use {limit}\n"
    "= {limit}";

constexpr std::string_view xla_clauses =
    "with allocator {allocator_}\n"
    "on device {device}\n"
    "executable_name='{program'}'\n"
    "by allocator {allocator_}";

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
    Wording{failure, "pytorch", "PyTorch", "Tried to allocate more than 1EB memory"},

    // XLA, JAX, TensorFlow.
    Wording{failure, "xla:gpu", "XLA's device allocator", "Out of memory while trying to allocate {requested}",
            xla_clauses},
    Wording{failure, "xla:gpu", "XLA's host allocator", "Out of host memory while trying to allocate {requested}",
            xla_clauses},
    Wording{failure, "xla:gpu", "XLA's device allocator",
            "Failed to allocate request for {requested} ({requested}) on device ordinal {device}", xla_clauses},
    Wording{failure, "xla:gpu", "XLA's device allocator", "Failed to allocate {requested} for new constant",
            xla_clauses},
    Wording{failure, "xla:gpu", "XLA's device allocator", "OOM when allocating tensor with shape[{shape]}]",
            "and type {type_} on\ndevice:GPU:{device}\nby allocator {allocator_}"},
    Wording{failure, "xla:gpu", "cuda_async in XLA", "cuMemAllocAsync failed to allocate {requested}",
            "Free memory/Total memory: {available}/{total}\nStats: Limit: {limit}\nInUse: {used}\n"
            "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: {pool}\ngpu_cudamallocasync_allocator.cc"},
    Wording{refusal, "xla:gpu", "GPU driver", "failed to allocate {requested} ({requested}) from device:"},
    Wording{failure, "cupy", "CuPy's memory pool", "Out of memory allocating {requested} (allocated so far: {used}",
            "limit set to: {limit}"},
    Wording{failure, "xla:gpu", "XLA's device allocator", "Out of memory allocating {requested}", xla_clauses},

    // RAPIDS.
    Wording{failure, "rmm", "RMM", "Maximum pool size exceeded", "failed to allocate {requested}"},
    Wording{failure, "rmm", "RMM", "std::bad_alloc: out_of_memory:", "failed to allocate {requested}"},
    Wording{failure, "rmm", "RMM", "std::bad_alloc: CUDA error at:"},

    // Servers that load models.
    Wording{failure, "ggml", "ggml", "allocating {requested} on device {device}: cudaMalloc failed: out of memory"},
    Wording{failure, "ggml", "ggml", "allocating {requested} on device {device}: hipMalloc failed: out of memory"},
    Wording{failure, "ggml", "ggml", "failed to allocate CUDA{device} buffer of size {requested}"},
    Wording{failure, "vllm", "vLLM's KV cache",
            "({requested} KV cache is needed, which is larger than the available KV cache memory ({free})"},
    Wording{failure, "vllm", "vLLM's KV cache", "No available memory for the cache blocks"},
    Wording{failure, "vllm", "vLLM",
            "Free memory on device ({#available}/{total}) on startup is less than desired GPU memory utilization",
            "GPU memory utilization ({*,}, {requested})"},
    Wording{failure, "vllm", "vLLM's KV cache",
            "is larger than the maximum number of tokens that can be stored in KV cache"},
    Wording{failure, "sglang", "SGLang's KV cache", "Not enough memory. Please try to increase --mem-fraction-static"},

    // Libraries.
    Wording{failure, "triton", "shared memory of a Triton kernel",
            "out of resource: shared memory, Required: {requested}, Hardware limit: {limit}"},
    Wording{failure, "nccl", "NCCL", "Failed to CUDA calloc async {requested}"},
    Wording{failure, "nccl", "NCCL", "Failed to CUDA malloc {requested}"},
    Wording{failure, "nccl", "NCCL", "NCCL WARN Cuda failure 'out of memory'"},
    Wording{failure, "nccl", "NCCL", "NCCL WARN Cuda failure 2 'out of memory'"},
    Wording{failure, "cuda", "cuBLAS", "CUBLAS_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuBLAS", "CUBLAS_STATUS_NOT_INITIALIZED when calling"},
    Wording{failure, "cuda", "cuDNN", "CUDNN_STATUS_ALLOC_FAILED"},
    Wording{failure, "cuda", "cuDNN", "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED",
            "Memory usage: {available} bytes free, {total} bytes total\nMemory usage: {available} free, {total} total"},
    Wording{failure, "cuda", "cuDNN", "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"},
    Wording{failure, "tensorrt", "TensorRT", "Requested amount of GPU memory ({requested}) could not be allocated"},
    Wording{failure, "onnxruntime", "ONNX Runtime's BFC arena",
            "Failed to allocate memory for requested buffer of size {requested}"},
    Wording{failure, "paddle", "PaddlePaddle",
            "Out of memory error on GPU {device}. Cannot allocate {requested} memory",
            "memory on GPU 0, {used} memory has been allocated\navailable memory is only {available}"},
    Wording{failure, "cuda", "GPU driver", "CUDA error: out of memory"},
    Wording{failure, "cuda", "GPU driver", "HIP error: out of memory"},
    Wording{failure, "cuda", "GPU driver", "CUDA driver error: out of memory"},
    Wording{failure, "cuda", "GPU driver", "cudaErrorMemoryAllocation: out of memory"},

    // Where memory went at the start of a server.
    Wording{accounting, "vllm", "vLLM", "the current vLLM instance can use", vllm_clauses},
    Wording{accounting, "vllm", "vLLM", "model weights take {=weights}", vllm_clauses},
    Wording{accounting, "vllm", "vLLM", "non_torch_memory {=outside PyTorch}"},
    Wording{accounting, "vllm", "vLLM", "PyTorch activation peak memory {=activations at their peak}"},
    Wording{accounting, "vllm", "vLLM", "available_kv_cache_memory {=KV cache}"},
    Wording{accounting, "vllm", "vLLM", "Loading model weights took {=weights}"},
    Wording{accounting, "vllm", "vLLM", "Model loading took {=weights}"},
    Wording{accounting, "vllm", "vLLM", "Available KV cache memory: {=KV cache}"},
    Wording{accounting, "vllm", "vLLM", "Desired GPU memory utilization is",
            "Actual usage: {=weights} for weight\nfor weight, {=activations at their peak} for peak activation\n"
            "for weights, {=activations at their peak} for peak activation\n"
            "for peak activation, {=outside PyTorch} for non-torch memory\n"
            "for non-torch memory, and {=graphs} for CUDAGraph memory\n"
            "for non-torch memory, {=graphs} for NPU graph memory\nFree memory on device ({#available}/{total})\n"
            "Current kv cache memory in use is {=KV cache}"},
    Wording{accounting, "vllm", "vLLM", "Graph capturing finished in", "took {=graphs}"},
    Wording{accounting, "vllm", "vLLM on TPU", "Init model | hbm=[({#=weights}, {#total})"},
    Wording{accounting, "vllm", "vLLM on TPU", "Init kv-cache |", "hbm=[({#.all so far}, {#total})"},
    Wording{accounting, "sglang", "SGLang", "Load weight end.", "avail mem={available}\nmem usage={=weights}"},
    Wording{accounting, "sglang", "SGLang", "KV Cache is allocated.",
            "K size: {=K cache}\nV size: {=V cache}\n"
            "KV size: {=KV cache}"},
    Wording{accounting, "sglang", "SGLang", "Capture cuda graph end.", "mem usage={=graphs}\navail mem={available}"},
    Wording{accounting, "sglang", "SGLang", "Memory pool end. avail mem={available}"},
};

}  // namespace

std::span<const Wording> all_wordings() {
  return wordings;
}

}  // namespace hbmscope::log
