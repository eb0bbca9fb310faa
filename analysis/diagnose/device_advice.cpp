#include "analysis/diagnose/device_advice.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "analysis/diagnose/engine_advice.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// A program, and not an array that was put on the device.
bool is_of_program(const AdviceFacts& facts, Advice& advice) {
  return is_of_hbm(facts, advice) &&
         (facts.cause == Cause::compile_time || !facts.failed.detail(failure_detail::stage).empty() ||
          !facts.failed.detail(failure_detail::program).empty());
}

// What is missing on a TPU, or in its compiler's plan: the first thing to know.
std::string missing_on_tpu(const AdviceFacts& facts) {
  if (const std::string_view exceeded = facts.failed.detail(failure_detail::exceeded); !exceeded.empty())
    return fmt::format("{} more must be free. ", exceeded);
  const FailureFacts& figures = facts.failed.figures;
  std::uint64_t missing = missing_bytes(facts);
  if (facts.cause == Cause::compile_time && figures.limit_bytes)
    missing = figures.requested_bytes - std::min(figures.requested_bytes, *figures.limit_bytes);
  return missing == 0 ? std::string() : fmt::format("{} more must be free. ", text_from_bytes(missing));
}

}  // namespace

bool fill_blocks(const AdviceFacts& facts, Advice& advice) {
  const FailureFacts& figures = facts.failed.figures;
  constexpr std::uint64_t far_too_much = 4;  // Fewer stages save a half or two thirds.
  if (figures.limit_bytes && figures.requested_bytes / far_too_much > *figures.limit_bytes) {
    advice.change = "a smaller dimension of the model that the kernel keeps whole (the head's, most often)";
    advice.why = fmt::format("It is {:.1f} times as much as there is; smaller blocks alone don't save so much.",
                             static_cast<double>(figures.requested_bytes) / static_cast<double>(*figures.limit_bytes));
  }
  if (facts.failed.row.reason.find("shared data") == std::string::npos) return true;
  advice.change = "smaller tiles in the kernel, or no build for that architecture";
  advice.why = "ptxas refuses it when the program is built.";
  return true;
}

// What lists the users of a device.
std::string_view lister_of(const AdviceFacts& facts) {
  if (facts.failed.framework == Framework::pytorch_npu) return "npu-smi info";
  if (facts.failed.framework == Framework::pytorch_xpu) return "xpu-smi";
  if (facts.failed.detail(failure_detail::platform) == failure_detail::jetson) return "tegrastats";
  if (facts.failed.row.allocator.find("Metal") != std::string::npos) return "Activity Monitor";
  return facts.failed.row.allocator.find("HIP") != std::string::npos ? "rocm-smi" : "nvidia-smi";
}

// The most that there can be: of the pool, else of the device.
std::optional<std::uint64_t> most_of(const AdviceFacts& facts) {
  return facts.failed.figures.limit_bytes ? facts.failed.figures.limit_bytes : facts.failed.device_bytes;
}

bool is_larger_than_all(const AdviceFacts& facts) {
  const auto most = most_of(facts);
  return facts.cause == Cause::too_big && most && facts.failed.figures.needed_bytes > *most &&
         facts.failed.framework != Framework::tpu;
}

// What is missing although all that is free could be used. 0 if nothing is missing, or it is unknown.
std::uint64_t missing_bytes(const AdviceFacts& facts) {
  const FailureFacts& figures = facts.failed.figures;
  if (is_larger_than_all(facts) || !(figures.free_bytes || figures.is_of_driver)) return 0;
  if (facts.failed.is_all_full()) return figures.needed_bytes - std::min(figures.needed_bytes, *figures.driver_bytes);
  const std::uint64_t there =
      clamped_sum(figures.free_bytes.value_or(0), facts.cause == Cause::too_big ? figures.driver_bytes.value_or(0) : 0);
  return figures.needed_bytes - std::min(figures.needed_bytes, there);
}

// A batch of one, as the text may say, can't be smaller.
std::string_view less_of(const AdviceFacts& facts) {
  const bool is_one = facts.failed.detail("batch_size") == "1" ||
                      facts.failed.detail(failure_detail::shape).starts_with("1,") ||
                      facts.failed.detail(failure_detail::checkpointing) == failure_detail::not_training;
  return is_one ? "smaller or shorter inputs" : "a smaller batch";
}

bool fill_single_buffer(const AdviceFacts& facts, Advice& advice) {
  if (facts.failed.is_of_windows() && facts.failed.detail(failure_detail::part) != part::single) return false;
  if (facts.failed.detail(failure_detail::part) == part::weights)
    advice.change = "fewer layers on the GPU (-ngl), or another backend of llama.cpp";
  return true;
}

bool is_of_four_gib(const AdviceFacts& facts, Advice&) {
  return facts.failed.figures.requested_bytes >= std::uint64_t{4} << 30;
}

bool fill_driver_refused(const AdviceFacts& facts, Advice& advice) {
  const Framework framework = facts.failed.framework;  // Said above.
  if ((framework == Framework::pytorch_xpu && is_of_four_gib(facts, advice)) ||
      (framework == Framework::ggml && !facts.failed.is_of_windows()))
    return false;
  const FailureFacts& figures = facts.failed.figures;
  constexpr std::uint64_t large = std::uint64_t{1} << 30;
  if (!facts.failed.is_of_windows()) {
    if (figures.needed_bytes < large || figures.needed_bytes < figures.driver_bytes.value_or(0) / 2) return true;
    if (fill_engine_room(facts, advice)) return true;
    advice.change = fmt::format("{}, so that single requests are smaller; else {}", less_of(facts), advice.change);
    advice.why =
        "Some drivers don't give nearly all that is free as a single allocation, and others may have held it "
        "meanwhile.";
    return true;
  }
  advice.change = "a larger page file, and in WSL a larger memory= in .wslconfig; less pinned memory";
  advice.why = "On Windows, and in WSL, the driver needs memory of the host for each allocation on the GPU.";
  return true;
}

// The limit that the kernel would need, in whole MiB.
bool fill_vmem_limit(const AdviceFacts& facts, Advice& advice) {
  const FailureFacts& figures = facts.failed.figures;
  if (facts.failed.row.memory_space != "vmem" || figures.requested_bytes == 0) return false;
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t wanted = (figures.requested_bytes + mib - 1) / mib;
  advice.change = fmt::format(
      "compiler_params=pltpu.CompilerParams(vmem_limit_bytes={} * 2**20) in pallas_call, or {}={} in LIBTPU_INIT_ARGS",
      wanted, "--xla_tpu_scoped_vmem_limit_kib", wanted * 1024);
  return true;
}

bool fill_shapes(const AdviceFacts& facts, Advice& advice) {
  if (facts.failed.figures.stack == 0) advice.change = "look at the shapes of the operation that failed";
  return true;
}

// What a limit of Apple's driver or of PyTorch leaves unused of the machine isn't known.
bool fill_watermark(const AdviceFacts& facts, Advice& advice) {
  const auto used = facts.failed.row.used_bytes, limit = facts.failed.figures.limit_bytes;
  const std::uint64_t others = facts.failed.elsewhere ? facts.failed.elsewhere->bytes : 0;
  if (!used || !limit || clamped_sum(*used, others) <= *limit) return true;
  advice.change = "a smaller model, batch or input, and fewer other programs";
  advice.price.clear();
  advice.why = fmt::format("{} is in use already, {} more than the limit.", text_from_bytes(clamped_sum(*used, others)),
                           text_from_bytes(clamped_sum(*used, others) - *limit));
  return true;
}

bool fill_padding(const AdviceFacts& facts, Advice& advice) {
  const auto& details = facts.failed.row.details;
  const auto found =
      std::find_if(details.begin(), details.end(), [](const auto& one) { return one.first.starts_with("padding"); });
  if (found == details.end()) return false;
  advice.why = fmt::format("{} of the program is padding to tiles.", found->second);
  return true;
}

bool fill_pool_size(const AdviceFacts& facts, Advice& advice) {
  if (facts.failed.row.reason.find("Exceeded memory limit") == std::string::npos) return true;
  advice.change = "a larger allocation_limit of the LimitingResourceAdaptor, or none";
  advice.why = "That limit refused the request.";
  return true;
}

bool is_of_vmem(const AdviceFacts& facts, Advice&) {
  return facts.failed.row.memory_space == "vmem";
}
bool is_of_smem(const AdviceFacts& facts, Advice&) {
  return facts.failed.row.memory_space == "smem";
}
bool is_of_hbm(const AdviceFacts& facts, Advice&) {
  return facts.failed.row.memory_space.empty() || facts.failed.row.memory_space == "hbm";
}

namespace {

// One array of the program is more than all of the memory.
bool is_one_array(const AdviceFacts& facts) {
  const std::string needed = text_from_bytes(facts.failed.figures.needed_bytes);
  return facts.failed.figures.needed_bytes > 0 &&
         facts.failed.detail(failure_detail::largest_buffer).starts_with(needed + ", ");
}

// "f32[8,32,8192,8192]": each position of a sequence with each other one.
bool is_of_attention(std::string_view shape) {
  const std::size_t last = shape.rfind(','), close = shape.find(']');
  if (last == std::string_view::npos || close == std::string_view::npos || last == 0 || close < last) return false;
  const std::size_t before = shape.rfind(',', last - 1);
  if (before == std::string_view::npos) return false;
  const std::string_view side = shape.substr(last + 1, close - last - 1);
  constexpr std::size_t digits_of_a_thousand = 4;
  return side == shape.substr(before + 1, last - before - 1) && side.size() >= digits_of_a_thousand;
}

}  // namespace

bool fill_one_array(const AdviceFacts& facts, Advice& advice) {
  if (!is_of_hbm(facts, advice) || !is_one_array(facts)) return false;
  std::string_view array = facts.failed.detail(failure_detail::largest_buffer);
  array.remove_prefix(std::min(array.size(), array.find(", ") + 2));
  const std::string_view shape = array.substr(0, array.find(']') + 1);
  advice.change = fmt::format("never have all of {} at once: {}a smaller batch or length, or sharding one of its axes",
                              shape, is_of_attention(shape) ? "flash attention, which computes scores in parts, " : "");
  advice.why =
      fmt::format("This one array ({}) is more than the device has; nothing else in the program decides.", array);
  return true;
}

bool fill_donation(const AdviceFacts& facts, Advice& advice) {
  if (is_one_array(facts)) return false;
  const std::string_view arguments = facts.failed.detail(failure_detail::arguments);
  if (!is_of_program(facts, advice) || arguments.starts_with("0 ")) return false;
  if (!facts.failed.detail(failure_detail::donated).empty()) return false;
  if (facts.failed.program == Framework::pytorch || facts.failed.program == Framework::tensorflow) return false;
  if (!arguments.empty()) advice.why = fmt::format("The arguments are {}. {}", arguments, advice.why);
  return true;
}

bool fill_arrays(const AdviceFacts& facts, Advice& advice) {
  Advice none;
  if (!is_of_hbm(facts, advice) || is_of_program(facts, none)) return false;
  advice.why = missing_on_tpu(facts) + advice.why;
  return true;
}

bool fill_temporaries(const AdviceFacts& facts, Advice& advice) {
  Advice padding;
  if (!is_of_program(facts, advice) || fill_padding(facts, padding)) return false;  // Padding alone is the reason.
  if (is_one_array(facts)) return false;
  if (const std::string_view own = facts.failed.detail(failure_detail::own_part); !own.empty())
    advice.why = fmt::format("Temporaries of the program are {} of what it needs. {}", own, advice.why);
  if (facts.failed.program == Framework::pytorch)
    advice.change = "a smaller batch, or checkpointing the layers (torch_xla.utils.checkpoint)";
  if (facts.failed.program == Framework::jax_gpu)
    advice.change = "a smaller batch, or checkpointing the layers (jax.checkpoint)";
  if (facts.failed.program == Framework::tensorflow)
    advice.change = "a smaller batch, or checkpointing the layers (tf.recompute_grad)";
  if (facts.failed.detail(failure_detail::checkpointing) == failure_detail::not_training) {
    advice.change = "a smaller batch or shorter inputs";
    advice.why = "The temporaries grow with both.";
    advice.price.clear();
  }
  advice.why = missing_on_tpu(facts) + advice.why;
  return true;
}

bool fill_paddle(const AdviceFacts& facts, Advice& advice) {
  advice.change = fmt::format("{}, {}", less_of(facts), advice.change);
  if (const std::uint64_t missing = missing_bytes(facts); missing > 0)
    advice.why = fmt::format("{} more must be free. {}", text_from_bytes(missing), advice.why);
  return true;
}

bool is_of_told_growth(const AdviceFacts& facts, Advice&) {
  return facts.failed.figures.requested_bytes == 0 && !facts.failed.detail(failure_detail::grows).empty();
}

bool is_of_later_step(const AdviceFacts& facts, Advice&) {
  return !facts.failed.detail(failure_detail::steps_before).empty();
}

bool is_of_saving(const AdviceFacts& facts, Advice&) {
  return facts.failed.detail(failure_detail::part) == part::saving;
}

bool has_unified_memory(const AdviceFacts& facts, Advice&) {
  return facts.failed.detail(failure_detail::platform) == failure_detail::unified;
}

bool is_of_region(const AdviceFacts& facts, Advice&) {
  return facts.failed.row.allocator == "GPU driver" &&
         facts.failed.row.reason.find("from device:") != std::string::npos;
}

bool fill_visible_memory(const AdviceFacts& facts, Advice& advice) {
  const std::string_view of_driver = facts.failed.detail(failure_detail::driver_memory);
  std::uint64_t bytes = 0;
  std::from_chars(of_driver.data(), of_driver.data() + of_driver.size(), bytes);
  const auto device = facts.failed.device_bytes;
  if (!device || bytes <= *device + *device / 10) return false;
  advice.why = fmt::format("The driver says that the GPU has {}, and the runtime sees {} (rocminfo shows it).",
                           text_from_bytes(bytes), text_from_bytes(*device));
  return true;
}

bool fill_other_processes(const AdviceFacts& facts, Advice& advice) {
  const FailureFacts& figures = facts.failed.figures;
  if (!figures.driver_bytes || figures.needed_bytes == 0) return false;
  const auto& elsewhere = facts.failed.elsewhere;
  if (!elsewhere || (elsewhere->processes.empty() && facts.cause != Cause::held_elsewhere)) return false;
  if (elsewhere->processes.empty()) {
    advice.change =
        fmt::format("see what else uses the device ({}), and end it, or run on another device", lister_of(facts));
    advice.why =
        fmt::format("About {} is held there; without that, {} would be free.", text_from_bytes(elsewhere->bytes),
                    text_from_bytes(clamped_sum(*figures.driver_bytes, elsewhere->bytes)));
    advice.room_bytes = room_with(facts, elsewhere->bytes);
    return true;
  }
  const std::vector<NamedProcess>& processes = elsewhere->processes;
  std::uint64_t alike = 0, of_alike = 0;
  for (const NamedProcess& one : processes) {
    alike += one.is_alike ? 1 : 0;
    of_alike = clamped_sum(of_alike, one.is_alike ? one.bytes : 0);
  }
  if (alike > 0) {
    advice.change =
        "give each rank a GPU of its own: torch.cuda.set_device(local_rank), or CUDA_VISIBLE_DEVICES for each";
    advice.why = fmt::format(
        "{} on this GPU hold about as much, and one of them is this one; without the others, {} would be free.",
        text_from_count_of(alike + 1, "process", "processes"),
        text_from_bytes(clamped_sum(*figures.driver_bytes, of_alike)));
    advice.room_bytes = room_with(facts, of_alike);
    return true;
  }
  std::string names;
  std::uint64_t held = 0;
  for (const NamedProcess& process : processes) {
    names += (names.empty() ? "" : ", ") + process.name;
    held = clamped_sum(held, process.bytes);
    const std::uint64_t then = clamped_sum(*figures.driver_bytes, held);
    if (figures.needed_bytes > then) continue;
    advice.change = fmt::format("end {}, or run on another GPU", names);
    advice.why =
        fmt::format("{} held there; without that, {} would be free.", text_from_bytes(held), text_from_bytes(then));
    advice.room_bytes = room_with(facts, held);
    return true;
  }
  return false;
}

}  // namespace hbmscope
