// The table of causes, and the sentence of each.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/diagnose/cause.h"
#include "analysis/diagnose/growth.h"
#include "analysis/diagnose/host_memory.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string requested_text(const CauseFacts& facts) {
  return text_from_request(facts.figures.requested_bytes);
}

TextPair requested_and(const CauseFacts& facts, std::uint64_t bytes) {
  return texts_from_bytes(signed_from(facts.figures.requested_bytes), signed_from(bytes));
}

// "6.00 GiB"; "Nothing" for 0.
std::string amount_text(std::uint64_t bytes) {
  return bytes == 0 ? "Nothing" : text_from_bytes(bytes);
}

// " 6.00 GiB was free on the device, outside the pool."; where that is unknown, that the pool is at its limit, or
// nothing.
std::string device_text(const FailureFacts& facts) {
  if (facts.driver_bytes) return " " + amount_text(*facts.driver_bytes) + " was free on the device, outside the pool.";
  return facts.is_pool_at_limit() ? " The pool is at its limit of " + text_from_bytes(*facts.limit_bytes) + "."
                                  : std::string();
}

// " (8 blocks)"; empty where the source does not report how many.
std::string blocks_text(const FailureFacts& facts) {
  if (*facts.free_bytes == 0 || !facts.free_blocks) return {};
  return *facts.free_blocks == 1 ? " (one block)"
                                 : " (" + text_from_count(signed_from(*facts.free_blocks)) + " blocks)";
}

// "12.0 GiB was free in the pool (8 blocks). 6.00 GiB was free on the device, outside the pool."
std::string free_text(const FailureFacts& facts) {
  return amount_text(*facts.free_bytes) + " was free in the pool" + blocks_text(facts) + "." + device_text(facts);
}

std::string largest_text(const FailureFacts& figures, const TextPair& pair) {
  return figures.largest_free_bytes ? "the largest free block is " + pair.second
                                    : std::string("no free block is large enough");
}

// "Not enough memory on the device: ..." of a request to the driver.
std::string driver_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  if (!figures.driver_bytes)
    return fmt::format("The driver refused {}; how much was free on the device is unknown.", requested_text(facts));
  const TextPair pair = requested_and(facts, *figures.driver_bytes);
  if (!facts.has_device_room())
    return "Not enough memory on the device: requested " + pair.first + ", and " + pair.second + " was free.";
  return fmt::format("The driver refused {}, although {} was free on the device.",
                     figures.requested_bytes == 0 ? requested_text(facts) : pair.first, pair.second);
}

// All that was free in the pool is less than the request.
std::string full_pool_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const std::uint64_t all = clamped_sum(*figures.free_bytes, figures.driver_bytes.value_or(0));
  if (facts.has_device_room())
    return "A limit of the process or the allocator was reached: requested " +
           requested_and(facts, figures.largest_free_bytes.value_or(0)).first + ". " + free_text(figures);
  if (facts.framework == Framework::tpu && figures.needed_bytes > all) {  // Its pool is all of the memory.
    const TextPair pair = requested_and(facts, all);
    return "Not enough memory: requested " + pair.first + ", and " + pair.second + " was free.";
  }
  if (facts.framework == Framework::vllm && facts.row.line) {
    const TextPair pair = requested_and(facts, *figures.free_bytes);
    return fmt::format(
        "Too little is left for the KV cache: one request of the longest length needs {}, and {} is there.", pair.first,
        pair.second);
  }
  if (facts.row.line && !figures.driver_bytes)
    return fmt::format("Requested {}; {}, and how much was free on the device is unknown.", requested_text(facts),
                       *figures.free_bytes == 0 ? "the pool had nothing free"
                                                : text_from_bytes(*figures.free_bytes) + " was free in the pool");
  if (figures.needed_bytes > all) {
    const TextPair pair = requested_and(facts, all);
    return "Not enough memory: requested " + pair.first + ", and even all free memory together (" + pair.second +
           ") is less. " + free_text(figures);
  }
  const TextPair pair = requested_and(facts, figures.largest_free_bytes.value_or(0));
  return "Free memory is split between the pool and the device: requested " + pair.first + ", but " +
         largest_text(figures, pair) + ". " + free_text(figures);
}

// Of an engine that counts in tokens.
std::string tokens_sentence(const CauseFacts& facts) {
  const std::string_view wanted = facts.detail(failure_detail::setting), room = facts.detail(failure_detail::suggested);
  return wanted.empty()
             ? fmt::format("{} has room for {} tokens, and a request may be longer.", facts.row.allocator, room)
             : fmt::format("{} has room for {} tokens, and a request may have {}.", facts.row.allocator, room, wanted);
}

std::string unknown_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const bool is_of_text = facts.row.line && !figures.driver_bytes && !figures.free_bytes;
  if (is_of_text && figures.requested_bytes == 0 && facts.framework == Framework::vllm &&
      !facts.detail(failure_detail::suggested).empty())
    return tokens_sentence(facts);
  if (facts.row.allocator == lm_studio_guardrail)
    return fmt::format(
        "LM Studio expects the model to need {} with these settings, and did not load it. Nothing was "
        "requested from a device.",
        requested_text(facts));
  if (facts.framework == Framework::driver_start)
    return "The driver could not start: it ran out of memory before the program requested any.";
  const std::string_view wanted = facts.detail(failure_detail::setting), room = facts.detail(failure_detail::suggested);
  if (facts.framework == Framework::tgi && !wanted.empty())
    return fmt::format("Next to the weights there is no room for {} tokens at once.", wanted);
  if (facts.detail(failure_detail::part) == part::request_slots)
    return "SGLang had too few free slots for requests. Memory of a device is not short.";
  if (facts.framework == Framework::sglang && !wanted.empty())
    return room.empty()
               ? fmt::format("SGLang's KV cache could not take {} more tokens.", wanted)
               : fmt::format("SGLang's KV cache could not take {} more tokens, of which {} are free.", wanted, room);
  if (facts.row.reason.find("profiled value -") != std::string::npos)
    return "Nothing is left for SGLang's KV cache: the weights need more than its part of the device.";
  if (facts.framework == Framework::sglang && facts.account && facts.account->free_before_bytes &&
      facts.account->free_after_bytes)
    return fmt::format(
        "Too little is left for SGLang's KV cache: of {} that was free, the weights leave {}, and "
        "--mem-fraction-static "
        "keeps a part of that for activations.",
        text_from_bytes(*facts.account->free_before_bytes), text_from_bytes(*facts.account->free_after_bytes));
  if (facts.row.line && figures.requested_bytes == 0 && figures.driver_bytes)
    return fmt::format(
        "{} ran out of memory although {} was free on the device; the text does not say how much was "
        "requested.",
        facts.row.allocator, text_from_bytes(*figures.driver_bytes));
  if (facts.row.line && !figures.free_bytes && figures.largest_free_bytes && figures.requested_bytes > 0)
    return fmt::format("Requested {}, and the largest free block that the text names is {}.", requested_text(facts),
                       text_from_bytes(*figures.largest_free_bytes));
  if (is_of_text && figures.requested_bytes == 0 && facts.row.allocator == unknown_allocator)
    return "Memory ran out; the text says neither how much was requested nor how much was free.";
  const auto table = std::find_if(facts.row.details.begin(), facts.row.details.end(), [](const auto& one) {
    return one.first.ends_with("by the table") && one.second.find(" was in use") != std::string::npos;
  });
  if (is_of_text && figures.requested_bytes == 0 && facts.framework != Framework::library &&
      table != facts.row.details.end())
    return fmt::format("{} ran out of memory. By the table in the text, {}.", facts.row.allocator, table->second);
  const std::string_view owner =
      facts.row.allocator == "GPU driver" ? std::string_view("The device") : std::string_view(facts.row.allocator);
  if (const std::string_view grows = facts.detail(failure_detail::grows);
      is_of_text && figures.requested_bytes == 0 && !grows.empty())
    return fmt::format("{} ran out of memory, and before that it grew: {}", owner, grows);
  if (is_of_text && figures.requested_bytes == 0 && facts.framework != Framework::library)
    return fmt::format("{} ran out of memory; the text says neither how much was requested nor how much was free.",
                       owner);
  if (is_of_text && facts.row.allocator == "GPU driver") return driver_sentence(facts);
  const std::string_view part =
      facts.framework == Framework::ggml ? facts.detail(failure_detail::part) : std::string_view();
  const std::string requested =
      "Requested " + requested_text(facts) + (part.empty() ? std::string() : " for the " + std::string(part));
  if (facts.framework == Framework::library)
    return fmt::format(
        "{} could not be initialized, most often because too little memory is left outside the framework's pool; the "
        "text does not say whether that is the reason.",
        facts.row.allocator);
  if (figures.is_of_driver) return driver_sentence(facts);
  if (!figures.free_bytes && figures.limit_bytes && figures.needed_bytes >= *figures.limit_bytes) {
    const TextPair pair = requested_and(facts, *figures.limit_bytes);
    return "Not enough memory: requested " + pair.first + ", and the limit is " + pair.second + ".";
  }
  if (!figures.is_free_known() && figures.is_inexact)
    return requested +
           "; how much was free is unknown, because events of this heap were lost or contradict each other.";
  // XLA says what its program needs, whoever holds the rest.
  const std::string_view program = facts.detail("all of the program"), outputs = facts.detail("outputs");
  if (!figures.free_bytes && !program.empty())
    return fmt::format("{} for a program that needs {} in all, of it {} for outputs; how much was free is unknown.",
                       requested, program, outputs);
  if (!figures.free_bytes) return requested + "; how much was free is unknown.";
  if (!figures.is_free_known()) return requested + ". " + free_text(figures);
  if (!figures.has_room()) return full_pool_sentence(facts);
  const TextPair pair = requested_and(facts, *figures.largest_free_bytes);
  return "Requested " + pair.first + ", and " + largest_text(figures, pair) + ", but the allocator did not use it. " +
         free_text(figures);
}

// What is free would be enough in total, but a device is never used to the last MiB.
std::string full_device_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  return fmt::format("The device is full: requested {}, and only {}{} is free on it; {} of the pool's {} is unused.",
                     requested_text(facts), text_from_bytes(*figures.driver_bytes),
                     facts.device_bytes ? " of " + text_from_bytes(*facts.device_bytes) : std::string(),
                     text_from_bytes(*figures.free_bytes), text_from_bytes(*figures.pool_bytes));
}

std::string too_big_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  if (facts.device_bytes && figures.needed_bytes > *facts.device_bytes)
    return fmt::format("Requested {}, more than the whole device has ({}).", requested_text(facts),
                       text_from_bytes(*facts.device_bytes));
  if (figures.limit_bytes && figures.needed_bytes > *figures.limit_bytes) {
    const bool is_of_metal = facts.row.allocator.find("Metal") != std::string::npos;
    const std::string_view limited = facts.heap.layer == wire::Layer::program ? "the memory"
                                     : is_of_metal                            ? "a single buffer of Metal"
                                                                              : "the pool";
    return fmt::format("Requested {}, more than the limit of {} ({}).", requested_text(facts), limited,
                       text_from_bytes(*figures.limit_bytes));
  }
  if (figures.is_of_driver || !figures.free_bytes) return driver_sentence(facts);
  return facts.is_all_full() ? full_device_sentence(facts) : full_pool_sentence(facts);
}

// "0.50 of 11.8 GiB"
std::string engine_text(const EngineBudget& engine) {
  return fmt::format("{:.2f} of {}", static_cast<double>(engine.limit_bytes) / static_cast<double>(engine.total_bytes),
                     text_from_bytes(engine.total_bytes));
}

std::string pool_limit_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  if (facts.engine) {
    const EngineBudget& engine = *facts.engine;
    const std::string may =
        fmt::format("the engine may use {} ({})", text_from_bytes(engine.limit_bytes), engine_text(engine));
    if (engine.taken_bytes >= engine.limit_bytes)
      return fmt::format(
          "Nothing is left for the KV cache: {}, and weights, activations and the rest take {}, {} more.", may,
          text_from_bytes(engine.taken_bytes), text_from_bytes(engine.taken_bytes - engine.limit_bytes));
    return fmt::format("Too little is left for the KV cache: {}, and weights, activations and the rest take {}.", may,
                       text_from_bytes(engine.taken_bytes));
  }
  const bool is_of_process =
      figures.limit_bytes && figures.pool_bytes && figures.free_bytes && figures.needed_bytes <= *figures.free_bytes;
  if (is_of_process)
    return fmt::format("The process may take {} of the device, and its pool has {}: there is no room for {} more{}.",
                       text_from_bytes(*figures.limit_bytes), text_from_bytes(*figures.pool_bytes),
                       requested_text(facts),
                       figures.driver_bytes
                           ? fmt::format(", although {} is free on the device", text_from_bytes(*figures.driver_bytes))
                           : std::string());
  if (!figures.limit_bytes && figures.free_bytes && !figures.pool_bytes)
    return fmt::format("The pool is at its limit: requested {}, and {} is left of it.", requested_text(facts),
                       text_from_bytes(*figures.free_bytes));
  const auto left = facts.left_to_grow();
  if (left && *left > 0 && !figures.free_bytes)
    return fmt::format("The pool has {}, and its limit of {} leaves {} to grow: requested {}.",
                       text_from_bytes(*figures.pool_bytes), text_from_bytes(*figures.limit_bytes),
                       text_from_bytes(*left), requested_text(facts));
  // A twentieth of it is much to be free in a full pool.
  constexpr std::uint64_t part_of_full = 20;
  const bool is_full =
      !figures.free_bytes || !figures.limit_bytes || *figures.free_bytes < *figures.limit_bytes / part_of_full;
  std::string text = is_full ? "The pool is full" : "The pool is";
  if (facts.framework == Framework::pytorch_mps && figures.limit_bytes &&
      clamped_sum(facts.row.used_bytes.value_or(0), facts.elsewhere ? facts.elsewhere->bytes : 0) >
          *figures.limit_bytes)
    return fmt::format("{} is in use, and {} outside of the pool: more than the limit of {}. Requested {}.",
                       text_from_bytes(facts.row.used_bytes.value_or(0)),
                       text_from_bytes(facts.elsewhere ? facts.elsewhere->bytes : 0),
                       text_from_bytes(*figures.limit_bytes), requested_text(facts));
  if (figures.limit_bytes)
    text += fmt::format("{} {} its limit of {}", is_full ? ", and" : "", left && *left > 0 ? "near" : "at",
                        text_from_bytes(*figures.limit_bytes));
  if (left && *left > 0) text += fmt::format(" ({} less)", text_from_bytes(*left));
  if (figures.free_bytes) {
    // Figures with ten equal digits say less than their difference.
    const bool is_close = figures.needed_bytes > *figures.free_bytes &&
                          figures.needed_bytes - *figures.free_bytes < figures.needed_bytes / 100;
    if (is_close)
      return fmt::format("{}: requested {}, {} more than is free in it{}.", text, requested_text(facts),
                         text_from_bytes(figures.needed_bytes - *figures.free_bytes),
                         figures.largest_free_bytes ? fmt::format(" (the largest free block is {})",
                                                                  text_from_bytes(*figures.largest_free_bytes))
                                                    : std::string());
    const TextPair pair = requested_and(facts, *figures.free_bytes);
    return text + ": requested " + pair.first + ", " + pair.second + " is free in it.";
  }
  text += ": requested " + requested_text(facts);
  if (facts.row.used_bytes) text += ", and " + text_from_bytes(*facts.row.used_bytes) + " is in use";
  if (facts.framework == Framework::pytorch_mps && facts.elsewhere)
    text += fmt::format(", and {} outside of it", text_from_bytes(facts.elsewhere->bytes));
  return text + ".";
}

std::string fragmentation_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const TextPair pair = requested_and(facts, figures.largest_free_bytes.value_or(0));
  return "Fragmented: requested " + pair.first + "; " + text_from_bytes(*figures.free_bytes) + " is free in total" +
         blocks_text(figures) + ", but " + largest_text(figures, pair) + "." + device_text(figures);
}

std::string cannot_grow_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const auto left = facts.left_to_grow();
  if (!left || figures.driver_bytes) return full_pool_sentence(facts);
  return fmt::format("Requested {}; {} is free in the pool, and its limit leaves {} to grow{}.", requested_text(facts),
                     text_from_bytes(*figures.free_bytes), text_from_bytes(*left),
                     *left >= figures.needed_bytes ? ", which the device did not give" : ": neither is enough");
}

std::string wrong_end_sentence(const CauseFacts& facts) {
  return fmt::format("Requested {}; a free block of {} is large enough, but belongs to the other end of the pool.",
                     requested_text(facts), text_from_bytes(*facts.figures.largest_free_bytes));
}

std::string alignment_sentence(const CauseFacts& facts) {
  return fmt::format("Requested {}, which the allocator rounds to {}; the largest free block is {}.",
                     requested_text(facts), exact_text_from_bytes(signed_from(facts.figures.needed_bytes)),
                     exact_text_from_bytes(signed_from(*facts.figures.largest_free_bytes)));
}

std::string compile_time_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  std::string_view program = "the program";
  for (const auto& [key, value] : facts.row.details)
    if (key == failure_detail::program && !value.empty()) program = value;
  std::string text = fmt::format("The compiler found that {} does not fit in {}", program,
                                 facts.row.memory_space.empty() ? "memory" : facts.row.memory_space);
  const TextPair pair = requested_and(facts, figures.limit_bytes.value_or(0));
  if (figures.limit_bytes && figures.requested_bytes == *figures.limit_bytes)
    return text + fmt::format(": it needs a little more than the {} there. Nothing ran.", pair.second);
  if (figures.requested_bytes > 0) text += ": it needs " + (figures.limit_bytes ? pair.first : requested_text(facts));
  if (figures.requested_bytes > 0 && figures.limit_bytes) {
    text += ", and " + pair.second + " is there";
    const std::string_view exceeded = facts.detail(failure_detail::exceeded);
    if (!exceeded.empty())
      text += fmt::format(" ({} too much)", exceeded);
    else if (figures.requested_bytes > *figures.limit_bytes)
      text += fmt::format(" ({} too much)", text_from_bytes(figures.requested_bytes - *figures.limit_bytes));
  }
  return text + ". Nothing ran.";
}

std::string outside_pool_sentence(const CauseFacts& facts) {
  const std::string wanted =
      facts.figures.requested_bytes == 0 ? std::string() : fmt::format(", and requested {}", requested_text(facts));
  return fmt::format("{} found too little memory outside the framework's pool{}.", facts.row.allocator, wanted);
}

std::string processes_text(const CauseFacts& facts) {
  const auto& processes = facts.elsewhere->processes;
  if (facts.framework == Framework::pytorch_mps)
    return "other allocations of this program (Metal's caches, other libraries)";
  if (processes.empty()) return "others: other processes, or other libraries in this one";
  return processes.size() == 1 ? processes.front().name : text_from_count(processes.size()) + " other processes";
}

std::string whole_text(const CauseFacts& facts) {
  if (facts.device_bytes) return " of the device's " + text_from_bytes(*facts.device_bytes);
  return facts.figures.limit_bytes
             ? fmt::format(" of the {} that may be used", text_from_bytes(*facts.figures.limit_bytes))
             : std::string();
}

std::string held_elsewhere_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const HeldElsewhere& elsewhere = *facts.elsewhere;
  const std::string held = fmt::format("{}{}{} is held by {}", elsewhere.processes.empty() ? "About " : "",
                                       text_from_bytes(elsewhere.bytes), whole_text(facts), processes_text(facts));
  if (!figures.driver_bytes) return fmt::format("{}: requested {}.", held, requested_text(facts));
  const TextPair pair = requested_and(facts, *figures.driver_bytes);
  const std::string_view setting = facts.detail(failure_detail::setting);
  if (!setting.empty())
    return fmt::format("{}: {} was free, and the engine wants {} of the device, {}.", held, pair.second, setting,
                       pair.first);
  return fmt::format("{}: requested {}, and {} was free on the device.", held, pair.first,
                     *figures.driver_bytes == 0 ? std::string("nothing") : pair.second);
}

std::string driver_refused_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  if (!figures.driver_bytes)
    return fmt::format(
        "Requested {} as a single allocation, which is more than the driver gives at once, whatever is free.",
        requested_text(facts));
  const TextPair pair = requested_and(facts, *figures.driver_bytes);
  std::string text = fmt::format(
      "The driver refused {} although {} was free on the device, and no limit is printed: "
      "this is not a lack of its memory.",
      pair.first, pair.second);
  if (!facts.device_bytes && facts.row.line && facts.framework != Framework::ggml)
    text += " The GPU shares the memory of the host: its total is only what is reserved for it.";
  return text;
}

std::string shared_memory_sentence(const CauseFacts& facts) {
  const FailureFacts& figures = facts.figures;
  const auto limit = figures.limit_bytes;
  const auto text_of = [&](std::uint64_t bytes) {
    const bool is_close = limit && text_from_bytes(*limit) == text_from_bytes(figures.requested_bytes);
    return is_close ? exact_text_from_bytes(signed_from(bytes)) : text_from_bytes(bytes);
  };
  return fmt::format(
      "The kernel needs {} of shared memory for a block of threads{}. Memory of the device is not short.",
      text_of(figures.requested_bytes), limit ? ", which may have " + text_of(*limit) : std::string());
}

std::string impossible_size_sentence(const CauseFacts& facts) {
  constexpr std::uint64_t readable = std::uint64_t{1} << 62;  // More is not read (WordCursor::take_size).
  const std::uint64_t bytes = facts.figures.requested_bytes;
  const std::string size = bytes == 0         ? std::string("more than 1 EiB")
                           : bytes < readable ? requested_text(facts)
                                              : "more than " + text_from_bytes(readable);
  return fmt::format(
      "Requested {}, which no device has: the size is the result of a mistake, such as a negative "
      "dimension or an overflow.",
      size);
}

// "400 MiB that log_loss train.py:7 and others allocated in earlier steps"
std::string kept_text(const Growth& growth) {
  const std::string bytes = text_from_bytes(growth.kept_bytes);
  if (growth.survivors.empty()) return bytes + " of earlier steps";
  return fmt::format("{} that {}{} allocated in earlier steps", bytes, text_from_holder(growth.survivors.front()),
                     growth.survivors.size() == 1 ? "" : " and others");
}

std::string leak_sentence(const CauseFacts& facts) {
  const std::string kept =
      fmt::format("{}. {} is still in use", text_from_growth(*facts.growth), kept_text(*facts.growth));
  return leak_of(facts) == Leak::certain
             ? fmt::format("Leak: {}, of {} in all.", kept, text_from_bytes(facts.held_bytes))
             : fmt::format("Probably a leak: {}; the request of {} is not larger than that and what is free together.",
                           kept, requested_text(facts));
}

// In the order of the enum.
constexpr CauseRow cause_table[] = {
    // cause, key, title, sentence, has_blockers, rests_on_pool, is_provable
    {Cause::unknown, "unknown", "Unknown", unknown_sentence, false, true, false},
    {Cause::too_big, "too_big", "Not enough memory", too_big_sentence, false, true, true},
    {Cause::pool_limit, "pool_limit", "Pool at its limit", pool_limit_sentence, false, true, true},
    {Cause::fragmentation, "fragmentation", "Fragmented", fragmentation_sentence, true, true, true},
    {Cause::cannot_grow, "cannot_grow", "Pool can't grow", cannot_grow_sentence, true, true, true},
    {Cause::wrong_end, "wrong_end", "Free at the other end", wrong_end_sentence, true, true, true},
    {Cause::alignment, "alignment", "Alignment", alignment_sentence, false, true, false},
    {Cause::compile_time, "compile_time", "Refused by the compiler", compile_time_sentence, false, false, false},
    {Cause::outside_pool_starved, "outside_pool_starved", "Too little outside the pool", outside_pool_sentence, false,
     false, false},
    {Cause::host_memory, "host_memory", "Host memory", host_memory_sentence, false, false, false},
    {Cause::held_elsewhere, "held_elsewhere", "Held by others", held_elsewhere_sentence, false, false, false},
    {Cause::driver_refused, "driver_refused", "Refused by the driver", driver_refused_sentence, false, false, false},
    {Cause::shared_memory, "shared_memory", "Shared memory of a kernel", shared_memory_sentence, false, false, false},
    {Cause::impossible_size, "impossible_size", "Impossible size", impossible_size_sentence, false, false, false},
    {Cause::leak, "leak", "Leak", leak_sentence, false, true, false},
};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < std::size(cause_table); ++i)
    if (static_cast<std::size_t>(cause_table[i].cause) != i) return false;
  return std::size(cause_table) == static_cast<std::size_t>(Cause::leak) + 1;
}
static_assert(are_in_order());

}  // namespace

std::span<const CauseRow> all_causes() {
  return cause_table;
}

const CauseRow& row_of(Cause cause) {
  return cause_table[static_cast<std::size_t>(cause)];
}

std::optional<Cause> cause_from(allocator::ReplayVerdict verdict) {
  using enum allocator::ReplayVerdict;
  switch (verdict) {
    case too_big: return Cause::too_big;
    case had_room: return Cause::alignment;
    case fragmented: return Cause::fragmentation;
    case segment:
    case split: return Cause::cannot_grow;
    case stepped_over:
    case fault: break;
  }
  return std::nullopt;
}

std::string_view text_from_cause(Cause cause) {
  return row_of(cause).key;
}

}  // namespace hbmscope
