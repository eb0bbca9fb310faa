#include "analysis/diagnose/advice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "analysis/diagnose/named_processes.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"
#include "analysis/whatif/own_settings.h"

namespace hbmscope {
namespace {

constexpr double default_fraction = 0.75;  // Of JAX and XLA (xla/pjrt/plugin/xla_gpu/xla_gpu_allocator_config.h).

class Adviser {
 public:
  Adviser(const Trace& trace, std::size_t stream, const CauseOfFailure& cause, const FailureRow& row,
          const FailureFacts& facts, const Holders& holders)
      : stream_(trace.streams[stream]),
        cause_(cause),
        row_(row),
        facts_(facts),
        holders_(holders),
        device_bytes_(find_device_bytes(stream_, facts.heap, facts.event)) {}

  std::vector<Advice> find() {
    switch (cause_.framework) {
      case Framework::jax_gpu:
      case Framework::tensorflow: advise_xla(); break;
      case Framework::pytorch: advise_pytorch(); break;
      case Framework::tpu: advise_tpu(); break;
      case Framework::triton:
        add("smaller block sizes, or a smaller num_stages", "A kernel's shared memory grows with both.",
            "The kernel may become slower.");
        break;
      case Framework::vllm:
        add("--gpu-memory-utilization 0.95, a smaller --max-model-len, or more GPUs (--tensor-parallel-size)",
            "The first leaves more memory for the KV cache, the second needs less of it.",
            "Less memory is left for other processes; or requests must be shorter.");
        break;
      case Framework::sglang:
        add("--mem-fraction-static 0.9, or more GPUs (--tp-size)", "SGLang takes its KV cache from that fraction.",
            "Less memory is left for activations and CUDA graphs.");
        break;
      case Framework::library: advise_outside(); break;
      default: break;
    }
    advise_release();
    advise_other_processes();
    advise_less();
    return std::move(advice_);
  }

 private:
  void add(std::string change, std::string why, std::string price, AdviceProof proof = AdviceProof::rule,
           std::optional<std::uint64_t> room = std::nullopt) {
    advice_.push_back({std::move(change), std::move(why), std::move(price), proof, {}, {}, room, {}});
  }
  // A setting, which a replay can try. At most it makes all use of what is free.
  void add_setting(std::string change, std::string why, std::string price) {
    add_setting(std::move(change), std::move(why), std::move(price), room_with(0));
  }
  void add_setting(std::string change, std::string why, std::string price, std::optional<std::uint64_t> room) {
    add(change, std::move(why), std::move(price), AdviceProof::rule, room);
    advice_.back().words = std::move(change);
  }

  // What is left once the request is served, from all that is free in the pool and on the device and `more`. Where the
  // device does not say what is free, it is what the limit leaves.
  std::optional<std::uint64_t> room_with(std::uint64_t more) const {
    const std::uint64_t used = row_.used_bytes.value_or(0);
    std::optional<std::uint64_t> there;
    if (facts_.free_bytes && facts_.driver_bytes)
      there = clamped_sum(*facts_.free_bytes, *facts_.driver_bytes);
    else if (facts_.limit_bytes && row_.used_bytes)
      there = *facts_.limit_bytes - std::min(*facts_.limit_bytes, used);
    if (!there) return std::nullopt;
    there = clamped_sum(*there, more);
    return *there - std::min(*there, facts_.needed_bytes);
  }

  std::optional<double> fraction() const {
    for (const char* name : {"variable.XLA_PYTHON_CLIENT_MEM_FRACTION", "variable.XLA_CLIENT_MEM_FRACTION"}) {
      const std::string_view text = stream_.definitions().job_fact(name);
      double value = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() && value > 0) return value;
    }
    return std::nullopt;
  }

  bool grows() const {
    const std::string_view preallocate = stream_.definitions().job_fact("variable.XLA_PYTHON_CLIENT_PREALLOCATE");
    const bool is_below_limit = facts_.limit_bytes && row_.pool_bytes && *row_.pool_bytes < *facts_.limit_bytes;
    return is_below_limit || preallocate == "false" || preallocate == "False" || preallocate == "0";
  }

  void advise_xla() {
    const bool is_jax = cause_.framework == Framework::jax_gpu;
    if (is_jax && (cause_.cause == Cause::pool_limit || cause_.cause == Cause::too_big)) advise_larger_fraction();
    if (cause_.cause != Cause::fragmentation && cause_.cause != Cause::cannot_grow) return;
    if (is_jax && grows())
      add_setting("XLA_PYTHON_CLIENT_PREALLOCATE=true",
                  "Free memory of different regions can't be joined; with preallocation there is one region.",
                  "Other processes can't use that memory of the GPU.");
    if (!is_jax)
      return add("TF_GPU_ALLOCATOR=cuda_malloc_async",
                 "The driver's pool can map free memory from anywhere to one range of addresses, so it fragments less.",
                 "", AdviceProof::rule, room_with(0));
    add_setting("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async",
                "The driver's pool can map free memory from anywhere to one range of addresses, so it fragments less.",
                "JAX has no statistics of this allocator's free blocks.");
    add_setting("XLA_PYTHON_CLIENT_ALLOCATOR=platform", "Without a pool, nothing fragments inside of it.",
                "Each array calls the driver, which makes small operations slow.");
  }

  // The fraction of the device at which the pool would have held what was in use and the request. A larger pool may
  // place blocks otherwise and lose more to rounding, so this is no proof.
  void advise_larger_fraction() {
    if (!facts_.limit_bytes || !row_.used_bytes) return;
    const auto limit = static_cast<double>(*facts_.limit_bytes);
    const double used_fraction =
        device_bytes_ ? limit / static_cast<double>(*device_bytes_) : fraction().value_or(default_fraction);
    const double device = limit / used_fraction;
    const double needed = static_cast<double>(clamped_sum(*row_.used_bytes, facts_.needed_bytes));
    const double wanted = std::ceil(needed / device * 100 + 1) / 100;  // One percent for rounding and gaps.
    const bool is_assumed = !device_bytes_ && !fraction();
    const std::string basis = is_assumed ? ", if the job ran with the default of 0.75" : "";
    if (wanted > fraction_max) {
      if (needed > device)
        without_setting_ = fmt::format("No fraction is enough: {} would be needed, and the device has about {}{}.",
                                       text_from_bytes(needed), text_from_bytes(device), basis);
      return;
    }
    if (wanted <= used_fraction) return;
    add_setting(fmt::format("{}={:.2f}", fraction_variable(stream_.definitions()), wanted),
                fmt::format("In use and requested together are {}; the pool could have {}{}.", text_from_bytes(needed),
                            text_from_bytes(wanted * device), basis),
                fmt::format("It leaves {} outside the pool, for cuBLAS, cuDNN, NCCL, CUDA graphs and other processes.",
                            text_from_bytes((1 - wanted) * device)),
                static_cast<std::uint64_t>(std::max(0.0, wanted * device - needed)));
  }

  void advise_outside() {
    const std::string_view why = "Libraries allocate outside of the framework's pool: a smaller pool leaves them more.";
    const std::string_view price = "The pool becomes smaller, so less memory is left for arrays.";
    const std::optional<double> now = fraction();
    const std::string jax = now ? fmt::format("XLA_PYTHON_CLIENT_MEM_FRACTION={:.2f}", std::max(0.1, *now - 0.1))
                                : std::string("a smaller XLA_PYTHON_CLIENT_MEM_FRACTION (0.75 unless it is set)");
    add(jax + " for JAX, torch.cuda.set_per_process_memory_fraction() for PyTorch", std::string(why),
        std::string(price));
  }

  void advise_pytorch() {
    const bool is_fragmented = cause_.cause == Cause::fragmentation || cause_.cause == Cause::cannot_grow;
    const std::string_view expandable = stream_.definitions().job_fact("torch.allocator.expandable_segments");
    if (is_fragmented && expandable != "True" && expandable != "true" && expandable != "1")
      add_setting("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                  "Segments then grow in place, so free memory isn't split among segments.",
                  "Tensors can't be shared with other processes by CUDA IPC in older versions.");
    if (cause_.cause == Cause::pool_limit)
      add("a larger torch.cuda.set_per_process_memory_fraction()", "The process was limited below what the device has.",
          "Less is left for other processes.", AdviceProof::rule, room_with(0));
  }

  void advise_tpu() {
    if (cause_.cause != Cause::compile_time && cause_.cause != Cause::too_big) return;
    for (const auto& [key, value] : row_.details)
      if (key.starts_with("padding"))
        add("arrays whose last two dimensions are multiples of 8 and 128",
            fmt::format("{} of the program is padding to tiles.", value), "");
    if (row_.memory_space == "vmem")
      return add("smaller blocks in the kernel, or --xla_tpu_scoped_vmem_limit_kib in LIBTPU_INIT_ARGS",
                 "The kernel's buffers must fit in VMEM.", "The kernel may become slower.");
    add("jax.jit(..., donate_argnums=...) for arguments that are replaced, such as parameters and optimizer state",
        "Outputs then take the place of donated arguments.", "Donated arrays can't be used afterwards.");
    add("jax.checkpoint", "Activations are computed again in the backward pass instead of being kept.",
        "The backward pass takes longer.");
    add("sharding over more devices", "Each device then holds a part of the arrays.", "It takes more devices.");
  }

  void advise_release() {
    const bool is_fragmented = cause_.cause == Cause::fragmentation || cause_.cause == Cause::cannot_grow;
    if (!facts_.place || facts_.place->blocks.empty() || !is_fragmented) return;
    const CheapestPlace& place = *facts_.place;
    add("release " + text_from_count_of(place.blocks.size(), "blocking allocation"),
        fmt::format("{} in use between {:#x} and {:#x}; without that, the request would have fit.",
                    text_from_bytes(place.in_use_bytes), place.range.begin, place.range.end),
        "", AdviceProof::computed, room_with(place.in_use_bytes));
  }

  // Other processes may hold what is missing: the largest ones, as few as are enough.
  void advise_other_processes() {
    if (cause_.cause != Cause::too_big && cause_.cause != Cause::cannot_grow) return;
    if (!facts_.driver_bytes || facts_.needed_bytes == 0) return;
    std::vector<NamedProcess> processes = find_named_processes(row_);
    std::erase_if(processes,
                  [&](const NamedProcess& one) { return one.is_own || (device_bytes_ && one.bytes > *device_bytes_); });
    std::stable_sort(processes.begin(), processes.end(),
                     [](const NamedProcess& a, const NamedProcess& b) { return a.bytes > b.bytes; });
    std::string names;
    std::uint64_t held = 0;
    for (const NamedProcess& process : processes) {
      names += (names.empty() ? "" : ", ") + process.name;
      held = clamped_sum(held, process.bytes);
      const std::uint64_t then = clamped_sum(*facts_.driver_bytes, held);
      if (facts_.needed_bytes > then) continue;
      return add(
          fmt::format("end {}, or run on another GPU", names),
          fmt::format("{} held there; without that, {} would be free.", text_from_bytes(held), text_from_bytes(then)),
          "", AdviceProof::computed, room_with(held));
    }
  }

  // What must go if no setting helps.
  void advise_less() {
    const auto most = facts_.limit_bytes ? facts_.limit_bytes : device_bytes_;
    if (cause_.cause == Cause::too_big && most && facts_.needed_bytes > *most && cause_.framework != Framework::tpu)
      return add("request less at once",
                 fmt::format("{}The request alone is {} more than {}; releasing other memory doesn't help.",
                             without_setting_.empty() ? "" : without_setting_ + " ",
                             text_from_bytes(facts_.needed_bytes - *most),
                             facts_.limit_bytes ? "the limit" : "the whole device has"),
                 "", AdviceProof::computed);
    const bool is_full = cause_.cause == Cause::too_big || cause_.cause == Cause::pool_limit;
    if (!is_full || facts_.needed_bytes == 0 || !(facts_.free_bytes || facts_.is_of_driver)) return;
    const std::uint64_t there = clamped_sum(facts_.free_bytes.value_or(0),
                                            cause_.cause == Cause::too_big ? facts_.driver_bytes.value_or(0) : 0);
    if (facts_.needed_bytes <= there) return;
    if (const std::uint64_t all = clamped_sum(there, row_.used_bytes.value_or(0));
        facts_.is_of_driver && row_.used_bytes && facts_.needed_bytes > all)
      return add("request less at once",
                 *row_.used_bytes == 0
                     ? fmt::format("This process holds nothing that it could release; {} more must be free.",
                                   text_from_bytes(facts_.needed_bytes - all))
                     : fmt::format("Even after releasing everything that this process holds ({}), {} would be missing.",
                                   text_from_bytes(*row_.used_bytes), text_from_bytes(facts_.needed_bytes - all)),
                 "", AdviceProof::computed);
    std::string why = fmt::format("{} more must be free.", text_from_bytes(facts_.needed_bytes - there));
    if (!holders_.rows.empty() && holders_.by == Holders::By::code)
      why += fmt::format(" The most is held by {}: {}.", text_from_holder(holders_.rows.front()),
                         text_from_bytes(holders_.rows.front().bytes));
    if (!without_setting_.empty()) why = without_setting_ + " " + why;
    add("hold or request less: a smaller batch, checkpointing, donation, a lower precision", std::move(why), "",
        AdviceProof::computed);
  }

  const Stream& stream_;
  const CauseOfFailure& cause_;
  const FailureRow& row_;
  const FailureFacts& facts_;
  const Holders& holders_;
  const std::optional<std::uint64_t> device_bytes_;  // The whole memory of the device; absent: unknown.
  std::string without_setting_;
  std::vector<Advice> advice_;
};

}  // namespace

std::string_view text_from_proof(AdviceProof proof) {
  switch (proof) {
    case AdviceProof::replayed: return "replayed";
    case AdviceProof::computed: return "computed";
    case AdviceProof::rule: return "rule";
  }
  return "rule";
}

std::string_view mark_of(const Advice& advice) {
  if (advice.steps_at_most && *advice.steps_at_most <= 1) return "one more step at most";
  return advice.proof == AdviceProof::rule ? "may not be enough" : "";
}

std::vector<Advice> find_advice(const Trace& trace, std::size_t stream, const CauseOfFailure& cause,
                                const FailureRow& row, const FailureFacts& facts, const Holders& holders) {
  return Adviser(trace, stream, cause, row, facts, holders).find();
}

}  // namespace hbmscope
