// What people paste of engines that serve models, and of devices that are full.
#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/wild_text.h"

namespace hbmscope {
namespace {

const std::vector<tests::WildText> engine_texts = {
    {"the third buffer of llama.cpp",
     "load_tensors:        CUDA0 model buffer size = 12000.00 MiB\nllama_kv_cache:      CUDA0 KV buffer size =  "
     "4096.00 "
     "MiB\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 1200.25 MiB on device 0: cudaMalloc failed: out of "
     "memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1258553344\n",
     "unknown",
     {"ggml at its start, GPU 0 (15.7 GiB)", "KV cache", "-ctk q8_0"},
     {"The other failures"}},
    {"llama.cpp, which says what was free and how many layers it took",
     "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA A100-SXM4-80GB) (0000:01:00.0) - 11024 MiB free\n"
     "load_tensors: offloaded 33/33 layers to GPU\nload_tensors:        CUDA0 model buffer size =  6600.00 MiB\n"
     "load_tensors:   CPU_Mapped model buffer size =   300.00 MiB\nllama_context: n_ctx         = 32768\n"
     "llama_kv_cache:      CUDA0 KV buffer size =  2048.00 MiB\nllama_kv_cache: size = 2048.00 MiB\n"
     "llama_kv_cache:      CUDA0 KV buffer size =  2048.00 MiB\n"
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1200.25 MiB on device 0: cudaMalloc failed: out of "
     "memory\n"
     "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1258553344\n"
     "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n",
     "unknown",
     {"-ngl 30  (an estimate)", "10.8 GiB was free, and 872 MiB is missing", "about 324 MiB", "-c 25600  (an estimate)",
      "4.00 GiB for 32,768 tokens", "10.4 GiB of the 10.8 GiB that was free, 328 MiB is left"},
     {"The other failures"}},
    {"llama.cpp, which says how many layers it took",
     "load_tensors: offloaded 20/33 layers to GPU\nload_tensors:        CUDA0 model buffer size =  4000.00 MiB\n"
     "llama_context: n_ctx         = 4096\nllama_kv_cache:      CUDA0 KV buffer size =   200.00 MiB\n"
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 300.00 MiB on device 0: cudaMalloc failed: out of "
     "memory\n",
     "unknown",
     {"-ngl 18", "300 MiB must become free if nothing else is", "about 210 MiB"},
     {"-c 0", "-c 1", "-c 2", "-c 3"}},
    {"llama.cpp, and others took memory since",
     "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA A100) - 80000 MiB free\n"
     "load_tensors: offloaded 20/33 layers to GPU\nload_tensors:        CUDA0 model buffer size =  4000.00 MiB\n"
     "llama_kv_cache:      CUDA0 KV buffer size =   200.00 MiB\n"
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 300.00 MiB on device 0: cudaMalloc failed: out of "
     "memory\n",
     "unknown",
     {"-ctk q8_0"},
     {"-ngl 1"}},
    {"llama.cpp on two devices",
     "load_tensors: offloaded 33/33 layers to GPU\nload_tensors:        CUDA0 model buffer size =  4000.00 MiB\n"
     "load_tensors:        CUDA1 model buffer size =  4000.00 MiB\n"
     "llama_kv_cache:      CUDA0 KV buffer size =   200.00 MiB\nllama_kv_cache:      CUDA1 KV buffer size =   200.00 "
     "MiB\n"
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 300.00 MiB on device 1: cudaMalloc failed: out of "
     "memory\n",
     "unknown",
     {"ggml at its start, GPU 0 (4.10 GiB)", "ggml at its start, GPU 1 (4.10 GiB)", "-ctk q8_0"},
     {"-ngl 3"}},
    {"llama.cpp after another model",
     "load_tensors: offloaded 10/10 layers to GPU\nload_tensors:        CUDA0 model buffer size =  9000.00 MiB\n"
     "llama_kv_cache:      CUDA0 KV buffer size =  900.00 MiB\n"
     "load_tensors: offloaded 20/20 layers to GPU\nload_tensors:        CUDA0 model buffer size =  4000.00 MiB\n"
     "llama_kv_cache:      CUDA0 KV buffer size =   200.00 MiB\n"
     "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 300.00 MiB on device 0: cudaMalloc failed: out of "
     "memory\n",
     "unknown",
     {"ggml at its start, GPU 0 (4.10 GiB)", "-ngl 18"},
     {"9.67 GiB"}},
    {"SGLang's account",
     "[TP0] Load weight begin. avail mem=78.50 GB\n[TP0] Load weight end. type=X, dtype=torch.bfloat16, avail "
     "mem=60.00 "
     "GB, mem usage=18.50 GB.\n[TP0] KV Cache is allocated. #tokens: 1, K size: 20.00 GB, V size: 20.00 GB\n"
     "[TP0] Capture cuda graph end. Time elapsed: 5.00 s. mem usage=2.50 GB. avail mem=17.00 GB.\n"
     "[TP0] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.00 GiB. GPU 0 has a total capacity of "
     "79.10 "
     "GiB of which 17.00 GiB is free. Of the allocated memory 60.00 GiB is allocated by PyTorch, and 100.00 MiB is "
     "reserved by PyTorch but unallocated.\n",
     "too_big",
     {"SGLang at its start (61.0 GiB, 17.0 GiB is left)"},
     {}},
    {"vLLM's words after PyTorch's",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 960.00 MiB. GPU 0 has a total capacity of 15.77 "
     "GiB "
     "of which 30.00 MiB is free. Of the allocated memory 14.90 GiB is allocated by PyTorch, and 90.00 MiB is reserved "
     "by PyTorch but unallocated.\nThe above exception was the direct cause of the following exception:\n"
     "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests.\n",
     "too_big",
     {"PyTorch's CUDA allocator"},
     {"The other failures"}},
    {"the last MiB of a device that others fill",
     "RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 8.00 GiB total capacity; 900.00 MiB already "
     "allocated; 7.00 MiB free; 920.00 MiB reserved in total by PyTorch)\n",
     "held_elsewhere",
     {"is held by others", "7.00 MiB was free", "nvidia-smi"},
     {"not a lack of its memory", "dmesg"}},
    {"a full device with a rest in the pool",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 30.00 MiB. GPU 0 has a total capacity of 40.00 GiB "
     "of "
     "which 11.00 MiB is free. Including non-PyTorch memory, this process has 39.98 GiB memory in use. Of the "
     "allocated "
     "memory 39.30 GiB is allocated by PyTorch, and 45.00 MiB is reserved by PyTorch but unallocated.\n",
     "too_big",
     {"The device is full: requested 30.0 MiB, and only 11.0 MiB of 40.0 GiB is free", "a smaller batch"},
     {"Fragmented", "expandable_segments", "donation"}},
    {"a limit of Apple's GPU",
     "RuntimeError: MPS backend out of memory (MPS allocated: 7.00 GB, other allocations: 1.50 GB, max allowed: 9.00 "
     "GB). "
     "Tried to allocate 1.00 GB on private pool.\n",
     "pool_limit",
     {"its limit of 9.00 GiB: requested 1.00 GiB, and 7.00 GiB is in use, and 1.50 GiB outside of it"},
     {"unknown"}},
    {"an engine that finds too little free at its start",
     "ValueError: Free memory on device cuda:0 (20.10/24.00 GiB) on startup is less than desired GPU memory "
     "utilization "
     "(0.9, 21.60 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n",
     "too_big",
     {"requested 21.6 GiB, and 20.1 GiB was free", "--gpu-memory-utilization 0.83"},
     {"--max-model-len"}},
    {"an engine that counts in tokens",
     "ValueError: The model's max seq len (8192) is larger than the maximum number of tokens that can be stored in KV "
     "cache "
     "(5120). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
     "unknown",
     {"5120", "--max-model-len 5120"},
     {"neither"}},
    {"old XLA under JAX",
     "2020-01-02 10:00:00.000000: E external/org_tensorflow/tensorflow/compiler/xla/pjrt/client.cc:10] Execution of "
     "replica "
     "0 failed: Resource exhausted: Out of memory while trying to allocate 4294967296 bytes.\n",
     "unknown",
     {"Requested 4.00 GiB", "a smaller batch"},
     {"TF_FORCE_GPU_ALLOW_GROWTH"}},
    {"scalar memory of a TPU",
     "RESOURCE_EXHAUSTED: Ran out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by "
     "1.2K\n",
     "compile_time",
     {"a little more than the 1.00 MiB there"},
     {"donate", "checkpointing"}},
    {"vLLM fails in PyTorch",
     "(VllmWorker rank=1 pid=70) ERROR [x.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 "
     "GiB. GPU 1 has a total capacity of 24.00 GiB of which 600.00 MiB is free. Process 7 has 23.41 GiB memory in use. "
     "Of the allocated memory 20.00 GiB is allocated by PyTorch, and 180.00 MiB is reserved by PyTorch but "
     "unallocated.\nargs: gpu_memory_utilization=0.95, max_num_seqs=64\n",
     "too_big",
     {"--gpu-memory-utilization 0.90", "--max-num-seqs (32, for example)"},
     {"checkpointing"}},
    {"vLLM while it loads the weights",
     "INFO vllm.engine starts\nTraceback (most recent call last):\n  File \"/x/worker.py\", line 9, in load_model\n    "
     "f()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 300.00 MiB. GPU 0 has a total capacity of "
     "24.00 GiB of which 10.00 MiB is free.\n",
     "too_big",
     {"--tensor-parallel-size", "still loading the weights"},
     {"a smaller --gpu-memory-utilization"}},
    {"vLLM's sampler",
     "RuntimeError: CUDA out of memory occurred when warming up sampler with 512 dummy requests. Please try lowering "
     "`max_num_seqs` or `gpu_memory_utilization` when initializing the engine.\n",
     "unknown",
     {"a smaller --max-num-seqs"},
     {"--tensor-parallel-size"}},
    {"vLLM with a length and no estimate",
     "ValueError: To serve at least one request with the model's max seq len (100000), (4.00 GiB KV cache is needed, "
     "which is larger than the available KV cache memory (2.00 GiB).\n",
     "unknown",
     {"--max-model-len 49888", "needs 4.00 GiB, and 2.00 GiB is there"},
     {"how much was free on the device"}},
    {"SGLang with a large fraction",
     "python -m sglang.launch_server --mem-fraction-static 0.92\nRuntimeError: Not enough memory. Please try to "
     "increase --mem-fraction-static.\n",
     "unknown",
     {"more GPUs (--tp-size)"},
     {"a larger --mem-fraction-static"}},
    {"SGLang with fractions that were tried",
     "With --mem-fraction-static 0.85 it is refused, with --mem-fraction-static 0.84 too.\nRuntimeError: Not enough "
     "memory. Please try to increase --mem-fraction-static.\n",
     "unknown",
     {"several values"},
     {"0.90"}},
    {"SGLang's slots",
     "It says that alloc_req_slots runs out of memory now and then.\nRuntimeError: alloc_req_slots runs out of memory. "
     "Please set a smaller number for `--max-running-requests`.\n",
     "unknown",
     {"slots for requests", "line 2 of the log"},
     {"--mem-fraction-static", "times: 2"}},
    {"weights of llama.cpp",
     "allocating 90000.00 MiB on device 0: cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate "
     "CUDA0 buffer of size 94371840000\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\n",
     "unknown",
     {"for the weights", "fewer layers on the GPU (-ngl"},
     {"smaller context (-c)", "-ctk"}},
    {"buffers of Ollama",
     "$ ollama run model\nError: llama runner process has terminated: cudaMalloc failed: out of "
     "memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 838860800\n",
     "unknown",
     {"for the compute buffers", "num_ctx", "num_gpu"},
     {"-ngl", "(1 of 2)"}},
    {"a buffer that Vulkan refuses",
     "ggml_vulkan: Device memory allocation of size 17179869184 failed.\nusing device Vulkan0 (Some GPU) (unknown id) "
     "- 27336 MiB free\n",
     "driver_refused",
     {"although 26.7 GiB was free"},
     {"smaller context"}},
    {"MLX",
     "std::runtime_error: [METAL] Command buffer execution failed: Insufficient Memory "
     "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n",
     "unknown",
     {"Metal in MLX", "fewer bits"},
     {"-ngl", "nvidia-smi"}},
    {"Text Generation Inference",
     "Not enough memory to handle 16000 total tokens with 2 prefill tokens. You need to decrease "
     "`--max-batch-total-tokens`\n",
     "unknown",
     {"no room for 16000 tokens", "--max-batch-total-tokens (8000"},
     {"nvidia-smi"}},
    {"TensorRT-LLM's executor",
     "[TRT-LLM] [E] Executor creation failed due to insufficient GPU memory.\n\nThe following component could not be "
     "created: KV cache\nTotal GPU memory (GiB): 140.00\nFree GPU memory before component creation attempt (GiB): "
     "100.00\n",
     "unknown",
     {"although 100 GiB was free", "free_gpu_memory_fraction"},
     {"outside the framework's pool"}},
    {"FlashInfer's workspace",
     "RuntimeError: Failed to allocate memory for batch_prefill_tmp_v with size 435814400 and alignment 16 in "
     "AlignedAllocator\n",
     "unknown",
     {"SGLANG_FLASHINFER_WORKSPACE_SIZE"},
     {"nvidia-smi"}},
};

class WildEngineTexts : public testing::TestWithParam<tests::WildText> {};

TEST_P(WildEngineTexts, are_answered) {
  expect_answered(GetParam());
}

INSTANTIATE_TEST_SUITE_P(all, WildEngineTexts, testing::ValuesIn(engine_texts));

}  // namespace
}  // namespace hbmscope
