// The table of advice on a request that failed. Sources of the rules: jaxlib's xla_client.py (variables of JAX on
// GPUs), xla/tsl/framework/bfc_allocator.cc, PyTorch's CUDA memory notes and c10/cuda/CUDAAllocatorConfig.h.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "analysis/diagnose/advice.h"
#include "analysis/diagnose/device_advice.h"
#include "analysis/diagnose/device_budget.h"
#include "analysis/diagnose/engine_advice.h"
#include "analysis/diagnose/growth.h"
#include "analysis/diagnose/host_memory.h"
#include "analysis/diagnose/program_advice.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"
#include "analysis/whatif/own_settings.h"

namespace hbmscope {
namespace {

constexpr double default_fraction = 0.75;  // In JAX and XLA (xla/pjrt/plugin/xla_gpu/xla_gpu_allocator_config.h).

template <class... T>
constexpr std::uint32_t set_of(T... members) {
  return ((std::uint32_t{1} << static_cast<unsigned>(members)) | ...);
}
template <class T>
constexpr bool is_in(std::uint32_t set, T member) {
  return (set & set_of(member)) != 0;
}
constexpr std::uint32_t any_framework = ~std::uint32_t{0};
constexpr std::uint32_t any_cause =
    ~set_of(Cause::leak, Cause::impossible_size, Cause::host_memory, Cause::driver_refused);
constexpr std::uint32_t fragmented_memory = set_of(Cause::fragmentation, Cause::cannot_grow);
constexpr std::uint32_t full_memory = set_of(Cause::too_big, Cause::pool_limit);

std::string_view job_fact(const AdviceFacts& facts, const char* name) {
  return facts.stream.definitions().job_fact(name);
}

std::optional<double> fraction_of(const AdviceFacts& facts) {
  for (const char* name : {"variable.XLA_PYTHON_CLIENT_MEM_FRACTION", "variable.XLA_CLIENT_MEM_FRACTION"}) {
    const std::string_view text = job_fact(facts, name);
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() && value > 0) return value;
  }
  return std::nullopt;
}

// The fraction of the device at which the pool would have held what was in use and the request. A larger pool may
// place blocks otherwise and lose more to rounding, so this is no proof.
struct Fraction {
  double used, needed_bytes, device_bytes, wanted;
  std::string basis;  // What is assumed: ", if the job ran with the default of 0.75".
};
std::optional<Fraction> find_fraction(const AdviceFacts& facts) {
  const FailureFacts& figures = facts.failed.figures;
  const auto used = facts.failed.row.used_bytes, device = facts.failed.device_bytes;
  if (!figures.limit_bytes || !used) return std::nullopt;
  const auto limit = static_cast<double>(*figures.limit_bytes);
  Fraction found;
  found.used = device ? limit / static_cast<double>(*device) : fraction_of(facts).value_or(default_fraction);
  found.device_bytes = limit / found.used;
  found.needed_bytes = static_cast<double>(clamped_sum(*used, figures.needed_bytes));
  found.wanted = std::ceil(found.needed_bytes / found.device_bytes * 100 + 1) / 100;  // One percent for rounding, gaps.
  if (!device && !fraction_of(facts)) found.basis = ", if the job ran with the default of 0.75";
  return found;
}

bool fill_fraction(const AdviceFacts& facts, Advice& advice) {
  const auto found = find_fraction(facts);
  if (!found || found->wanted > fraction_max || found->wanted <= found->used) return false;
  const double pool = found->wanted * found->device_bytes;
  advice.change = fmt::format("{}={:.2f}", fraction_variable(facts.stream.definitions()), found->wanted);
  advice.why = fmt::format("In use and requested together are {}; the pool could have {}{}.",
                           text_from_bytes(found->needed_bytes), text_from_bytes(pool), found->basis);
  advice.price = text_from_left_outside((1 - found->wanted) * found->device_bytes);
  advice.room_bytes = static_cast<std::uint64_t>(std::max(0.0, pool - found->needed_bytes));
  return true;
}

// "No fraction is enough: ... "; empty if one is, or none could be.
std::string no_fraction_text(const AdviceFacts& facts) {
  if (facts.failed.framework != Framework::jax_gpu || !is_in(full_memory, facts.cause)) return {};
  const auto found = find_fraction(facts);
  if (!found || found->wanted <= fraction_max || found->needed_bytes <= found->device_bytes) return {};
  return fmt::format("No fraction is enough: {} would be needed, and the device has about {}{}. ",
                     text_from_bytes(found->needed_bytes), text_from_bytes(found->device_bytes), found->basis);
}

bool fill_preallocate(const AdviceFacts& facts, Advice&) {
  const std::string_view preallocate = job_fact(facts, "variable.XLA_PYTHON_CLIENT_PREALLOCATE");
  const auto limit = facts.failed.figures.limit_bytes, pool = facts.failed.row.pool_bytes;
  return (limit && pool && *pool < *limit) || preallocate == "false" || preallocate == "False" || preallocate == "0";
}

bool fill_all_free(const AdviceFacts& facts, Advice& advice) {
  advice.room_bytes = room_with(facts, 0);
  return true;
}

// "2.9.1+cu128" is {2, 9}; {0, 0} if it is unknown.
std::pair<int, int> torch_version(const AdviceFacts& facts) {
  const std::string_view text = job_fact(facts, "version.torch");
  const std::size_t dot = text.find('.');
  std::pair<int, int> version{0, 0};
  if (dot == std::string_view::npos) return version;
  std::from_chars(text.data(), text.data() + dot, version.first);
  std::from_chars(text.data() + dot + 1, text.data() + text.size(), version.second);
  return version;
}

// PyTorch 2.9 warns that the old name is deprecated, and ignores expandable_segments in the new one; 2.11 knows it
// (https://github.com/pytorch/pytorch/issues/183387).
constexpr std::pair first_with_new_name{2, 9}, first_that_heeds_it{2, 11};

// The variable that the text names: PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF, PYTORCH_NPU_ALLOC_CONF or
// PYTORCH_ALLOC_CONF.
std::string allocator_variable(const AdviceFacts& facts) {
  if (facts.failed.framework == Framework::pytorch_npu) return "PYTORCH_NPU_ALLOC_CONF";
  const std::string_view text = facts.failed.row.reason;
  for (const std::string_view name : {"PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
    if (text.find(name) != std::string_view::npos) return std::string(name);
  return torch_version(facts) < first_that_heeds_it ? "PYTORCH_CUDA_ALLOC_CONF" : "PYTORCH_ALLOC_CONF";
}

bool fill_expandable(const AdviceFacts& facts, Advice& advice) {
  // Where others hold the device, the pool's own free memory must be enough, and the pool be no small part.
  const FailureFacts& figures = facts.failed.figures;
  constexpr std::uint64_t part = 4;
  const bool is_large = figures.pool_bytes.value_or(0) >= facts.failed.device_bytes.value_or(0) / part;
  if (facts.cause == Cause::held_elsewhere && (!is_large || figures.free_bytes.value_or(0) < figures.needed_bytes))
    return false;
  const std::string_view expandable = job_fact(facts, "torch.allocator.expandable_segments");
  if (expandable == "True" || expandable == "true" || expandable == "1") return false;
  // The words of PyTorch 2.0 and earlier, which have no expandable segments.
  if (facts.failed.row.reason.find("total capacity; ") != std::string::npos) {
    // 1.10 is the first that has it.
    if (const std::string_view version = facts.failed.detail(failure_detail::torch_version);
        version.starts_with("0.") || (version.starts_with("1.") && version.size() == 3)) {
      advice.change = "the largest input first, inputs of one size, or a newer PyTorch";
      advice.why =
          "What the pool keeps of smaller inputs can't be joined. PyTorch 1.10 and later have max_split_size_mb, 2.1 "
          "and later expandable_segments.";
      advice.price.clear();
      return true;
    }
    const bool is_named = facts.failed.row.reason.find("max_split_size_mb") != std::string::npos;
    advice.change = allocator_variable(facts) + "=max_split_size_mb:128";
    if (!is_named) advice.change = "a smaller batch or input; and if PyTorch is 1.10 or later, " + advice.change;
    advice.why =
        "Blocks above that size aren't split then, so fewer free blocks are too small. PyTorch 2.1 and later have "
        "expandable_segments:True, which helps more.";
    advice.price = "Requests may find no block that fits, and ask the driver more often.";
  } else {
    advice.change = allocator_variable(facts) + "=expandable_segments:True";
    if (torch_version(facts) == first_with_new_name)
      advice.why += " PyTorch 2.9 calls that name deprecated, but ignores this setting in PYTORCH_ALLOC_CONF.";
  }
  return true;
}

// Whose pool leaves a library too little.
bool is_of_tensorflow(const AdviceFacts& facts, Advice&) {
  // Growing on demand gives TensorFlow's own pool nothing that it hasn't.
  const bool is_own_pool =
      facts.failed.framework == Framework::tensorflow && facts.failed.row.allocator != "GPU driver";
  return facts.failed.program == Framework::tensorflow && !is_own_pool;
}
bool is_of_pytorch(const AdviceFacts& facts, Advice&) {
  return facts.failed.program == Framework::pytorch;
}
bool is_of_unknown(const AdviceFacts& facts, Advice&) {
  return facts.failed.program == Framework::unknown;
}

bool fill_smaller_pool(const AdviceFacts& facts, Advice& advice) {
  if (facts.failed.program != Framework::jax_gpu) return false;
  if (const auto now = fraction_of(facts))
    advice.change = fmt::format("XLA_PYTHON_CLIENT_MEM_FRACTION={:.2f}", std::max(0.1, *now - 0.1));
  return true;
}

bool fill_release(const AdviceFacts& facts, Advice& advice) {
  const auto& place = facts.failed.figures.place;
  if (!place || place->blocks.empty()) return false;
  advice.change = "release " + text_from_count_of(place->blocks.size(), "blocking allocation");
  advice.why = fmt::format("{} in use between {:#x} and {:#x}; without that, the request would have fit.",
                           text_from_bytes(place->in_use_bytes), place->range.begin, place->range.end);
  advice.room_bytes = room_with(facts, place->in_use_bytes);
  return true;
}

bool fill_larger_than_all(const AdviceFacts& facts, Advice& advice) {
  if (!is_larger_than_all(facts)) return false;
  const FailureFacts& figures = facts.failed.figures;
  if (facts.failed.row.line) advice.change = "a smaller request: a smaller batch, or shorter or smaller inputs";
  if (facts.failed.detail(failure_detail::engine) == engine::vllm)
    advice.change =
        "a smaller request: smaller images (--mm-processor-kwargs), a smaller --max-num-batched-tokens or "
        "--max-model-len";
  constexpr std::uint64_t far_too_much = 4;
  if (figures.needed_bytes / far_too_much > *most_of(facts))
    advice.change = fmt::format(
        "look at the shapes: it is {} times as much as there can be (a vmap, a broadcast, a batch that is larger than "
        "meant)",
        text_from_count(figures.needed_bytes / *most_of(facts)));
  advice.why = fmt::format("{}The request alone is {} more than {}; releasing other memory doesn't help.",
                           no_fraction_text(facts), text_from_bytes(figures.needed_bytes - *most_of(facts)),
                           figures.limit_bytes ? "the limit" : "the whole device has");
  return true;
}

bool is_more_than_held(const AdviceFacts& facts) {
  const auto used = facts.failed.row.used_bytes;
  return facts.failed.figures.is_of_driver && used && missing_bytes(facts) > *used;
}

bool fill_more_than_held(const AdviceFacts& facts, Advice& advice) {
  if (!is_more_than_held(facts)) return false;
  const std::uint64_t used = *facts.failed.row.used_bytes, missing = missing_bytes(facts) - used;
  advice.why = used == 0
                   ? fmt::format("This process holds nothing that it could release; {} more must be free.",
                                 text_from_bytes(missing))
                   : fmt::format("Even after releasing everything that this process holds ({}), {} would be missing.",
                                 text_from_bytes(used), text_from_bytes(missing));
  return true;
}

bool names_no_process(const AdviceFacts& facts) {
  const auto& details = facts.failed.row.details;
  return std::none_of(details.begin(), details.end(), [](const auto& each) {
    return each.first == "this process" || each.first.starts_with("process ");
  });
}

bool fill_hold_less(const AdviceFacts& facts, Advice& advice) {
  const Framework framework = facts.failed.framework;
  if (missing_bytes(facts) == 0 || is_more_than_held(facts) || has_engine_room(facts)) return false;
  if (framework == Framework::tpu && facts.failed.row.line) return false;  // Said above.
  const bool is_jax = facts.failed.has_xla_pool() || framework == Framework::tpu,
             can_train = is_jax || framework == Framework::pytorch || framework == Framework::pytorch_npu ||
                         framework == Framework::pytorch_xpu || framework == Framework::pytorch_mps;
  advice.change = fmt::format(
      "use less memory: {}{}{} or lower precision", less_of(facts),
      can_train && facts.failed.detail(failure_detail::checkpointing).empty() ? ", activation checkpointing" : "",
      is_jax ? ", buffer donation" : "");
  advice.why = fmt::format("{}{} more must be free.", no_fraction_text(facts), text_from_bytes(missing_bytes(facts)));
  // A context takes less.
  constexpr std::uint64_t much = std::uint64_t{700} << 20;
  if (const auto outside = facts.failed.outside_of_pool(); outside && *outside >= much && names_no_process(facts))
    advice.why += fmt::format(" If other processes hold part of the {} outside of the pool, ending them may do ({}).",
                              text_from_bytes(*outside), lister_of(facts));
  const Holders& holders = facts.holders;
  if (!holders.rows.empty() && holders.by == Holders::By::code)
    advice.why += fmt::format(" The most is held by {}: {}.", text_from_holder(holders.rows.front()),
                              text_from_bytes(holders.rows.front().bytes));
  return true;
}

bool fill_leak(const AdviceFacts& facts, Advice& advice) {
  const Growth& growth = *facts.failed.growth;
  if (!growth.survivors.empty()) advice.change += " of " + text_from_holder(growth.survivors.front());
  advice.change += growth.held_by.empty() ? " from earlier steps" : " in " + growth.held_by;
  if (growth.is_held_by_graph)
    advice.why =
        "A graph keeps what the backward passes of its operations need, here of all these steps. Keep the value "
        "without it, by .detach() or .item().";
  advice.why = fmt::format("That is {} so far, and {} more with each {}. {}", text_from_bytes(growth.kept_bytes),
                           text_from_bytes(growth.bytes_per_step), growth.each, advice.why);
  if (leak_of(facts.failed) == Leak::certain) advice.proof = AdviceProof::computed;
  return true;
}

using enum AdviceProof;

constexpr std::uint32_t in_engine =
    set_of(Framework::pytorch, Framework::pytorch_async, Framework::pytorch_npu, Framework::pytorch_xpu,
           Framework::vllm, Framework::tgi, Framework::library, Framework::unknown);
constexpr std::uint32_t jax = set_of(Framework::jax_gpu), pytorch = set_of(Framework::pytorch),
                        tpu = set_of(Framework::tpu), on_tpu = set_of(Cause::compile_time, Cause::too_big);

// key, frameworks, causes, change, why, price, proof, is_setting, fill
constexpr AdviceRow advice_rows[] = {
    {"leak", any_framework, set_of(Cause::leak), "stop keeping the arrays",
     "Typical reasons are a list that outputs or losses are appended to (keep numbers: .item(), float()), a cache "
     "without a limit, or a variable that still refers to the last graph.",
     "", rule, false, fill_leak},
    {"told_growth", any_framework, set_of(Cause::unknown),
     "what keeps memory from one step or request to the next: a newer version of the program, or unloading and "
     "restarting it from time to time",
     "With each there was less left, so a smaller setting only delays it.", "", rule, false, is_of_told_growth},
    {"fraction", jax, full_memory, "", "", "", rule, true, fill_fraction},
    {"unified", jax, any_cause, "a larger XLA_PYTHON_CLIENT_MEM_FRACTION (4.0, for example)",
     "With unified memory the pool may be larger than the device, and uses memory of the host.",
     "What lies on the host is slower.", rule, false, has_unified_memory},
    {"preallocate", jax, fragmented_memory, "XLA_PYTHON_CLIENT_PREALLOCATE=true",
     "Free memory of different regions can't be joined; with preallocation there is one region.",
     "Other processes can't use that memory of the GPU.", rule, true, fill_preallocate},
    {"malloc_async", set_of(Framework::tensorflow), fragmented_memory, "TF_GPU_ALLOCATOR=cuda_malloc_async",
     "The driver's pool can map free memory from anywhere to one range of addresses, so it fragments less.", "", rule,
     false, fill_all_free},
    {"cuda_async", jax, fragmented_memory, "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async",
     "The driver's pool can map free memory from anywhere to one range of addresses, so it fragments less.",
     "JAX has no statistics of this allocator's free blocks.", rule, true, nullptr},
    {"platform", jax, fragmented_memory, "XLA_PYTHON_CLIENT_ALLOCATOR=platform",
     "Without a pool, nothing fragments inside of it.",
     "Each array calls the driver, which makes small operations slow.", rule, true, nullptr},
    {"utilization", set_of(Framework::vllm), any_cause, "", "", "", computed, false, fill_engine_fraction},
    {"length", set_of(Framework::vllm), any_cause, "", "", "Requests must be shorter.", computed, false,
     fill_engine_length},
    {"other_users", any_framework, set_of(Cause::held_elsewhere), "", "", "", computed, false, fill_other_processes},
    {"engine_room", in_engine, any_cause & ~set_of(Cause::held_elsewhere), "", "", "", rule, false, fill_engine_room},
    {"expandable", set_of(Framework::pytorch, Framework::pytorch_npu),
     fragmented_memory | set_of(Cause::held_elsewhere), "",
     "Segments then grow in place, so free memory isn't split among segments.",
     "Tensors can't be shared with other processes by CUDA IPC in older versions.", rule, true, fill_expandable},
    {"watermark", set_of(Framework::pytorch_mps), any_cause,
     "a smaller model, batch or input, and torch.mps.empty_cache() where arrays were freed; only then "
     "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0",
     "PyTorch stops at a limit of its own, 1.7 times what Apple recommends unless it is set.",
     "Without a limit the whole system may run out of memory.", rule, false, fill_watermark},
    {"saving", pytorch, any_cause,
     "save in shards, or gather the state in memory of the host "
     "(FSDP: FullStateDictConfig(offload_to_cpu=True, rank0_only=True))",
     "It ran out while it saved the model, which needs a copy of it.", "", rule, false, is_of_saving},
    {"driver_start", set_of(Framework::driver_start), any_cause,
     "look at what limits the process on the host (ulimit -v, the container's memory), whether another process fills "
     "the "
     "device (nvidia-smi), and at the driver's log (dmesg); a reset or a reboot may help",
     "The program has requested nothing yet, so a smaller batch changes nothing.", "", rule, false, nullptr},
    {"largest_allocation", set_of(Framework::pytorch_xpu), any_cause | set_of(Cause::driver_refused),
     "tensors below 4 GiB, or UR_L0_USE_RELAXED_ALLOCATION_LIMITS=1",
     "The driver of some of Intel's GPUs refuses a single allocation of 4 GiB or more, whatever is free.", "", rule,
     false, is_of_four_gib},
    {"single_buffer", set_of(Framework::ggml), set_of(Cause::driver_refused),
     "a smaller batch (-ub) or context (-c), flash attention (-fa), or another backend of llama.cpp",
     "Some drivers refuse a single buffer of more than a few GiB, whatever is free; these make it smaller.", "", rule,
     false, fill_single_buffer},
    {"driver_limits", any_framework, set_of(Cause::driver_refused),
     "look at the driver's log (dmesg) and at limits of the process (control group, locked memory, address space, "
     "IOMMU); on Windows a larger page file",
     "Settings of the allocator don't help: the driver refuses a request that the device could serve.", "", rule, false,
     fill_driver_refused},
    {"shapes", any_framework, set_of(Cause::impossible_size), "look at the shapes at the line that the traceback names",
     "No setting of memory helps.", "", computed, false, fill_shapes},
    {"host", any_framework, set_of(Cause::host_memory),
     "more memory for the process, or less in it: smaller caches, memory-mapped files",
     "Nothing about the memory of a device changes that.", "", rule, false, fill_host_memory},
    {"process_fraction", pytorch, set_of(Cause::pool_limit),
     "a larger torch.cuda.set_per_process_memory_fraction(), or none",
     "The process was limited below what the device has.", "Less is left for other processes.", rule, false,
     fill_all_free},
    {"padding", tpu, on_tpu,
     "arrays whose last two dimensions are multiples of 8 and 128 (hbmscope tpu layout shows which shapes need less)",
     "", "", rule, false, fill_padding},
    {"vmem_limit", tpu, on_tpu, "", "The compiler then allows the kernel that much of VMEM.",
     "Less of VMEM is left for what the compiler keeps there.", rule, false, fill_vmem_limit},
    {"vmem", tpu, on_tpu, "smaller blocks in the kernel", "The kernel's buffers must fit in VMEM.",
     "The kernel may become slower.", rule, false, is_of_vmem},
    {"smem", tpu, on_tpu,
     "a smaller table for the kernel: fewer or shorter requests at once (in vLLM --max-num-seqs, --max-model-len)",
     "Scalar memory holds what kernels fetch in advance, such as tables of pages.", "", rule, false, is_of_smem},
    {"arrays", tpu, on_tpu, "free the arrays that earlier work left on the device (del, or a new process)",
     "An array stays there as long as a variable refers to it.", "", rule, false, fill_arrays},
    {"one_array", tpu, on_tpu, "", "", "", computed, false, fill_one_array},
    {"temporaries", tpu, on_tpu,
     "a smaller batch, or checkpointing the layers (jax.checkpoint, torch_xla.utils.checkpoint)",
     "Checkpointed activations are computed again in the backward pass instead of being kept.",
     "The backward pass takes longer.", rule, false, fill_temporaries},
    {"donation", tpu, on_tpu, "donate the arguments that the outputs replace (jax.jit(..., donate_argnums=...))",
     "Outputs then take the place of donated arguments.", "Donated arrays can't be used afterwards.", rule, false,
     fill_donation},
    {"devices", tpu, on_tpu, "sharding over more devices", "Each device then holds a part of the arrays.",
     "It takes more devices.", rule, false, is_of_hbm},
    {"blocks", set_of(Framework::kernel), any_cause,
     "smaller block sizes, or a smaller num_stages, in the kernel's configuration; a newer version of the program may "
     "have one for this GPU",
     "A kernel's shared memory grows with both.", "The kernel may become slower.", rule, false, fill_blocks},
    {"vllm", set_of(Framework::vllm), any_cause & ~set_of(Cause::held_elsewhere),
     "a smaller --max-model-len, or more GPUs (--tensor-parallel-size)", "Either needs less memory on each GPU.",
     "Requests must be shorter, or it takes more GPUs.", rule, false, fill_vllm},
    {"layers_on_gpu", set_of(Framework::ggml), any_cause, "", "", "The other layers run on the CPU, more slowly.",
     assumed, false, fill_layers_on_gpu},
    {"context", set_of(Framework::ggml), any_cause, "", "", "Requests must be shorter.", assumed, false, fill_context},
    {"ggml", set_of(Framework::ggml), any_cause, "",
     "The model, its KV cache and the buffers to compute with must fit together.",
     "Requests must be shorter, or run more slowly.", rule, false, fill_ggml},
    {"region", set_of(Framework::jax_gpu, Framework::tensorflow, Framework::unknown), any_cause,
     "see what else uses the device (nvidia-smi), and end it; or a smaller pool (XLA_PYTHON_CLIENT_MEM_FRACTION in "
     "JAX, a "
     "memory_limit in TensorFlow)",
     "The pool requested its memory from the driver, and the device did not have it: others most likely hold it.", "",
     rule, false, is_of_region},
    {"maximum_pool_size", set_of(Framework::rmm), set_of(Cause::pool_limit),
     "a larger maximum_pool_size of the PoolMemoryResource, or none", "The pool's own limit refused the request.",
     "Less is left for others on the device.", rule, false, fill_pool_size},
    {"allow_growth", set_of(Framework::library, Framework::tensorflow, Framework::unknown), any_cause,
     "TF_FORCE_GPU_ALLOW_GROWTH=true (tf.config.experimental.set_memory_growth)",
     "TensorFlow claims nearly all of the device when it starts, and leaves libraries and other processes little.",
     "Memory may fragment.", rule, false, is_of_tensorflow},
    {"sglang", set_of(Framework::sglang), any_cause,
     "a larger --mem-fraction-static, fewer requests at once (--max-running-requests), or more GPUs (--tp-size)",
     "SGLang takes its KV cache from that fraction.", "Less memory is left for activations and CUDA graphs.", rule,
     false, fill_sglang},
    {"smaller_pool", set_of(Framework::library), any_cause,
     "a smaller XLA_PYTHON_CLIENT_MEM_FRACTION in JAX (0.75 unless it is set)",
     "Libraries allocate outside of the framework's pool: a smaller pool leaves them more.",
     "The pool becomes smaller, so less memory is left for arrays.", rule, false, fill_smaller_pool},
    {"smaller_torch_pool", set_of(Framework::library), any_cause,
     "a smaller torch.cuda.set_per_process_memory_fraction() in PyTorch, or a smaller batch",
     "Libraries allocate outside of PyTorch's pool: a smaller pool leaves them more.",
     "The pool becomes smaller, so less memory is left for tensors.", rule, false, is_of_pytorch},
    {"leave_more", set_of(Framework::library), any_cause,
     "a smaller pool of the framework: XLA_PYTHON_CLIENT_MEM_FRACTION in JAX, "
     "torch.cuda.set_per_process_memory_fraction() in PyTorch, TF_FORCE_GPU_ALLOW_GROWTH=true in TensorFlow",
     "Libraries allocate outside of the framework's pool: a smaller pool leaves them more.",
     "The pool becomes smaller, so less memory is left for arrays.", rule, false, is_of_unknown},
    {"named", set_of(Framework::named, Framework::rmm), any_cause, "", "", "", rule, false, fill_named},
    {"paddle_fraction", set_of(Framework::paddle), any_cause,
     "fewer processes on the GPU, or another GPU (CUDA_VISIBLE_DEVICES)",
     "Each process has a pool of its own; a smaller FLAGS_fraction_of_gpu_memory_to_use makes it smaller.", "", rule,
     false, fill_paddle},
    {"release", any_framework, fragmented_memory, "", "", "", computed, false, fill_release},
    {"processes", any_framework, set_of(Cause::too_big, Cause::cannot_grow), "", "", "", computed, false,
     fill_other_processes},
    {"visible_memory", pytorch, set_of(Cause::too_big), "a newer driver and ROCm, which see all of the GPU's memory",
     "", "", rule, false, fill_visible_memory},
    {"program_temporaries", jax, full_memory | fragmented_memory,
     "a smaller batch, or checkpointing the layers (jax.checkpoint)", "", "The backward pass takes longer.", rule,
     false, fill_program_temporaries},
    {"program_donation", jax, full_memory | fragmented_memory,
     "donate the arguments that the outputs replace (jax.jit(..., donate_argnums=...))", "",
     "Donated arrays can't be used afterwards.", rule, false, fill_program_donation},
    {"larger_than_all", any_framework, set_of(Cause::too_big), "request less at once", "", "", computed, false,
     fill_larger_than_all},
    {"more_than_held", any_framework, full_memory, "request less at once", "", "", computed, false,
     fill_more_than_held},
    {"hold_less", any_framework, full_memory, "", "", "", computed, false, fill_hold_less},
    {"fitted_before", any_framework, any_cause & ~set_of(Cause::host_memory, Cause::compile_time, Cause::leak),
     "keep less from step to step, if memory grew, or limit what this step has more of, such as its longest input",
     "Steps before it fit. A list that outputs or losses are appended to, or a graph that is kept, grows with each; a "
     "smaller batch only delays that.",
     "", rule, false, is_of_later_step},
};

}  // namespace

std::span<const AdviceRow> all_advice() {
  return advice_rows;
}

Advice general_advice(const AdviceFacts& facts) {
  constexpr std::uint64_t little = std::uint64_t{64} << 20, much = std::uint64_t{16} << 30;
  const std::uint64_t wanted = facts.failed.figures.requested_bytes;
  Advice advice;
  advice.key = "general";
  double tried = 1;
  const std::string_view fraction = facts.failed.detail("XLA_PYTHON_CLIENT_MEM_FRACTION");
  std::from_chars(fraction.data(), fraction.data() + fraction.size(), tried);
  if (facts.failed.framework == Framework::jax_gpu && tried < default_fraction) {
    advice.change = "XLA_PYTHON_CLIENT_MEM_FRACTION=.90";
    advice.why = fmt::format("{} makes JAX's pool smaller than the default of .75 does.", fraction);
  } else if (facts.failed.framework == Framework::tpu) {
    advice.change = "a smaller batch, or fewer arrays that earlier work left on the device";
    advice.why = "An array stays there as long as a variable refers to it.";
  } else if (wanted > 0 && wanted < little && !facts.failed.row.used_bytes) {
    advice.change = fmt::format("free what is on the device (what earlier work left there, other processes), or {}",
                                less_of(facts));
    advice.why =
        fmt::format("The request is small, so the device was full already; {} shows who uses it.", lister_of(facts));
  } else if (const std::string_view all = facts.failed.detail("all of the program"); !all.empty()) {
    advice.change = fmt::format("{}, or a device with more memory", less_of(facts));
    advice.why = fmt::format("The program needs {} in all, with what it returns.", all);
  } else if (wanted > much && !facts.failed.device_bytes) {
    advice.change = fmt::format("smaller inputs (resolution, length){}, or a device with more memory",
                                facts.failed.detail("batch_size") == "1" ? "" : " or a smaller batch");
    advice.why = fmt::format("That one request is for {}.", text_from_bytes(wanted));
  } else {
    const std::string_view less = less_of(facts);
    advice.change = less == "a smaller batch" ? "a smaller batch or input" : less;
    const bool is_alone = !facts.failed.detail(failure_detail::alone).empty();
    if (facts.cause != Cause::pool_limit)
      advice.change += is_alone ? ", or a device with more memory" : ", or a device that nothing else uses";
    advice.why = facts.failed.row.used_bytes
                     ? fmt::format("The pool itself has {} in use.", text_from_bytes(*facts.failed.row.used_bytes))
                     : fmt::format("{} shows who uses the device.", lister_of(facts));
  }
  return advice;
}

}  // namespace hbmscope
