#include <array>

#include "analysis/read/log/wording.h"

namespace hbmscope::log {
namespace {

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

constexpr Wording sglang_graphs(std::string_view anchor, std::string_view clauses) {
  return {SentenceKind::accounting, "sglang", "SGLang", anchor, clauses};
}

}  // namespace

std::span<const Wording> account_wordings() {
  using enum SentenceKind;
  static constexpr Wording rows[] = {
      // Where memory went at the start of a server, and what a compiler aimed at.
      Wording{accounting, "xla:gpu", "XLA's compiler", "Can't reduce memory usage below {limit}"},
      Wording{accounting, "xla:gpu", "XLA's compiler", "Can't reduce memory use below {limit}"},
      Wording{accounting, "xla:gpu", "TensorFlow", "totalMemory: {total} freeMemory: {.free_before_bytes}"},
      Wording{accounting, "ggml", "ggml", "using device {gpu} (", "!) - {.free_before_bytes} free"},
      Wording{accounting, "ggml", "ggml", "total VRAM used:", "!(model: {=model}\ncontext: {=context}"},
      Wording{accounting, "ggml", "ggml", "offloaded {.layers_on_gpu}/{.layers} layers to GPU"},
      Wording{accounting, "ggml", "ggml", "n_ctx = {.context_tokens}"},
      Wording{accounting, "ggml", "ggml", "{gpu} model buffer size = {=model}"},
      Wording{accounting, "ggml", "ggml", "{gpu}_Mapped model buffer size = {=model}"},
      Wording{accounting, "ggml", "ggml", "{gpu} buffer size = {=model}"},
      Wording{accounting, "ggml", "ggml", "{gpu} KV buffer size = {=+KV cache}"},
      Wording{accounting, "ggml", "ggml", "{gpu} RS buffer size = {=+recurrent states}"},
      Wording{accounting, "ggml", "ggml", "{gpu} output buffer size = {=output buffers}"},
      Wording{accounting, "ggml", "ggml", "{gpu} compute buffer size = {=compute buffers}"},
      Wording{accounting, "ggml", "ggml", "\"model weights\" device={gpu} size=\"{=model}"},
      Wording{accounting, "ggml", "ggml", "\"kv cache\" device={gpu} size=\"{=KV cache}"},
      Wording{accounting, "ggml", "ggml", "\"compute graph\" device={gpu} size=\"{=compute buffers}"},
      Wording{accounting, "vllm", "vLLM", "the current vLLM instance can use", vllm_clauses},
      Wording{accounting, "vllm", "vLLM", "model weights take {=weights}", vllm_clauses},
      Wording{accounting, "vllm", "vLLM", "non_torch_memory {=outside PyTorch}"},
      Wording{accounting, "vllm", "vLLM", "PyTorch activation peak memory {=activations at their peak}"},
      Wording{accounting, "vllm", "vLLM", "available_kv_cache_memory {=KV cache}"},
      Wording{accounting, "vllm", "vLLM", "Loading model weights took {=weights}"},
      Wording{accounting, "vllm", "vLLM", "Model loading took {=weights}"},
      Wording{accounting, "vllm", "vLLM", "Available KV cache memory: {=KV cache}"},
      Wording{
          accounting, "vllm", "vLLM", "Desired GPU memory utilization is",
          "Actual usage is {=weights} for weight\nActual usage is {=weights, and outside PyTorch} for consumed memory\n"
          "for consumed memory (weights + non-torch), {=activations at their peak} for peak activation\n"
          "for peak activation, and {=graphs} for CUDAGraph memory\nCurrent KV cache memory: {=KV cache}\n"
          "Actual usage: {=weights} for weight\nfor weight, {=activations at their peak} for peak activation\n"
          "for weights, {=activations at their peak} for peak activation\n"
          "for peak activation, {=outside PyTorch} for non-torch memory\n"
          "for non-torch memory, and {=graphs} for CUDAGraph memory\n"
          "for non-torch memory, {=graphs} for NPU graph memory\n<Free memory on device "
          "{*(}({#.free_before_bytes}/{total})\n"
          "Current kv cache memory in use is {=KV cache}"},
      Wording{accounting, "vllm", "vLLM", "CUDA graph pool memory: {=graphs}", "!(actual)"},
      Wording{accounting, "vllm", "vLLM", "Graph capturing finished in", "took {=graphs}"},
      Wording{accounting, "vllm", "vLLM on TPU", "Init model | hbm=[({#=weights}, {#total})"},
      Wording{accounting, "vllm", "vLLM on TPU", "Init kv-cache |", "hbm=[({#.all so far}, {#total})"},
      Wording{accounting, "sglang", "SGLang", "Load weight begin.", "avail mem={.free_before_bytes}"},
      Wording{accounting, "sglang", "SGLang", "Load weight end.",
              "avail mem={.free_after_bytes}\nmem usage={=weights}"},
      Wording{accounting, "sglang", "SGLang", "KV Cache is allocated.",
              "K size: {=K cache}\nV size: {=V cache}\n"
              "KV size: {=KV cache}"},
      Wording{accounting, "sglang", "SGLang", "Mamba Cache is allocated.",
              "conv_state size: {=convolution states}\nssm_state size: {=SSM states}\n"
              "intermediate_ssm_state_cache size: {=intermediate SSM states}\n"
              "intermediate_conv_window_cache size: {=intermediate convolution windows}"},
      sglang_graphs("Capture cuda graph end.", "mem usage={=graphs}\navail mem={.free_after_bytes}"),
      sglang_graphs("Capture target decode CUDA graph end.", "mem usage={=graphs}\navail mem={.free_after_bytes}"),
      sglang_graphs("Capture target verify CUDA graph end.",
                    "mem usage={=graphs to verify}\navail mem={.free_after_bytes}"),
      sglang_graphs("Capture target prefill CUDA graph end.",
                    "mem usage={=graphs of prefill}\navail mem={.free_after_bytes}"),
      sglang_graphs("Capture draft cuda graph end.",
                    "mem usage={=graphs of the draft model}\navail mem={.free_after_bytes}"),
      sglang_graphs("Capture draft decode CUDA graph end.",
                    "mem usage={=graphs of the draft model}\navail mem={.free_after_bytes}"),
      Wording{accounting, "sglang", "SGLang", "Memory pool end. avail mem={.free_after_bytes}"},
      Wording{accounting, "tensorrt", "TensorRT-LLM", "Loaded engine size: {=weights}"},
      Wording{accounting, "tensorrt", "TensorRT-LLM", "max tokens in paged kv cache: total: {total}, available:"},
      Wording{accounting, "tensorrt", "TensorRT-LLM",
              "[MemUsageChange] Allocated {=KV cache} for max tokens in paged KV"},
      Wording{accounting, "tensorrt", "TensorRT-LLM",
              "[MemUsageChange] Allocated {=runtime buffers} GPU memory for runtime buffers"},
      Wording{accounting, "tensorrt", "TensorRT-LLM", "[MemUsageChange] Allocated {=decoder} GPU memory for decoder"},
      Wording{accounting, "tensorrt", "TensorRT-LLM",
              "Memory usage when calculating max tokens in paged kv cache: total: {total}"},

      // What is in use at that time. DeepSpeed's and Megatron's figures are of PyTorch's allocator; GB and MB are
      // powers
      // of
      // 1024 in all of them.
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "MA {used}",
              "!Max_MA {.most used}\nCA {pool}\nMax_CA {.most of the pool}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "memory (MB) | allocated: {##used}",
              "max allocated: {##.most used}\n| reserved: {##pool}\nmax reserved: {##.most of the pool}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "memory allocated (GB): {#used}",
              "memory reserved (GB): {#pool}\ndevice memory used/total (GB): {#.all processes}/{#total}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "memory: {##.most used}", "!loss"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "max mem: {##.most used}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "max_mem: {.most used}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "memory: {.most of the pool}(", "!tps:"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "cuda_gb_allocated={#used}",
              "cuda_gb_reserved={#pool}\ncuda_gb_free={#available}"},
      Wording{.kind = status,
              .framework = "pytorch",
              .allocator = "PyTorch's CUDA allocator",
              .anchor = "PyTorch CUDA memory summary, device ID {device}",
              .clauses = "Allocated memory | {used} | {.most used}\nGPU reserved memory | {pool} | {.most of the pool}",
              .lines = 40},
      Wording{.kind = status,
              .framework = "pytorch",
              .allocator = "PyTorch's CUDA allocator",
              .anchor = "allocated_bytes.all.current'{*,:}{used}",
              .clauses = "<allocated_bytes.all.peak'{*,:}{.most used}\nreserved_bytes.all.current'{*,:}{pool}\n"
                         "reserved_bytes.all.peak'{*,:}{.most of the pool}",
              .lines = 130},
      Wording{.kind = status,
              .framework = "jax",
              .allocator = "JAX's allocator",
              .anchor = "'bytes_in_use': {used}",
              .clauses = "<'peak_bytes_in_use': {.most used}\n<'bytes_limit': {limit}\n<'pool_bytes': {pool}",
              .lines = 24},
      Wording{.kind = status,
              .framework = "jax",
              .allocator = "JAX's allocator",
              .anchor = "\"bytes_in_use\": {used}",
              .clauses = "<\"peak_bytes_in_use\": {.most used}\n<\"bytes_limit\": {limit}\n<\"pool_bytes\": {pool}",
              .lines = 24},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "mem_usage:cuda:{device} {used}"},
      Wording{status, "pytorch", "PyTorch's CUDA allocator", "mem_usage:cuda {used}"},
      Wording{status, "rocm-smi", "all processes, by rocm-smi", "GPU[{device}] : VRAM Total Used Memory (B): {used}"},
      Wording{.kind = status,
              .framework = "julia",
              .allocator = "CUDA.jl's pool",
              .anchor = "Effective GPU memory usage:",
              .clauses = "% ({.all processes}/{total})\nMemory pool usage: {used} ({pool} reserved)",
              .lines = 2},
      Wording{status, "julia", "CUDA.jl's pool", "Memory pool usage: {used} ({pool} reserved)"},
      Wording{status, "mlx", "Metal in MLX", "Peak mem {~.most used}"},
      Wording{status, "vllm", "vLLM's KV cache", "KV cache usage: {%share}"},
      Wording{status, "sglang", "SGLang's KV cache", "token usage: {%share}"},
  };
  return rows;
}

}  // namespace hbmscope::log
