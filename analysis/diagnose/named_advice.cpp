// Advice for programs and libraries that are known by the name of their allocator.
#include "analysis/diagnose/device_advice.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/trace/failure_details.h"

namespace hbmscope {
namespace {

struct NamedAdvice {
  std::string_view allocator;  // A part of its name; the first row that matches counts.
  std::string_view change, why;
  std::string_view change_at_limit = {}, why_at_limit = {};  // Where the text names a limit.
};
constexpr NamedAdvice named_rows[] = {
    {"TensorRT-LLM",
     "a smaller free_gpu_memory_fraction of the KV cache, --max_batch_size, --max_num_tokens or --max_seq_len",
     "The KV cache takes that part of what is free after the weights, and the rest must hold what requests need."},
    {"TensorRT",
     "nothing else on the GPU while the engine is built, smaller maximum shapes in the profile, FP16 or INT8, or a "
     "larger GPU",
     "The builder needs the weights and memory for the tactics that it tries; a larger workspace needs still more."},
    {"ONNX Runtime",
     "a larger gpu_mem_limit of the CUDA execution provider, if it is set; else a smaller batch or input",
     "The arena stops at that limit. On the CPU the memory is the host's."},
    {"FlashInfer",
     "a larger workspace (SGLANG_FLASHINFER_WORKSPACE_SIZE in SGLang, VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE in vLLM)",
     "It has a fixed size, and is no part of the pool."},
    {"Metal in MLX", "a shorter prompt or context, a smaller batch, or a model of fewer bits",
     "The model, its KV cache and the prompt's activations share the memory of the machine.",
     "a shorter prompt or context, or smaller steps of the prefill (--prefill-step-size)",
     "One array is larger than Metal allows; what else is in use doesn't matter."},
    {"Cycles",
     "smaller textures and less geometry (Simplify), fewer programs on the GPU, or a render on the CPU, which takes "
     "longer",
     "The scene must fit in the device's memory."},
    // src/acc/acc_ml_optimiser.h: --free_gpu_memory is left of the device for others.
    {"RELION", "fewer MPI processes or threads (--j) on each GPU, a smaller --free_gpu_memory, or a smaller box",
     "RELION takes a block of the device at its start, of which all of them get a part."},
    {"RMM", "smaller parts of the data (chunks, fewer columns, dask_cudf), or spilling to memory of the host",
     "Reading a table needs the file, the columns and intermediate results at once."},
    {"CuPy", "smaller arrays, fewer references to old ones, or a device that nothing else uses",
     "CuPy has given all free blocks of its pool back before it raises this error.",
     "a larger limit (set_limit(), CUPY_GPU_MEMORY_LIMIT), or free_all_blocks() of the pool before the request",
     "The pool keeps blocks that are free, and they count towards its limit."},
    {"CUDA.jl", "GC.gc(true) and CUDA.reclaim() before the request, smaller arrays, or a device that nothing else uses",
     "Arrays stay until Julia's garbage collector finds them.",
     "a larger limit (JULIA_CUDA_HARD_MEMORY_LIMIT; JULIA_CUDA_MEMORY_LIMIT before version 4), or GC.gc(true) and "
     "CUDA.reclaim() before the request"},
};

}  // namespace

bool fill_named(const AdviceFacts& facts, Advice& advice) {
  const std::string& allocator = facts.failed.row.allocator;
  const auto row = std::find_if(std::begin(named_rows), std::end(named_rows), [&](const NamedAdvice& each) {
    return allocator.find(each.allocator) != std::string::npos;
  });
  if (row == std::end(named_rows)) return false;
  if (facts.failed.framework == Framework::rmm && facts.cause == Cause::pool_limit) return false;  // Said above.
  const bool is_at_limit = facts.failed.figures.limit_bytes && !row->change_at_limit.empty();
  advice.change = is_at_limit ? row->change_at_limit : row->change;
  advice.why = is_at_limit && !row->why_at_limit.empty() ? row->why_at_limit : row->why;
  if (facts.failed.detail(failure_detail::platform) == failure_detail::jetson)
    advice.change = fmt::format(
        "fewer programs on the board, whose CPU and GPU share its memory (tegrastats shows it); {}", advice.change);
  return true;
}

}  // namespace hbmscope
