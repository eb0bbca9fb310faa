#include <cctype>

#include <fmt/format.h>

#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/cause.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/figure_text.h"
#include "app/cli/dry_run/replay.h"

namespace hbmscope::cli {
namespace {

namespace xla_gpu = allocator::xla_gpu;
using allocator::AllocatorOptions;
using allocator::CheckResult;
using allocator::ReplayFailure;
using allocator::ReplayResult;
using allocator::ReplayVerdict;

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return text_from_share(signed_from(part), signed_from(whole));
}

std::string row(std::string_view name, const std::string& text) {
  return fmt::format("  {}{}\n", pad_right(name, 24), text);
}

// How the pool gets memory; below "limit" if there is one.
struct PoolRows {
  std::string operator()(const xla_gpu::Options& of) const {
    return row("limit", text_from_bytes(of.limit_bytes) +
                            (of.allow_growth ? ", growing region by region" : ", one region at the first request"));
  }
  std::string operator()(const allocator::platform::Options& of) const {
    return row("pool", fmt::format("none: each request and each free calls the driver, in steps of {}",
                                   text_from_bytes(of.granularity_bytes)));
  }
  std::string operator()(const allocator::cuda_async::Options& of) const {
    return row("pool", fmt::format("keeps {}{}", text_from_bytes(of.release_threshold_bytes),
                                   of.reserved_bytes > 0 ? ", reserved at the first request" : ", and grows"));
  }
  std::string operator()(const allocator::vmm::Options& of) const {
    return row("limit", fmt::format("{}; each request gets its own memory in steps of {}, which is kept for that size",
                                    text_from_bytes(of.limit_bytes), text_from_bytes(of.granularity_bytes)));
  }
  std::string operator()(const allocator::pytorch::Options& of) const {
    return row("pool", of.expandable_segments ? "expandable segments, kept until the driver refuses"
                                              : "segments, kept until the driver refuses");
  }
  // Other allocators have one region or nothing more to show.
  template <class Options>
  std::string operator()(const Options& of) const {
    if constexpr (requires { of.limit_bytes; })
      return row("limit", text_from_bytes(of.limit_bytes) + ", one region at the first request");
    return {};
  }
};

std::string head_text(const ReplayAnswers& answers, const Terminal& terminal) {
  std::string name(allocator::name_of(answers.options));
  if (const auto* xla = std::get_if<xla_gpu::Options>(&answers.options))
    name += fmt::format(", version {}", xla_gpu::rules_of(xla->version).name);
  std::string text =
      terminal.paint(fmt::format("{}: {} ({})", printable(answers.file), name,
                                 allocator::text_from_certainty(allocator::certainty_of(answers.options))),
                     Ink::bold);
  text += "\n" + std::visit(PoolRows(), answers.options);
  if (answers.config.upstream.device_bytes)
    text += row("device", text_from_bytes(*answers.config.upstream.device_bytes));
  return text;
}

std::string_view reason_of(const ReplayFailure& failure) {
  switch (verdict_of(failure)) {
    case ReplayVerdict::fault: return allocator::text_from_fault(failure.fault);
    case ReplayVerdict::too_big: return "even all free memory together is less than the request";
    case ReplayVerdict::had_room: return "a free block was large enough, but not at an aligned address";
    case ReplayVerdict::fragmented: return "enough was free in the pool, but every free block is too small";
    case ReplayVerdict::stepped_over:
      return "the driver had enough, but the retries at nine tenths of the size skipped it";
    case ReplayVerdict::segment: return "the driver had enough for the request, but not for the whole region around it";
    case ReplayVerdict::split: return "enough in total, but partly free in the pool and partly free on the device";
  }
  return {};
}

// "fragmented: enough was free in the pool, ...", in the words of the causes.
std::string verdict_text(const ReplayFailure& failure) {
  const auto cause = cause_from(verdict_of(failure));
  if (!cause) return std::string(reason_of(failure));
  std::string title(row_of(*cause).title);
  title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  return fmt::format("{}: {}", title, reason_of(failure));
}

std::string failure_text(const ReplayFailure& failure, const Terminal& terminal) {
  const std::string where = failure.line == 0 ? std::string() : fmt::format(" (line {})", failure.line);
  return row("first failure", terminal.paint(fmt::format("operation {}{}: requested {}", failure.operation + 1, where,
                                                         text_from_bytes(failure.request.bytes)),
                                             Ink::bad)) +
         row("", fmt::format("{} free in the pool (largest usable block {}), {} free on the device",
                             text_from_bytes(failure.free_bytes), text_from_bytes(failure.largest_usable_bytes),
                             failure.driver_left_bytes == allocator::no_limit
                                 ? std::string("an unknown amount")
                                 : text_from_bytes(failure.driver_left_bytes))) +
         row("", verdict_text(failure));
}

std::string result_text(const ReplayResult& result, const Terminal& terminal) {
  const auto count = [](std::uint64_t number) { return text_from_count(number); };
  const std::uint64_t free = result.statistics.pool_bytes - result.in_use_bytes;
  const std::uint64_t largest = result.statistics.largest_free_bytes;
  std::string text =
      row("operations", fmt::format("{}: {} served, {} failed, {} of zero bytes, {} freed", count(result.operations),
                                    count(result.allocations), count(result.refused), count(result.zero_requests),
                                    count(result.frees)));
  text += row("in use", fmt::format("{} ({}, including free ones); peak {} after operation {}",
                                    text_from_bytes(result.in_use_bytes), text_from_count_of(result.chunks, "chunk"),
                                    text_from_bytes(result.peak_in_use_bytes), count(result.peak_operation)));
  text += row("requested", fmt::format("{}; peak {}", text_from_bytes(result.requested_bytes),
                                       text_from_bytes(result.peak_requested_bytes)));
  text += row("pool", fmt::format("{}; peak {}", text_from_bytes(result.statistics.pool_bytes),
                                  text_from_bytes(result.statistics.peak_pool_bytes)));
  text += row("largest free block", text_from_bytes(largest));
  text += row("external fragmentation", share_text(free - largest, free));
  text += row("internal fragmentation", share_text(result.in_use_bytes - result.requested_bytes, result.in_use_bytes));
  text += row("driver calls", fmt::format("{} allocated, {} refused, {} released", count(result.driver_claims),
                                          count(result.driver_refusals), count(result.driver_releases)));
  return text + (result.first_failure ? failure_text(*result.first_failure, terminal) : row("first failure", "none"));
}

std::string check_text(const CheckResult& check, const Terminal& terminal) {
  std::string text;
  if (check.difference) {
    const allocator::Difference& difference = *check.difference;
    text += row("first difference", terminal.paint(difference.line == 0 ? printable(difference.what)
                                                                        : fmt::format("line {}: {}", difference.line,
                                                                                      printable(difference.what)),
                                                   Ink::bad));
    text += row("  recorded", difference.recorded) + row("  replayed", difference.replayed);
  } else {
    text += row("check", terminal.paint("all recorded answers match", Ink::good));
  }
  text += row("compared",
              fmt::format("{}, {}, {}", text_from_count_of(check.answers, "answer"),
                          text_from_count_of(check.events, "region event"), text_from_count_of(check.states, "state")));
  if (check.without_answer > 0)
    text += row("not compared", text_from_count_of(check.without_answer, "request") + " without an answer");
  for (const std::string& name : check.unknown_names)
    text += row("not compared", fmt::format("'{}', which is unknown", printable(name)));
  return text;
}

}  // namespace

std::string text_from_replay(const ReplayAnswers& answers, const Terminal& terminal) {
  std::string text = head_text(answers, terminal);
  if (answers.result) text += result_text(*answers.result, terminal);
  if (answers.check) text += check_text(*answers.check, terminal);
  if (answers.speed)
    text += row("time", fmt::format("{:.1f} ns per operation, including the largest free block",
                                    answers.speed->ns_per_operation));
  return text;
}

}  // namespace hbmscope::cli
