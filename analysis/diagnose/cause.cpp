#include "analysis/diagnose/cause.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view detail_of(const FailureRow& row, std::string_view key) {
  const auto found =
      std::find_if(row.details.begin(), row.details.end(), [&](const auto& one) { return one.first == key; });
  return found == row.details.end() ? std::string_view() : std::string_view(found->second);
}

// The name of the allocator decides; a log can contain the failures of several frameworks.
Framework framework_of(const Definitions& definitions, const FailureRow& row, const HeapInfo& heap) {
  constexpr std::array<std::pair<std::string_view, Framework>, 16> allocators = {{
      {"cuBLAS", Framework::library},
      {"cuDNN", Framework::library},
      {"NCCL", Framework::library},
      {"cuSOLVER", Framework::library},
      {"TensorRT", Framework::library},
      {"Triton", Framework::triton},
      {"vLLM", Framework::vllm},
      {"SGLang", Framework::sglang},
      {"PyTorch", Framework::pytorch},
      {"pytorch", Framework::pytorch},
      {"xla:tpu", Framework::tpu},
      {"RMM", Framework::rmm},
      {"rmm", Framework::rmm},
      {"XLA", Framework::jax_gpu},
      {"xla_gpu", Framework::jax_gpu},
      {"_bfc", Framework::jax_gpu},
  }};
  const std::string_view allocator = row.allocator.empty() ? heap.name : row.allocator;
  for (const auto& [name, framework] : allocators)
    if (has(allocator, name))
      return framework == Framework::jax_gpu && has(row.reason, "OOM when allocating tensor") ? Framework::tensorflow
                                                                                              : framework;
  const std::string_view fact = definitions.job_fact("framework");
  if (has(fact, "tpu")) return Framework::tpu;
  if (has(fact, "pytorch")) return Framework::pytorch;
  return has(fact, "xla:gpu") || has(fact, "jax") ? Framework::jax_gpu : Framework::unknown;
}

// The figures of one failure, as far as they are known.
class Finder {
 public:
  Finder(const Trace& trace, std::size_t stream, const FailureRow& row, const FailureFacts& facts)
      : stream_(trace.streams[stream]),
        heap_(stream_.definitions().heap(facts.heap)),
        row_(row),
        facts_(facts),
        device_bytes_(find_device_bytes(stream_, facts.heap, facts.event)) {
    found_.framework = framework_of(stream_.definitions(), row, heap_);
  }

  CauseOfFailure find() {
    found_.cause = found_.immediate = cause();
    found_.sentence = sentence();
    add_figures();
    add_contradictions();
    if (rests_on_pool()) found_.unknowns = unknowns_of(facts_);
    if (found_.cause == Cause::unknown && !facts_.is_of_driver) found_.how_to_know = how_to_know();
    return std::move(found_);
  }

 private:
  bool rests_on_pool() const {
    return found_.cause != Cause::compile_time && found_.cause != Cause::outside_pool_starved &&
           found_.cause != Cause::host_memory && found_.framework != Framework::tpu;
  }

  Cause cause() const {
    const std::uint64_t needed = facts_.needed_bytes;
    if (is_host_kind(heap_.memory_kind) || has(row_.allocator, "host")) return Cause::host_memory;
    if (detail_of(row_, failure_detail::stage) == failure_detail::compiler) return Cause::compile_time;
    if (found_.framework == Framework::library) return cause_of_library();
    if (has(row_.reason, "Maximum pool size exceeded")) return Cause::pool_limit;  // RMM says so, without figures.
    if (facts_.requested_bytes == 0) return Cause::unknown;
    if (device_bytes_ && needed > *device_bytes_) return Cause::too_big;
    if (facts_.limit_bytes && needed > *facts_.limit_bytes) return Cause::too_big;
    if (facts_.is_of_driver) return facts_.verdict == FailureVerdict::too_big ? Cause::too_big : Cause::unknown;
    if (facts_.is_inexact && facts_.free_blocks) return Cause::unknown;
    if (facts_.largest_free_bytes && needed <= *facts_.largest_free_bytes)
      return heap_.has(wire::heap_flag::has_two_ends) ? Cause::wrong_end : Cause::unknown;
    if (facts_.largest_free_bytes && facts_.requested_bytes <= *facts_.largest_free_bytes) return Cause::alignment;
    if (!facts_.free_bytes) return is_over_limit() ? Cause::pool_limit : Cause::unknown;
    if (needed <= *facts_.free_bytes) return Cause::fragmentation;
    return cause_of_full_pool(needed, *facts_.free_bytes);
  }

  // All that is free in the pool would not be enough, even as one block.
  Cause cause_of_full_pool(std::uint64_t needed, std::uint64_t free) const {
    if (found_.framework == Framework::tpu) return Cause::too_big;  // Its pool is the device's memory.
    if (const auto left = left_to_grow()) {
      if (*left >= needed) return Cause::cannot_grow;  // The limit allows it, so the device had no room.
      return clamped_sum(free, *left) >= needed && free > 0 && *left > 0 ? Cause::cannot_grow : Cause::pool_limit;
    }
    if (facts_.limit_bytes && !facts_.driver_bytes) return is_over_limit() ? Cause::pool_limit : Cause::unknown;
    if (!facts_.driver_bytes) return Cause::unknown;
    if (needed - free > *facts_.driver_bytes) return Cause::too_big;
    if (needed > *facts_.driver_bytes) return Cause::cannot_grow;
    // The device had room. Only a limit keeps XLA's allocator from taking it; of others the reason is unknown.
    const bool is_xla = found_.framework == Framework::jax_gpu || found_.framework == Framework::tensorflow;
    return is_xla ? Cause::pool_limit : Cause::unknown;
  }

  // By its limit.
  std::optional<std::uint64_t> left_to_grow() const {
    if (!facts_.limit_bytes || !facts_.pool_bytes) return std::nullopt;
    return *facts_.limit_bytes - std::min(*facts_.limit_bytes, *facts_.pool_bytes);
  }

  // Libraries that can't be initialised most often lack memory, but not always.
  Cause cause_of_library() const {
    constexpr std::uint64_t little = std::uint64_t{1} << 30;  // Handles and workspaces take some hundred MiB.
    const bool may_be_other = has(row_.reason, "NOT_INITIALIZED") && facts_.driver_bytes.value_or(little) >= little;
    return may_be_other ? Cause::unknown : Cause::outside_pool_starved;
  }

  // What is free in the pool is unknown, but no pool within its limit could have held the request too.
  bool is_over_limit() const {
    return facts_.limit_bytes && row_.used_bytes &&
           clamped_sum(*row_.used_bytes, facts_.needed_bytes) > *facts_.limit_bytes;
  }

  std::string sentence() const {
    const std::string requested = text_from_request(facts_.requested_bytes);
    switch (found_.cause) {
      case Cause::host_memory:
        return fmt::format("Memory of the host ran out, not of a device: requested {}.", requested);
      case Cause::compile_time: return compile_sentence(requested);
      case Cause::outside_pool_starved:
        return fmt::format("{} found too little memory outside the framework's pool.", row_.allocator);
      case Cause::wrong_end:
        return fmt::format(
            "Requested {}; a free block of {} is large enough, but belongs to the other end of the pool.", requested,
            text_from_bytes(*facts_.largest_free_bytes));
      case Cause::alignment:
        return fmt::format("Requested {}, which the allocator rounds to {}; the largest free block is {}.", requested,
                           exact_text_from_bytes(signed_from(facts_.needed_bytes)),
                           exact_text_from_bytes(signed_from(*facts_.largest_free_bytes)));
      case Cause::pool_limit: return pool_limit_sentence(requested);
      case Cause::unknown:
        if (found_.framework != Framework::library) return sentence_of(facts_);
        return fmt::format(
            "{} could not be initialized, most often because too little memory is left outside the "
            "framework's pool; the text does not say whether that is the reason.",
            row_.allocator);
      case Cause::too_big:
        if (device_bytes_ && facts_.needed_bytes > *device_bytes_)
          return fmt::format("Requested {}, more than the whole device has ({}).", requested,
                             text_from_bytes(*device_bytes_));
        if (facts_.limit_bytes && facts_.needed_bytes > *facts_.limit_bytes)
          return fmt::format("Requested {}, more than the limit of {} ({}).", requested, limited(),
                             text_from_bytes(*facts_.limit_bytes));
        return sentence_of(facts_);
      case Cause::cannot_grow:
        if (const auto left = left_to_grow(); left && !facts_.driver_bytes)
          return fmt::format("Requested {}; {} is free in the pool, and its limit leaves {} to grow{}.", requested,
                             text_from_bytes(*facts_.free_bytes), text_from_bytes(*left),
                             *left >= facts_.needed_bytes ? ", which the device did not give" : ": neither is enough");
        return sentence_of(facts_);
      default: return sentence_of(facts_);
    }
  }

  std::string pool_limit_sentence(const std::string& requested) const {
    std::string text = "The pool is full";
    const auto left = left_to_grow();
    if (facts_.limit_bytes)
      text += fmt::format("{} its limit of {}", left && *left > 0 ? ", and near" : ", and at",
                          text_from_bytes(*facts_.limit_bytes));
    if (left && *left > 0) text += fmt::format(" ({} less)", text_from_bytes(*left));
    if (facts_.free_bytes) {
      const TextPair pair = texts_from_bytes(signed_from(facts_.requested_bytes), signed_from(*facts_.free_bytes));
      return text + ": requested " + pair.first + ", " + pair.second + " is free in it.";
    }
    text += ": requested " + requested;
    return text + (row_.used_bytes ? ", and " + text_from_bytes(*row_.used_bytes) + " is in use." : ".");
  }

  std::string limited() const {
    if (found_.framework == Framework::triton) return "a multiprocessor's shared memory";
    return heap_.layer == wire::Layer::program ? "the memory" : "the pool";
  }

  std::string compile_sentence(const std::string& requested) const {
    const std::string space = row_.memory_space.empty() ? "memory" : row_.memory_space;
    const std::string_view program = detail_of(row_, failure_detail::program);
    std::string text = "The compiler found that ";
    text += program.empty() ? "the program" : std::string(program);
    text += fmt::format(" does not fit in {}", space);
    if (facts_.requested_bytes > 0) text += ": it needs " + requested;
    if (facts_.requested_bytes > 0 && facts_.limit_bytes) {
      text += ", and " + text_from_bytes(*facts_.limit_bytes) + " is there";
      if (facts_.requested_bytes > *facts_.limit_bytes)
        text += fmt::format(" ({} too much)", text_from_bytes(facts_.requested_bytes - *facts_.limit_bytes));
    }
    return text + ". Nothing ran.";
  }

  void add(std::string text) { found_.evidence.push_back({std::move(text), row_.line, row_.event}); }

  void add_figures() {
    if (facts_.is_of_driver && !row_.reason.empty()) add(row_.reason + " returned out of memory.");
    if (row_.used_bytes && row_.pool_bytes && found_.cause != Cause::compile_time)
      add(fmt::format(
          "{} of the pool's {} was in use{}.", text_from_bytes(*row_.used_bytes), text_from_bytes(*row_.pool_bytes),
          facts_.limit_bytes && *facts_.limit_bytes == *row_.pool_bytes ? ", and the pool had reached its limit" : ""));
    else if (row_.used_bytes && found_.cause != Cause::compile_time)
      add(fmt::format("{} was in use.", text_from_bytes(*row_.used_bytes)));
    if (found_.cause == Cause::fragmentation && facts_.free_blocks && facts_.largest_free_bytes)
      add(fmt::format("The free {} is in {}, the largest {}.", text_from_bytes(*facts_.free_bytes),
                      text_from_count_of(*facts_.free_blocks, "block"), text_from_bytes(*facts_.largest_free_bytes)));
    if (facts_.last_fit) {
      const std::string when =
          facts_.last_fit_since_start_ns
              ? ", " + text_from_value(*facts_.last_fit_since_start_ns, "nanoseconds") + " after the start"
              : std::string();
      found_.evidence.push_back(
          {fmt::format("The request would have fit until event {}{}.", text_from_count(*facts_.last_fit), when),
           std::nullopt, facts_.last_fit});
    }
    for (const auto& [key, value] : row_.details)
      if (key.starts_with("process ") || key == "this process" || has(key, "padding") || has(key, "fragmentation"))
        add(fmt::format("{}: {}.", key, value));
  }

  // Facts that seem to speak against the cause, explained.
  void add_contradictions() {
    const bool device_had_room =
        facts_.driver_bytes && facts_.needed_bytes > 0 && *facts_.driver_bytes >= facts_.needed_bytes;
    if (device_had_room && found_.cause != Cause::outside_pool_starved && found_.cause != Cause::unknown) {
      std::string why = "the allocator did not take it";
      if (found_.framework == Framework::jax_gpu || found_.framework == Framework::tensorflow)
        why = facts_.is_pool_at_limit() ? "the pool is at its limit, and never grows beyond it"
                                        : "the pool did not grow: one that was preallocated never does";
      add(fmt::format("{} was free on the device outside the pool, but {}.", text_from_bytes(*facts_.driver_bytes),
                      why));
    }
    if (found_.cause == Cause::pool_limit && facts_.largest_free_bytes && facts_.free_bytes &&
        *facts_.largest_free_bytes < *facts_.free_bytes)
      add("It is not fragmentation: even if all free memory were one block, it would be too small.");
  }

  std::string how_to_know() const {
    switch (found_.framework) {
      case Framework::jax_gpu:
      case Framework::tensorflow:
        return "Set TF_BFC_MEMORY_DUMP=/tmp/oom, which makes XLA write the pool's blocks when a request fails, "
               "or start the job with: hbmscope run -- COMMAND";
      case Framework::pytorch:
        return "Call torch.cuda.memory._record_memory_history() at the start and "
               "torch.cuda.memory._dump_snapshot(\"oom.pickle\") when it fails, or start the job with: hbmscope run -- "
               "COMMAND";
      case Framework::rmm:
        return "Wrap the resource in rmm.mr.LoggingResourceAdaptor, or start the job with: hbmscope run -- COMMAND";
      default: return "Start the job with: hbmscope run -- COMMAND";
    }
  }

  const Stream& stream_;
  const HeapInfo& heap_;
  const FailureRow& row_;
  const FailureFacts& facts_;
  std::optional<std::uint64_t> device_bytes_;
  CauseOfFailure found_;
};

}  // namespace

std::string_view text_from_cause(Cause cause) {
  switch (cause) {
    case Cause::unknown: return "unknown";
    case Cause::too_big: return "too_big";
    case Cause::pool_limit: return "pool_limit";
    case Cause::fragmentation: return "fragmentation";
    case Cause::cannot_grow: return "cannot_grow";
    case Cause::wrong_end: return "wrong_end";
    case Cause::alignment: return "alignment";
    case Cause::compile_time: return "compile_time";
    case Cause::outside_pool_starved: return "outside_pool_starved";
    case Cause::host_memory: return "host_memory";
    case Cause::leak: return "leak";
  }
  return "unknown";
}

CauseOfFailure find_cause(const Trace& trace, std::size_t stream, const FailureRow& row, const FailureFacts& facts) {
  return Finder(trace, stream, row, facts).find();
}

}  // namespace hbmscope
