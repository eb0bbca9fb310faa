// What would help engines that serve models: the values of their own settings that follow from their figures. Fills
// rows of the table of advice (advice_rows.cpp).
#pragma once

#include "analysis/diagnose/advice.h"

namespace hbmscope {

// vLLM's --gpu-memory-utilization and --max-model-len, and what else helps.
bool fill_engine_fraction(const AdviceFacts& facts, Advice& advice);
bool fill_engine_length(const AdviceFacts& facts, Advice& advice);
bool fill_vllm(const AdviceFacts& facts, Advice& advice);
bool fill_sglang(const AdviceFacts& facts, Advice& advice);
// Room beside the weights and the KV cache of an engine that allocates with PyTorch.
bool fill_engine_room(const AdviceFacts& facts, Advice& advice);
bool has_engine_room(const AdviceFacts& facts);
// llama.cpp's -ngl and -c, and what programs that are built on it call them.
bool fill_ggml(const AdviceFacts& facts, Advice& advice);
bool fill_layers_on_gpu(const AdviceFacts& facts, Advice& advice);
bool fill_context(const AdviceFacts& facts, Advice& advice);

}  // namespace hbmscope
