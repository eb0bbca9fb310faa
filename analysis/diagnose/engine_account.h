// What an engine that serves models says of its memory when it starts: a heap of the layer `program`, whose blocks are
// the parts (read/log/wordings.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct EngineAccount {
  std::string name;  // "ggml at its start, GPU 0"
  // All parts together; of these the weights, and the KV cache.
  std::uint64_t bytes = 0, weights_bytes = 0, cache_bytes = 0;
  // As the engine says it: the device's whole memory, what it may use of that, what was free before it took anything,
  // and what is free now.
  std::optional<std::uint64_t> device_bytes = {}, limit_bytes = {}, free_before_bytes = {}, free_after_bytes = {};
  // Of llama.cpp: layers on the GPUs, of all, and the length of the context.
  std::optional<std::uint64_t> layers_on_gpu = {}, layers = {}, context_tokens = {};

  // What is left of the device: what the engine says, or what follows. Negative: the parts are more than there is.
  std::optional<std::int64_t> left_bytes() const;
};

EngineAccount find_engine_account(const Stream& stream, const HeapInfo& heap, const StreamState& state,
                                  std::uint64_t position);
// Those of all engines and devices.
std::vector<EngineAccount> find_engine_accounts(const Stream& stream, std::uint64_t position);

// "14.4 GiB of the device's 23.6 GiB, 9.17 GiB is left"
std::string text_from_account(const EngineAccount& account);

}  // namespace hbmscope
