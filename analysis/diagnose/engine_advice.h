// What would help engines that serve models: the values of their own settings that follow from their figures. Fills rows
// of the table of advice (advice_rows.cpp).
#pragma once

#include "analysis/diagnose/advice.h"

namespace hbmscope {

// vLLM's --gpu-memory-utilization and --max-model-len, and what else helps.
bool fill_engine_fraction(const AdviceFacts& facts, Advice& advice);
bool fill_engine_length(const AdviceFacts& facts, Advice& advice);
bool fill_vllm(const AdviceFacts& facts, Advice& advice);
// llama.cpp's -ngl and -c.
bool fill_layers_on_gpu(const AdviceFacts& facts, Advice& advice);
bool fill_context(const AdviceFacts& facts, Advice& advice);

}  // namespace hbmscope
