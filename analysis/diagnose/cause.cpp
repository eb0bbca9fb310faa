#include "analysis/diagnose/cause.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/diagnose/growth.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// By a part of the allocator's name, which decides, since a log can contain the failures of several frameworks; or of
// the job's framework. The first row that matches counts.
struct FrameworkName {
  std::string_view allocator, job;
  Framework framework;
};
constexpr FrameworkName framework_names[] = {
    {"GPU driver at its start", {}, Framework::driver_start},
    {"cuBLAS", {}, Framework::library},
    {"cuDNN", {}, Framework::library},
    {"NCCL", {}, Framework::library},
    {"cuSOLVER", {}, Framework::library},
    {"cuSPARSE", {}, Framework::library},
    {"cuFFT", {}, Framework::library},
    {"MIOpen", {}, Framework::library},
    {"TensorRT", {}, Framework::named},
    {"ONNX Runtime", {}, Framework::named},
    {"Text Generation Inference", {}, Framework::tgi},
    {"FlashInfer", {}, Framework::named},
    {"Metal in MLX", {}, Framework::named},
    {"Cycles", {}, Framework::named},
    {"RELION", {}, Framework::named},
    {"CuPy", {}, Framework::named},
    {"CUDA.jl", {}, Framework::named},
    {"LM Studio", {}, Framework::ggml},
    {"shared memory of a", {}, Framework::kernel},
    {"vLLM", {}, Framework::vllm},
    {"SGLang", {}, Framework::sglang},
    {"ggml", {}, Framework::ggml},
    {"PaddlePaddle", {}, Framework::paddle},
    {"cudaMallocAsync in PyTorch", {}, Framework::pytorch_async},
    {"PyTorch's MPS", {}, Framework::pytorch_mps},
    {"PyTorch's NPU", {}, Framework::pytorch_npu},
    {"PyTorch's XPU", {}, Framework::pytorch_xpu},
    {"PyTorch", {}, Framework::pytorch},
    {"pytorch", {}, Framework::pytorch},
    {"xla:tpu", {}, Framework::tpu},
    {"RMM", {}, Framework::rmm},
    {"rmm", {}, Framework::rmm},
    {"XLA", {}, Framework::jax_gpu},
    {"xla_gpu", {}, Framework::jax_gpu},
    {"_bfc", {}, Framework::jax_gpu},
    {{}, "tpu", Framework::tpu},
    {{}, "pytorch", Framework::pytorch},
    {{}, "tensorflow", Framework::tensorflow},
    {{}, "xla:gpu", Framework::jax_gpu},
    {{}, "jax", Framework::jax_gpu},
};

Framework program_of(const FailureRow& row) {
  const std::string_view words = row.detail(failure_detail::framework);
  return words == "tensorflow" ? Framework::tensorflow
         : words == "pytorch"  ? Framework::pytorch
         : words == "jax"      ? Framework::jax_gpu
                               : Framework::unknown;
}

Framework framework_of(const Definitions& definitions, const FailureRow& row, const HeapInfo& heap) {
  const std::string_view allocator = row.allocator.empty() ? heap.name : row.allocator;
  const std::string_view job = definitions.job_fact("framework");
  for (const FrameworkName& one : framework_names) {
    if (one.job.empty() ? !has(allocator, one.allocator) : !has(job, one.job)) continue;
    // TensorFlow has XLA's allocator, and names it in other words.
    const bool is_tensorflow = one.framework == Framework::jax_gpu && program_of(row) == Framework::tensorflow;
    return is_tensorflow || (one.framework == Framework::jax_gpu && has(row.reason, "OOM when allocating tensor"))
               ? Framework::tensorflow
               : one.framework;
  }
  return Framework::unknown;
}

// The sums of what an engine says at its start. Nothing if it doesn't say how much it may use.
std::optional<EngineBudget> find_engine_budget(const std::vector<EngineAccount>& accounts) {
  for (const EngineAccount& one : accounts)
    if (one.device_bytes && one.limit_bytes)
      return EngineBudget{*one.device_bytes, *one.limit_bytes, one.bytes - one.cache_bytes};
  return std::nullopt;
}

// Libraries that can't be initialised most often lack memory, but not always.
bool may_lack_something_else(const CauseFacts& facts) {
  constexpr std::uint64_t little = std::uint64_t{1} << 30;  // Handles and workspaces take some hundred MiB.
  return has(facts.row.reason, "NOT_INITIALIZED") && facts.figures.driver_bytes.value_or(little) >= little;
}

using Facts = const CauseFacts&;

// Allocators that ask the driver for what their pool doesn't have, so that a refusal with room is the driver's.
constexpr bool asks_driver(Framework framework) {
  return framework == Framework::pytorch || framework == Framework::pytorch_async ||
         framework == Framework::pytorch_npu || framework == Framework::pytorch_xpu || framework == Framework::ggml;
}

// Only a text has figures of the whole pool without its blocks.
bool is_of_text(Facts one) {
  return one.row.line && !one.figures.free_blocks;
}

// Others hold a quarter of the device, and not a fraction of what the own pool holds; without that it would have fit.
// Of the driver's pool a text doesn't say what it keeps: then it is half of the device.
bool is_held_elsewhere(Facts one) {
  constexpr std::uint64_t part_of_pool = 3;
  const std::uint64_t part_of_device = one.framework == Framework::pytorch_async ? 2 : 4;
  if (!one.elsewhere || one.has_device_room()) return false;
  const std::uint64_t held = one.elsewhere->bytes,
                      device = one.device_bytes.value_or(one.figures.limit_bytes.value_or(0)),
                      there = clamped_sum(clamped_sum(held, one.figures.free_bytes.value_or(0)),
                                          one.figures.driver_bytes.value_or(0));
  return held >= device / part_of_device && held >= one.row.pool_bytes.value_or(0) / part_of_pool &&
         one.figures.needed_bytes <= there;
}

// Allocators that say themselves that their pool is full, some without figures. RMM's says so too where the driver
// refused what the pool wanted, and names its error.
bool says_pool_is_full(Facts one) {
  constexpr std::string_view words[] = {"aximum pool size exceeded", "Exceeded memory limit",
                                        "is smaller than requested bytes", "available in AlignedAllocator"};
  return !has(one.row.reason, "CUDA error") &&
         std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view each) { return has(one.row.reason, each); });
}

// No device of the next years has a pebibyte, and none of today's a tebibyte.
constexpr std::uint64_t never = std::uint64_t{1} << 50, not_today = std::uint64_t{1} << 40;
bool is_impossible(Facts one) {
  const bool is_known = one.device_bytes || one.figures.limit_bytes;
  return one.figures.needed_bytes >= never || (one.figures.needed_bytes >= not_today && !is_known) ||
         has(one.row.reason, "more than 1EB") || has(one.row.reason, "1844674407370");  // 2^64 less a little.
}

// What is decisive whatever the pool says, then requests to the driver, then the pool's free blocks, then what a pool
// without enough free memory could still have taken.
constexpr Rung ladder[] = {
    {"kept from earlier steps", Cause::leak, [](Facts one) { return leak_of(one) != Leak::none; }},
    {"in host memory", Cause::host_memory,
     [](Facts one) {
       const bool is_of_host = is_host_kind(one.heap.memory_kind) || has(one.row.allocator, "host");
       return is_of_host && !(is_of_text(one) && is_impossible(one));
     }},
    {"in shared memory", Cause::shared_memory, [](Facts one) { return one.framework == Framework::kernel; }},
    {"a size that cannot be", Cause::impossible_size, is_impossible},
    {"found by the compiler", Cause::compile_time,
     [](Facts one) { return one.detail(failure_detail::stage) == failure_detail::compiler; }},
    {"library that may lack something else", Cause::unknown,
     [](Facts one) { return one.framework == Framework::library && may_lack_something_else(one); }},
    {"library outside the pool", Cause::outside_pool_starved,
     [](Facts one) { return one.framework == Framework::library; }},
    {"pool that says it is full", Cause::pool_limit, says_pool_is_full},
    {"engine without room for its cache", Cause::pool_limit,
     [](Facts one) { return one.engine && one.framework == Framework::vllm && !one.figures.driver_bytes; }},
    {"larger than the driver gives at once", Cause::driver_refused,
     [](Facts one) { return one.detail(failure_detail::part) == part::single; }},
    {"held by others", Cause::held_elsewhere, is_held_elsewhere},
    {"request of unknown size", Cause::unknown, [](Facts one) { return one.figures.requested_bytes == 0; }},
    {"larger than the device", Cause::too_big,
     [](Facts one) { return one.device_bytes && one.figures.needed_bytes > *one.device_bytes; }},
    {"larger than the limit", Cause::too_big,
     [](Facts one) { return one.figures.limit_bytes && one.figures.needed_bytes > *one.figures.limit_bytes; }},
    {"larger than what the driver has", Cause::too_big,
     [](Facts one) { return one.figures.is_of_driver && one.figures.driver_bytes && !one.has_device_room(); }},
    {"refused by the driver", Cause::unknown, [](Facts one) { return one.figures.is_of_driver; }},
    {"events were lost", Cause::unknown,
     [](Facts one) { return one.figures.is_inexact && one.figures.free_blocks.has_value(); }},
    {"so near its limit that rounding decides", Cause::pool_limit,
     [](Facts one) {
       const auto left = one.left_to_grow();
       return is_of_text(one) && one.has_device_room() && left && *left <= *one.figures.limit_bytes / 256 &&
              one.figures.free_bytes.value_or(0) < one.figures.needed_bytes;
     }},
    {"limit of the process", Cause::pool_limit,
     [](Facts one) { return is_of_text(one) && asks_driver(one.framework) && one.figures.is_pool_at_limit(); }},
    {"refused with room on the device", Cause::driver_refused,
     [](Facts one) {
       const bool asks = asks_driver(one.framework) || has(one.row.allocator, "runtime");
       // What is unused in the pool, in pieces, would be enough: then it is these.
       const bool is_in_pieces = one.figures.free_bytes && one.figures.pool_bytes &&
                                 one.figures.needed_bytes <= *one.figures.free_bytes &&
                                 *one.figures.free_bytes >= *one.figures.pool_bytes / 16 && one.figures.driver_bytes &&
                                 *one.figures.driver_bytes / 4 < one.figures.needed_bytes;
       return is_of_text(one) && asks && one.has_device_room() && !is_in_pieces;
     }},
    {"room at the other end", Cause::wrong_end,
     [](Facts one) { return one.figures.has_room() && one.heap.has(wire::heap_flag::has_two_ends); }},
    {"room that was not used", Cause::unknown, [](Facts one) { return one.figures.has_room(); }},
    {"room without rounding", Cause::alignment,
     [](Facts one) {
       return one.figures.largest_free_bytes && one.figures.requested_bytes <= *one.figures.largest_free_bytes;
     }},
    {"over the limit with what is in use", Cause::pool_limit,
     [](Facts one) { return !one.figures.free_bytes && one.is_over_limit(); }},
    {"no room on the device for a pool of unknown size", Cause::too_big,
     [](Facts one) {
       return is_of_text(one) && !one.figures.free_bytes && one.figures.driver_bytes && !one.has_device_room();
     }},
    {"free memory is unknown", Cause::unknown, [](Facts one) { return !one.figures.free_bytes; }},
    {"device and pool that are nearly full", Cause::too_big, [](Facts one) { return one.is_all_full(); }},
    {"free in total", Cause::fragmentation,
     [](Facts one) { return one.figures.free_bytes && one.figures.needed_bytes <= *one.figures.free_bytes; }},
    // The pool of a TPU is the device's memory.
    {"larger than all free memory of a TPU", Cause::too_big, [](Facts one) { return one.framework == Framework::tpu; }},
    // The limit allows it, so the device had no room.
    {"within the limit", Cause::cannot_grow,
     [](Facts one) {
       const auto left = one.left_to_grow();
       return left && clamped_sum(one.figures.free_bytes.value_or(0), *left) >= one.figures.needed_bytes;
     }},
    {"beyond the limit", Cause::pool_limit, [](Facts one) { return one.left_to_grow().has_value(); }},
    {"beyond the limit of a pool of unknown size", Cause::pool_limit,
     [](Facts one) { return !one.figures.driver_bytes && one.is_over_limit(); }},
    {"free memory of the device is unknown", Cause::unknown, [](Facts one) { return !one.figures.driver_bytes; }},
    {"more than the pool and the device have", Cause::too_big,
     [](Facts one) {
       return one.figures.driver_bytes &&
              one.figures.needed_bytes > clamped_sum(one.figures.free_bytes.value_or(0), *one.figures.driver_bytes);
     }},
    {"more than the device has", Cause::cannot_grow, [](Facts one) { return !one.has_device_room(); }},
    // The device had room: only a limit keeps XLA's allocator from taking it. Of others the reason is unknown.
    {"XLA's pool with room on the device", Cause::pool_limit, [](Facts one) { return one.has_xla_pool(); }},
};

void add_figures(const CauseFacts& facts, CauseOfFailure& found) {
  const FailureRow& row = facts.row;
  const FailureFacts& figures = facts.figures;
  const auto add = [&](std::string text) { found.evidence.push_back({std::move(text), row.line, row.event}); };
  if (figures.is_of_driver && !row.reason.empty()) add(row.reason + " returned out of memory.");
  if (row.used_bytes && row.pool_bytes && found.cause != Cause::compile_time)
    add(fmt::format(
        "{} of the pool's {} was in use{}.", text_from_bytes(*row.used_bytes), text_from_bytes(*row.pool_bytes),
        figures.limit_bytes && *figures.limit_bytes == *row.pool_bytes ? ", and the pool had reached its limit" : ""));
  else if (row.used_bytes && found.cause != Cause::compile_time && found.cause != Cause::host_memory)
    add(fmt::format("{} was in use.", text_from_bytes(*row.used_bytes)));
  else if (row.line && row.pool_bytes && !row.used_bytes)
    add(fmt::format("The pool had {}.", text_from_bytes(*row.pool_bytes)));
  if (found.cause == Cause::held_elsewhere && figures.free_bytes && *figures.free_bytes >= figures.needed_bytes)
    add(fmt::format("{} was free in the pool, in free blocks that are too small.",
                    text_from_bytes(*figures.free_bytes)));
  if (found.cause == Cause::fragmentation && figures.free_blocks && figures.largest_free_bytes)
    add(fmt::format("The free {} is in {}, the largest {}.", text_from_bytes(*figures.free_bytes),
                    text_from_count_of(*figures.free_blocks, "block"), text_from_bytes(*figures.largest_free_bytes)));
  if (figures.last_fit) {
    const std::string when =
        figures.last_fit_since_start_ns
            ? ", " + text_from_value(*figures.last_fit_since_start_ns, "nanoseconds") + " after the start"
            : std::string();
    found.evidence.push_back(
        {fmt::format("The request would have fit until event {}{}.", text_from_count(*figures.last_fit), when),
         std::nullopt, figures.last_fit});
  }
  std::size_t alike = 0;
  for (const NamedProcess& one : find_named_processes(row, facts.device_bytes)) {
    alike += one.is_alike ? 1 : 0;
    add(one.is_own && !one.is_certain && !one.is_alike
            ? fmt::format(
                  "{} ({}) is most likely this job itself: it can hold the pool, and no other one is on the device "
                  "unlisted. In a container a process has another number than the driver's.",
                  one.name, text_from_bytes(one.bytes))
        : one.name == "this process" ? fmt::format("This process used {} of the device.", text_from_bytes(one.bytes))
                                     : fmt::format("{}: {}.", one.name, text_from_bytes(one.bytes)));
  }
  if (alike > 0)
    add(fmt::format("One of these {} is this process itself: they hold about as much, as ranks of one job do.",
                    text_from_count(alike)));
  // What the text itself says of the process is in the table of the device.
  const bool names_process = std::any_of(row.details.begin(), row.details.end(),
                                         [](const auto& each) { return each.first == "this process"; });
  if (const auto outside = facts.outside_of_pool(); outside && !names_process && found.cause != Cause::held_elsewhere)
    add(fmt::format("{} of the device is outside of the pool: contexts, libraries, other processes.",
                    text_from_bytes(*outside)));
  for (const auto& [key, value] : row.details)
    if (key == failure_detail::steps_before)
      add(fmt::format("Steps before it fit, up to {}: since then memory grew, or this step needs more.", value));
    else if (has(key, "padding") || has(key, "fragmentation") || key == "other allocations" ||
             key == failure_detail::largest_buffer)
      add(fmt::format("{}: {}.", key, value));
  if (row.line && row.used_bytes && facts.device_bytes && *row.used_bytes > *facts.device_bytes)
    add("That is more than the device has: on Windows, and in WSL, the driver moves memory of the GPU to the host's.");
}

// Facts that seem to speak against the cause, explained.
void add_contradictions(const CauseFacts& facts, CauseOfFailure& found) {
  const FailureFacts& figures = facts.figures;
  const auto add = [&](const std::string& text) { found.evidence.push_back({text, facts.row.line, facts.row.event}); };
  const bool is_said = found.cause == Cause::outside_pool_starved || found.cause == Cause::unknown ||
                       found.cause == Cause::driver_refused || found.cause == Cause::held_elsewhere;
  if (facts.has_device_room() && figures.needed_bytes > 0 && !is_said) {
    std::string why = "the allocator did not take it";
    if (facts.has_xla_pool())
      why = figures.is_pool_at_limit() ? "the pool is at its limit, and never grows beyond it"
                                       : "a preallocated pool never grows";
    else if (figures.is_pool_at_limit())
      why = "the process may not take more";
    else if (asks_driver(facts.framework))
      why = "the driver did not give it";
    add(fmt::format("{} was free on the device, but {}.", text_from_bytes(*figures.driver_bytes), why));
  }
  if (found.cause == Cause::pool_limit && figures.largest_free_bytes && figures.free_bytes &&
      *figures.largest_free_bytes < *figures.free_bytes)
    add("It is not fragmentation: even if all free memory were one block, it would be too small.");
}

// The unknown figures that would decide; empty if there are none.
std::string unknowns_of(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  if (figures.is_of_driver) return figures.driver_bytes ? std::string() : "The free memory on the device is unknown.";
  std::string text;
  const auto add = [&](std::string_view words) { text += (text.empty() ? "" : " ") + std::string(words); };
  if (figures.is_inexact && figures.free_blocks)
    add("According to the remaining events, " + text_from_bytes(*figures.free_bytes) +
        " was free, the largest free block " + text_from_bytes(figures.largest_free_bytes.value_or(0)) +
        "; neither is exact.");
  else if (figures.requested_bytes == 0 ||
           (!figures.free_bytes && !(figures.limit_bytes && figures.needed_bytes >= *figures.limit_bytes)))
    add("The free memory of this heap is unknown, because its regions are not reported.");
  if (!figures.driver_bytes && !figures.is_pool_at_limit())
    add("The free memory on the device outside the pool is unknown.");
  if (figures.has_room())
    add("Which free blocks the request may use is unknown: not those of another stream or of a private pool.");
  const bool is_full = figures.is_free_known() && figures.needed_bytes > *figures.free_bytes;
  if (is_full && facts.has_device_room() && !figures.limit_bytes) add("The limit is unknown.");
  return text;
}

// The words of PyTorch 1.9 and earlier, and of TensorFlow 1, which lack what later ones can print.
bool is_of_old_version(const CauseFacts& facts) {
  const std::string& text = facts.row.reason;
  const bool is_old_pytorch = has(text, "total capacity;") && !has(text, "max_split_size_mb");
  return is_old_pytorch || has(text, "THCudaCheck") || has(text, "/THC/") || has(text, "cuda runtime error (2)");
}

}  // namespace

std::string how_to_know(const CauseFacts& facts) {
  if (is_of_old_version(facts)) return "Start the job with: hbmscope run -- COMMAND";
  switch (facts.framework) {
    case Framework::jax_gpu:
      // Of the platform allocator, which has no pool.
      if (has(facts.row.reason, "Failed to allocate request for")) return "Start the job with: hbmscope run -- COMMAND";
      return "Set TF_BFC_MEMORY_DUMP=/tmp/oom, which makes XLA write the pool's blocks when a request fails, "
             "or start the job with: hbmscope run -- COMMAND";
    case Framework::pytorch:
      return "Call torch.cuda.memory._record_memory_history() at the start and "
             "torch.cuda.memory._dump_snapshot(\"oom.pickle\") when it fails, or start the job with: hbmscope run -- "
             "COMMAND";
    case Framework::pytorch_async:
      return "Remove backend:cudaMallocAsync from the allocator's configuration: PyTorch's own pool says what is free.";
    case Framework::pytorch_mps:
      return "Print torch.mps.driver_allocated_memory() and torch.mps.recommended_max_memory() before the line that "
             "fails.";
    case Framework::pytorch_npu:
      return "Print torch.npu.memory_summary() before the line that fails, and look at npu-smi info.";
    case Framework::pytorch_xpu:
      return "Print torch.xpu.memory_summary() before the line that fails, and look at xpu-smi stats.";
    case Framework::tpu:
      return "Set XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\"; afterwards, hbmscope tpu fit "
             "/tmp/dump "
             "names what the programs hold.";
    case Framework::rmm:
      return "Wrap the resource in rmm.mr.LoggingResourceAdaptor, or start the job with: hbmscope run -- COMMAND";
    default: return "Start the job with: hbmscope run -- COMMAND";
  }
}

std::optional<std::uint64_t> CauseFacts::left_to_grow() const {
  if (!figures.limit_bytes || !figures.pool_bytes) return std::nullopt;
  return *figures.limit_bytes - std::min(*figures.limit_bytes, *figures.pool_bytes);
}

std::optional<std::uint64_t> CauseFacts::outside_of_pool() const {
  if (!row.line || !row.pool_bytes || !device_bytes || !figures.driver_bytes) return std::nullopt;
  const std::uint64_t known = clamped_sum(*row.pool_bytes, *figures.driver_bytes);
  const std::uint64_t outside = *device_bytes - std::min(*device_bytes, known);
  const std::uint64_t there = clamped_sum(figures.free_bytes.value_or(0), *figures.driver_bytes);
  const bool is_enough = outside > figures.needed_bytes - std::min(figures.needed_bytes, there);
  return outside >= *device_bytes / 20 && is_enough ? std::optional(outside) : std::nullopt;
}

bool CauseFacts::is_device_full() const {
  constexpr std::uint64_t part = 64, least = std::uint64_t{128} << 20;
  return row.line && device_bytes && figures.driver_bytes && !figures.is_of_driver &&
         *figures.driver_bytes < std::max(*device_bytes / part, std::min(least, *device_bytes / 16));
}

bool CauseFacts::is_all_full() const {
  constexpr std::uint64_t part = 16, tiny_part = 128,
                          large = std::uint64_t{512} << 20;  // Of a large request, its pieces are what lacks.
  return is_of_text(*this) && figures.free_bytes && figures.pool_bytes && figures.driver_bytes && !has_device_room() &&
         *figures.free_bytes < *figures.pool_bytes / part &&
         (figures.needed_bytes < large || *figures.free_bytes / 2 < figures.needed_bytes) &&
         (figures.needed_bytes <= std::max(*figures.free_bytes, *figures.driver_bytes) ||
          (*figures.free_bytes < *figures.pool_bytes / tiny_part &&
           figures.needed_bytes <= clamped_sum(*figures.free_bytes, *figures.driver_bytes)));
}

bool CauseFacts::is_over_limit() const {
  // What a text says of the pool alone may be free in part; its allocator would have used that.
  const auto held = row.used_bytes ? row.used_bytes : is_of_text(*this) ? figures.pool_bytes : std::nullopt;
  if (!figures.limit_bytes || !held) return false;
  std::uint64_t wanted = clamped_sum(*held, figures.needed_bytes);
  // PyTorch's limit on Apple's GPUs is for all that the process has there; its text rounds what it has.
  if (framework == Framework::pytorch_mps)
    wanted = clamped_sum(wanted, clamped_sum(elsewhere ? elsewhere->bytes : 0, *figures.limit_bytes / 256));
  return wanted > *figures.limit_bytes;
}

CauseFacts cause_facts_of(const Trace& trace, std::size_t stream, const FailureRow& row, const FailureFacts& figures) {
  const Stream& of = trace.streams[stream];
  const HeapInfo& heap = of.definitions().heap(figures.heap);
  CauseFacts facts{heap, row, figures, framework_of(of.definitions(), row, heap),
                   find_device_bytes(of, figures.heap, figures.event)};
  // The total of a device that shares the memory of the host is no limit.
  if (facts.device_bytes && figures.driver_bytes && *figures.driver_bytes > *facts.device_bytes)
    facts.device_bytes.reset();
  facts.program = program_of(row);
  facts.elsewhere = find_held_elsewhere(row, facts.device_bytes);
  if (facts.framework == Framework::vllm) facts.engine = find_engine_budget(find_engine_accounts(of, figures.event));
  if (facts.framework == Framework::ggml || facts.framework == Framework::sglang)
    if (auto accounts = find_engine_accounts(of, figures.event); accounts.size() == 1)
      facts.account = std::move(accounts.front());
  return facts;
}

std::string_view CauseFacts::detail(std::string_view key) const {
  return row.detail(key);
}

bool CauseFacts::is_of_windows() const {
  return detail(failure_detail::platform) == failure_detail::windows;
}

std::span<const Rung> ladder_of_causes() {
  return ladder;
}

Cause cause_of(const CauseFacts& facts, const Rung* skipped) {
  for (const Rung& rung : ladder)
    if (&rung != skipped && rung.holds(facts)) return rung.cause;
  return Cause::unknown;
}

// Without what is left of earlier steps, the request would have fit: then that is the cause if it is more than half of
// what was in use, whatever else kept this one request from being served. A tenth makes it probable, but not in a
// fragmented pool: what would be free is not in one place.
Leak leak_of(const CauseFacts& facts) {
  constexpr std::uint64_t part_min = 10, main_part_min = 2;
  if (facts.growth == nullptr || !facts.growth->is_steady) return Leak::none;
  const Growth& growth = *facts.growth;
  const FailureFacts& figures = facts.figures;
  CauseFacts of_request = facts;
  of_request.growth = nullptr;
  const Cause immediate = cause_of(of_request);
  const std::uint64_t free = clamped_sum(figures.free_bytes.value_or(0), growth.kept_bytes);
  if (immediate == Cause::compile_time) return Leak::none;
  if (growth.kept_bytes + growth.current_bytes > facts.held_bytes / main_part_min &&
      figures.needed_bytes <= clamped_sum(free, figures.driver_bytes.value_or(0)))
    return Leak::certain;
  const bool is_full = immediate == Cause::too_big || immediate == Cause::pool_limit;
  return is_full && !growth.survivors.empty() && figures.needed_bytes <= free &&
                 growth.kept_bytes >= facts.held_bytes / part_min
             ? Leak::probable
             : Leak::none;
}

CauseOfFailure find_cause(const CauseFacts& facts) {
  CauseOfFailure found;
  found.framework = facts.framework;
  found.cause = found.immediate = cause_of(facts);
  const CauseRow& row = row_of(found.cause);
  found.sentence = row.sentence(facts);
  add_figures(facts, found);
  add_contradictions(facts, found);
  // What a text doesn't say matters only where the cause isn't known.
  const bool is_settled = facts.row.line && found.cause != Cause::unknown;
  if (row.rests_on_pool && facts.framework != Framework::tpu && !is_settled) found.unknowns = unknowns_of(facts);
  if (found.cause == Cause::unknown && !facts.figures.is_of_driver) found.how_to_know = how_to_know(facts);
  return found;
}

}  // namespace hbmscope
