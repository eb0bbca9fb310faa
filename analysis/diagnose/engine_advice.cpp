#include "analysis/diagnose/engine_advice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/diagnose/device_advice.h"
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

// What the settings of an engine that is built on ggml are called.
struct GgmlSettings {
  std::string_view engine, layers, context, batch, cache;
};
constexpr GgmlSettings ggml_settings[] = {
    {engine::ollama, "num_gpu", "num_ctx", "num_batch", "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0"},
    {engine::lm_studio, "GPU Offload", "Context Length", "Evaluation Batch Size", "K and V Cache Quantization Type"},
    {engine::llama_cpp_python, "n_gpu_layers", "n_ctx", "n_ubatch", "type_k, type_v"},
    {engine::koboldcpp, "--gpulayers", "--contextsize", "--blasbatchsize", "--quantkv 1"},
    {"", "-ngl, --n-cpu-moe", "-c", "-ub", "-ctk q8_0 -ctv q8_0"},
};
const GgmlSettings& ggml_settings_of(const AdviceFacts& facts) {
  const std::string_view name = facts.failed.detail(failure_detail::engine);
  return *std::find_if(std::begin(ggml_settings), std::prev(std::end(ggml_settings)),
                       [&](const GgmlSettings& each) { return each.engine == name; });
}
// "-ngl", "num_gpu "
std::string assigned(std::string_view setting, std::uint64_t value) {
  return fmt::format("{} {}", setting.substr(0, setting.find(',')), value);
}

// Nothing if there are several, which were tried.
std::optional<double> decimal_of(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double most = 1e9;  // More is none of these settings.
  const bool is_all = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return is_all && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

// What leaves more room besides the weights and the KV cache of an engine that allocates with PyTorch. "{}" stands for
// its fraction, a little smaller than it was.
struct RoomInEngine {
  std::string_view engine, part, change, why;
};
constexpr RoomInEngine rooms[] = {
    {engine::vllm, part::weights, "more GPUs (--tensor-parallel-size), a quantized model, or --cpu-offload-gb",
     "It was still loading the weights, which no fraction of the device makes smaller."},
    {engine::vllm, part::measuring, "a smaller --max-num-seqs{seqs}, --max-num-batched-tokens or --max-model-len",
     "Before it sizes its KV cache, vLLM runs the largest batch once."},
    {engine::vllm, part::no_cache,
     "more GPUs (--tensor-parallel-size), a smaller or a quantized model, or a smaller --max-model-len",
     "The weights leave nothing for the KV cache, so a smaller --gpu-memory-utilization is no remedy."},
    {engine::vllm, part::graphs, "{}, or --enforce-eager", "CUDA graphs take memory outside of the KV cache."},
    {engine::vllm, "", "{}, or fewer requests at once (--max-num-seqs{seqs})",
     "Weights and KV cache fill that part of the device, and what requests need must fit in the rest."},
    {engine::sglang, part::weights, "more GPUs (--tp-size), or a quantized model",
     "It was still loading the weights, which no fraction of the device makes smaller."},
    {engine::sglang, part::graphs, "{}, or a smaller --cuda-graph-max-bs",
     "CUDA graphs take memory outside of the weights and the KV cache."},
    {engine::sglang, "", "{}, or a smaller --chunked-prefill-size or --max-running-requests",
     "Weights and KV cache take that part of the device, and activations and graphs must fit in the rest."},
    {engine::tgi, "",
     "a smaller --max-batch-prefill-tokens{prefill} together with --max-input-length, a smaller "
     "--max-batch-total-tokens{total}, or --quantize",
     "The KV cache of all tokens and the prefill need memory in addition to the weights."},
    {engine::comfyui, "",
     "unload the models that are not needed (Unload Models, Free model and node cache), a smaller image or batch, or "
     "--lowvram",
     "Models of earlier workflows stay on the device."},
    {engine::diffusers, "", "enable_sequential_cpu_offload(), a quantized model, or a smaller image and batch",
     "Whole models stay on the device otherwise, while they run."},
    {engine::webui, "", "a smaller image or batch, --xformers or --opt-sdp-attention, or --medvram",
     "Without them, attention needs memory that grows with the fourth power of an image's side."},
};

// "--gpu-memory-utilization 0.85" after 0.90.
std::string smaller_fraction(const AdviceFacts& facts) {
  constexpr double step = 0.05;
  const bool is_vllm = facts.failed.detail(failure_detail::engine) == engine::vllm;
  const std::string_view flag = is_vllm ? "--gpu-memory-utilization" : "--mem-fraction-static";
  const auto now = decimal_of(facts.failed.detail(is_vllm ? "gpu_memory_utilization" : "mem_fraction_static"));
  if (!now || *now <= 2 * step || *now > 1) return fmt::format("a smaller {} (0.8, for example)", flag);
  return fmt::format("{} {:.2f}", flag, *now - step);
}

// " (128, for example)" after 256; empty if the text doesn't have it.
std::string half_of(const AdviceFacts& facts, std::string_view setting) {
  const auto now = decimal_of(facts.failed.detail(setting));
  return now && *now >= 2 ? fmt::format(" ({}, for example)", static_cast<std::uint64_t>(*now) / 2) : std::string();
}

void replace(std::string& text, std::string_view words, std::string_view by) {
  const std::size_t at = text.find(words);
  if (at != std::string::npos) text.replace(at, words.size(), by);
}

std::string_view engine_of(const AdviceFacts& facts) {
  return facts.failed.framework == Framework::tgi ? engine::tgi : facts.failed.detail(failure_detail::engine);
}

}  // namespace

bool has_engine_room(const AdviceFacts& facts) {
  const std::string_view name = engine_of(facts);
  return std::any_of(std::begin(rooms), std::end(rooms), [&](const RoomInEngine& each) { return each.engine == name; });
}

bool fill_engine_room(const AdviceFacts& facts, Advice& advice) {
  if (is_larger_than_all(facts)) return false;  // No setting of a pool helps.
  const std::string_view name = engine_of(facts), part = facts.failed.detail(failure_detail::part);
  const auto room = std::find_if(std::begin(rooms), std::end(rooms), [&](const RoomInEngine& each) {
    return each.engine == name && (each.part == part || each.part.empty());
  });
  // vLLM's own words are those of too little room for its KV cache, but for that run.
  if (room == std::end(rooms) || (facts.failed.framework == Framework::vllm && room->part != part::measuring))
    return false;
  advice.change = room->change;
  replace(advice.change, "{}", smaller_fraction(facts));
  replace(advice.change, "{seqs}", half_of(facts, "max_num_seqs"));
  // TGI names the one that is too large, and its value.
  if (const auto named = decimal_of(facts.failed.detail(failure_detail::setting));
      named && *named >= 2 && name == engine::tgi) {
    const bool is_total = facts.failed.row.reason.find("total tokens") != std::string::npos;
    advice.change = fmt::format(
        "a smaller --max-batch-{}-tokens ({:.0f}, for example, with a --max-input-length that is not larger), or "
        "--quantize",
        is_total ? "total" : "prefill", std::floor(*named / 2));
  }
  replace(advice.change, "{total}", half_of(facts, "max_batch_total_tokens"));
  replace(advice.change, "{prefill}", half_of(facts, "max_batch_prefill_tokens"));
  advice.why = room->why;
  return true;
}

namespace {

// One request of the longest length needs more than the whole KV cache, which grows with the length.
bool fill_length_of_cache(const AdviceFacts& facts, Advice& advice) {
  constexpr std::uint64_t step = 16;  // vLLM's smallest block.
  const auto length = decimal_of(facts.failed.detail(failure_detail::setting));
  const FailureFacts& figures = facts.failed.figures;
  if (!length || !figures.free_bytes || figures.requested_bytes <= *figures.free_bytes) return false;
  const double share = static_cast<double>(*figures.free_bytes) / static_cast<double>(figures.requested_bytes);
  const auto fits = static_cast<std::uint64_t>(*length * share * 0.998) / step * step;  // The figures are rounded.
  if (fits == 0) return false;
  advice.change = fmt::format("--max-model-len {}, or a slightly larger --gpu-memory-utilization", fits);
  advice.why = fmt::format("{} more would be enough for {:.0f} tokens; the KV cache grows with the length.",
                           text_from_bytes(figures.requested_bytes - *figures.free_bytes), *length);
  if (share < 0.9) advice.change = fmt::format("--max-model-len {}", fits);
  return true;
}

}  // namespace

bool fill_vllm(const AdviceFacts& facts, Advice& advice) {
  if (is_start_of_engine(facts) || facts.failed.detail(failure_detail::part) == part::measuring) return false;
  Advice shorter;
  if (facts.failed.detail(failure_detail::suggested).empty() && !fill_length_of_cache(facts, shorter)) return true;
  advice.change = "a larger --gpu-memory-utilization, or more GPUs (--tensor-parallel-size)";
  advice.why = "The KV cache then has more memory on each GPU.";
  advice.price = "Less memory is left for other processes, or it takes more GPUs.";
  return true;
}

bool fill_sglang(const AdviceFacts& facts, Advice& advice) {
  if (facts.failed.detail(failure_detail::part) == part::request_slots) {
    advice.change = "a newer SGLang; with this one, another --max-running-requests, or fewer requests at once";
    advice.why = "It is a number of requests, and no lack of memory.";
    advice.price.clear();
    return true;
  }
  if (facts.failed.row.reason.find("Try to lower your batch size") != std::string::npos) {
    advice.change = "fewer requests at once (--max-running-requests), or a smaller --page-size";
    advice.why = "The KV cache is handed out in pages, and those that are partly used serve no other request.";
    advice.price.clear();
    return true;
  }
  constexpr double most = 0.9, step = 0.05;
  const auto now = decimal_of(facts.failed.detail("mem_fraction_static"));
  const std::string_view more = "more GPUs (--tp-size), a quantized model, or a smaller --context-length";
  if (facts.failed.detail("mem_fraction_static").find(',') != std::string_view::npos) {
    advice.change = more;
    advice.why = "The text names several values of --mem-fraction-static, of which none was right.";
    advice.price = "It takes more GPUs, or requests must be shorter.";
  } else if (now && *now + step > most) {
    advice.change = more;
    advice.why = fmt::format(
        "With --mem-fraction-static {:.2f} nothing is left for the KV cache, and a larger one leaves "
        "activations and CUDA graphs too little.",
        *now);
    advice.price = "It takes more GPUs, or requests must be shorter.";
  } else if (now) {
    advice.change = fmt::format("--mem-fraction-static {:.2f}, or {}", *now + step, more);
  }
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
  const double most = 0.95, some = 512.0 * 1024 * 1024;
  double share = std::max(usual, least);
  if (share * all - taken < some) share = std::max(share, most);
  if (share > fraction_max || share * all <= static_cast<double>(failed.engine->limit_bytes)) return false;
  advice.change = fmt::format("--gpu-memory-utilization {:.2f}", share);
  advice.why = fmt::format("{} would be left for the KV cache, if nothing else uses the device{}.",
                           text_from_bytes(share * all - taken),
                           wanted == 0 ? "; whether that holds one request of the longest length is unknown" : "");
  advice.price = "Less memory is left for other processes.";
  return true;
}

bool fill_engine_length(const AdviceFacts& facts, Advice& advice) {
  const std::string_view suggested = facts.failed.detail(failure_detail::suggested);
  if (suggested.empty()) return fill_length_of_cache(facts, advice);
  if (decimal_of(suggested).value_or(0) < 1) return false;
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
  advice.change = assigned(ggml_settings_of(facts).layers, layers - fewer);
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
  if (!missing || !facts.failed.account->context_tokens || facts.failed.detail(failure_detail::part) == part::weights)
    return false;
  const EngineAccount& account = *facts.failed.account;
  if (*missing >= account.cache_bytes) return false;
  const double share = static_cast<double>(account.cache_bytes - *missing) / static_cast<double>(account.cache_bytes);
  const auto tokens = static_cast<std::uint64_t>(share * static_cast<double>(*account.context_tokens)) / step * step;
  if (tokens == 0) return false;
  advice.change = assigned(ggml_settings_of(facts).context, tokens);
  advice.why =
      fmt::format("{}. The KV cache takes {} for {} tokens, and shrinks with them.", text_from_missing(facts, *missing),
                  text_from_bytes(account.cache_bytes), text_from_count(*account.context_tokens));
  return true;
}

// Only what makes that part smaller, or leaves it more.
bool fill_ggml(const AdviceFacts& facts, Advice& advice) {
  const GgmlSettings& names = ggml_settings_of(facts);
  const std::string_view part = facts.failed.detail(failure_detail::part);
  const std::string fewer_layers = fmt::format("fewer layers on the GPU ({})", names.layers);
  if (part == part::weights) {
    advice.change = fmt::format("{}, or a smaller quantization of the model", fewer_layers);
    advice.why = "It was still loading the weights; a smaller context or KV cache doesn't change them.";
    advice.price = "The layers on the CPU run more slowly.";
  } else if (part == part::compute) {
    advice.change =
        fmt::format("a smaller batch ({}) or context ({}), or {}", names.batch, names.context, fewer_layers);
    // Half of the KV cache would make room.
    if (facts.failed.account && facts.failed.account->cache_bytes / 2 >= facts.failed.figures.requested_bytes)
      advice.change = fmt::format("a KV cache of 8 bits ({}), {}", names.cache, advice.change);
    if (facts.failed.detail("flash_attn") == "0")
      advice.change = fmt::format("flash attention (-fa), {}", advice.change);
    advice.why =
        "The weights and the KV cache are there; these buffers grow with the batch, and without flash attention "
        "also with the context.";
  } else if (part == part::kv_cache) {
    advice.change = fmt::format("a smaller context ({}), a KV cache of 8 bits ({}), or {}", names.context, names.cache,
                                fewer_layers);
    advice.why = "The KV cache grows with the context.";
  } else if (facts.failed.figures.requested_bytes == 0 && !facts.failed.account) {
    const bool is_of_apple = facts.failed.row.allocator.find("Metal") != std::string::npos;
    const std::string_view process = facts.failed.detail(failure_detail::table_process);
    const std::string others = is_of_apple       ? std::string()
                               : process.empty() ? std::string("see what else uses the device (nvidia-smi); then ")
                                                 : fmt::format("end process {}, if it is another one; then ", process);
    advice.change = fmt::format("{}{}, or a smaller context ({})", others, fewer_layers, names.context);
    advice.why = "The line that failed doesn't say what the memory was for.";
  } else {
    advice.change = fmt::format("a smaller context ({}) or batch ({}), a KV cache of 8 bits ({}), or {}", names.context,
                                names.batch, names.cache, fewer_layers);
  }
  return true;
}

}  // namespace hbmscope
