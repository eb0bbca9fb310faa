#include "analysis/diagnose/engine_advice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// The engine looks what is free before it takes its fraction.
bool is_start_of_engine(const AdviceFacts& facts) {
  const CauseFacts& failed = facts.failed;
  return failed.figures.driver_bytes && failed.device_bytes &&
         (facts.cause == Cause::held_elsewhere || !failed.detail(failure_detail::setting).empty());
}

// What the account of llama.cpp lacks so that the request could be served. Where the engine doesn't say what was free,
// it is taken that nothing else is: all of the request.
std::optional<std::uint64_t> missing_of_account(const AdviceFacts& facts) {
  const auto& account = facts.failed.account;
  const std::uint64_t wanted = facts.failed.figures.requested_bytes;
  if (!account || wanted == 0 || account->weights_bytes == 0 || account->cache_bytes == 0) return std::nullopt;
  if (!account->free_before_bytes) return wanted;
  const std::uint64_t all = clamped_sum(account->bytes, wanted);
  if (all <= *account->free_before_bytes) return std::nullopt;  // Others took memory since then.
  return all - *account->free_before_bytes;
}

std::string text_from_missing(const AdviceFacts& facts, std::uint64_t missing) {
  const auto free = facts.failed.account->free_before_bytes;
  return free ? fmt::format("{} was free, and {} is missing", text_from_bytes(*free), text_from_bytes(missing))
              : fmt::format("{} must become free if nothing else is", text_from_bytes(missing));
}

}  // namespace

bool fill_vllm(const AdviceFacts& facts, Advice& advice) {
  if (is_start_of_engine(facts)) return false;
  if (!facts.failed.detail(failure_detail::suggested).empty())
    advice.change = "a larger --gpu-memory-utilization, or more GPUs (--tensor-parallel-size)";
  return true;
}

// A value that leaves the figures of the text room: the engine's fraction of the whole device.
bool fill_engine_fraction(const AdviceFacts& facts, Advice& advice) {
  const CauseFacts& failed = facts.failed;
  const auto in_percent = [](double share) { return std::floor(share * 100) / 100; };
  if (is_start_of_engine(facts)) {
    const double free = static_cast<double>(*failed.figures.driver_bytes),
                 all = static_cast<double>(*failed.device_bytes);
    advice.change = fmt::format("--gpu-memory-utilization {:.2f}", in_percent(free / all));
    advice.why = fmt::format("The engine takes that part of the whole device, and {} of {} was free when it started.",
                             text_from_bytes(free), text_from_bytes(all));
    advice.price = "Less is left for the KV cache.";
    return true;
  }
  if (!failed.engine) return false;
  const double all = static_cast<double>(failed.engine->total_bytes),
               taken = static_cast<double>(failed.engine->taken_bytes),
               wanted = static_cast<double>(failed.figures.requested_bytes);
  const double usual = 0.9, least = std::ceil((taken + wanted) / all * 100) / 100;
  const double share = std::max(usual, least);
  if (share > fraction_max || share * all <= static_cast<double>(failed.engine->limit_bytes)) return false;
  advice.change = fmt::format("--gpu-memory-utilization {:.2f}", share);
  advice.why = fmt::format("{} would be left for the KV cache, if nothing else uses the device.",
                           text_from_bytes(share * all - taken));
  advice.price = "Less memory is left for other processes.";
  return true;
}

bool fill_engine_length(const AdviceFacts& facts, Advice& advice) {
  const std::string_view suggested = facts.failed.detail(failure_detail::suggested);
  if (suggested.empty()) return false;
  advice.change = fmt::format("--max-model-len {}", suggested);
  advice.why =
      fmt::format("The engine computed it: requests of that length fit into the {}that it has for the KV cache.",
                  facts.failed.figures.free_bytes ? text_from_bytes(*facts.failed.figures.free_bytes) + " "
                                                  : std::string("memory "));
  return true;
}

// The weights and the KV cache are divided evenly among the layers on the GPU; what is computed with stays.
bool fill_layers_on_gpu(const AdviceFacts& facts, Advice& advice) {
  const auto missing = missing_of_account(facts);
  if (!missing || facts.failed.account->layers_on_gpu.value_or(0) == 0) return false;
  const EngineAccount& account = *facts.failed.account;
  const std::uint64_t layers = *account.layers_on_gpu,
                      per_layer = clamped_sum(account.weights_bytes, account.cache_bytes) / layers;
  if (per_layer == 0) return false;
  const std::uint64_t fewer = (*missing + per_layer - 1) / per_layer;
  if (fewer >= layers) return false;
  advice.change = fmt::format("-ngl {}", layers - fewer);
  advice.why = fmt::format("{}. A layer takes about {} of weights and KV cache ({} in {}), so {} fewer make room.",
                           text_from_missing(facts, *missing), text_from_bytes(per_layer),
                           text_from_bytes(clamped_sum(account.weights_bytes, account.cache_bytes)),
                           text_from_count_of(layers, "layer"), text_from_count(fewer));
  return true;
}

// The KV cache grows with the context.
bool fill_context(const AdviceFacts& facts, Advice& advice) {
  constexpr std::uint64_t step = 256;  // llama.cpp rounds the context to that.
  const auto missing = missing_of_account(facts);
  if (!missing || !facts.failed.account->context_tokens) return false;
  const EngineAccount& account = *facts.failed.account;
  if (*missing >= account.cache_bytes) return false;
  const double share = static_cast<double>(account.cache_bytes - *missing) / static_cast<double>(account.cache_bytes);
  const auto tokens = static_cast<std::uint64_t>(share * static_cast<double>(*account.context_tokens)) / step * step;
  if (tokens == 0) return false;
  advice.change = fmt::format("-c {}", tokens);
  advice.why =
      fmt::format("{}. The KV cache takes {} for {} tokens, and shrinks with them.", text_from_missing(facts, *missing),
                  text_from_bytes(account.cache_bytes), text_from_count(*account.context_tokens));
  return true;
}

}  // namespace hbmscope
