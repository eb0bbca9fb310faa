#include "analysis/answers/replay.h"

#include <cctype>

#include <fmt/format.h>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/interface/fragmentation.h"
#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/cause.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace xla_gpu = allocator::xla_gpu;
using allocator::ReplayFailure;
using allocator::ReplayVerdict;

// For readers: the name of a figure, and a sentence about it. Without a name it continues the one above.
class Lines {
 public:
  void add(std::string name, std::string text, Tone tone = Tone::plain) {
    rows_.push_back({value_of(std::move(name)), std::move(text)});
    tones_.push_back(tone);
  }
  Table table() && {
    Table table{.columns = {{.title = "Figure"}, {.title = "Value"}},
                .rows = std::move(rows_),
                .shown = tones_.size(),
                .audience = Audience::readers};
    table.cell_tone = [tones = std::move(tones_)](std::size_t row, std::size_t column) {
      return column == 1 ? tones[row] : Tone::plain;
    };
    return table;
  }

 private:
  std::vector<std::vector<Value>> rows_;
  std::vector<Tone> tones_;
};

Value limit_of(std::uint64_t bytes) {
  return bytes == allocator::no_limit ? Value() : Value(bytes);
}

Value name_of(allocator::Fault fault) {
  return fault == allocator::Fault::none ? Value() : Value(std::string(text_from_fault(fault)));
}

// How the pool gets memory.
struct PoolLine {
  Lines& lines;

  void operator()(const xla_gpu::Options& of) const {
    lines.add("limit", text_from_bytes(of.limit_bytes) +
                           (of.allow_growth ? ", growing region by region" : ", one region at the first request"));
  }
  void operator()(const allocator::platform::Options& of) const {
    lines.add("pool", fmt::format("none: each request and each free calls the driver, in steps of {}",
                                  text_from_bytes(of.granularity_bytes)));
  }
  void operator()(const allocator::cuda_async::Options& of) const {
    lines.add("pool", fmt::format("keeps {}{}", text_from_bytes(of.release_threshold_bytes),
                                  of.reserved_bytes > 0 ? ", reserved at the first request" : ", and grows"));
  }
  void operator()(const allocator::vmm::Options& of) const {
    lines.add("limit", fmt::format("{}; each request gets its own memory in steps of {}, which is kept for that size",
                                   text_from_bytes(of.limit_bytes), text_from_bytes(of.granularity_bytes)));
  }
  void operator()(const allocator::pytorch::Options& of) const {
    lines.add("pool", of.expandable_segments ? "expandable segments, kept until the driver refuses"
                                             : "segments, kept until the driver refuses");
  }
  // Other allocators have one region or nothing more to show.
  template <class Options>
  void operator()(const Options& of) const {
    if constexpr (requires { of.limit_bytes; })
      lines.add("limit", text_from_bytes(of.limit_bytes) + ", one region at the first request");
  }
};

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

void add_lines(const ReplayFailure& failure, Lines& lines) {
  lines.add("first failure",
            fmt::format("operation {}{}: requested {}", failure.operation + 1,
                        failure.line == 0 ? std::string() : fmt::format(" (line {})", failure.line),
                        text_from_bytes(failure.request.bytes)),
            Tone::bad);
  lines.add("",
            fmt::format("{} free in the pool (largest usable block {}), {} free on the device",
                        text_from_bytes(failure.free_bytes), text_from_bytes(failure.largest_usable_bytes),
                        failure.driver_left_bytes == allocator::no_limit ? std::string("an unknown amount")
                                                                         : text_from_bytes(failure.driver_left_bytes)));
  lines.add("", verdict_text(failure));
}

Document describe_failure(const ReplayFailure& failure, std::string_view allocator_name) {
  std::vector<std::string> unknowns{"device"};
  if (failure.driver_left_bytes == allocator::no_limit) unknowns.emplace_back("available_bytes");
  if (failure.statistics.limit_bytes == allocator::no_limit) unknowns.emplace_back("limit_bytes");
  const bool is_collective = failure.request.space == allocator::Space::collective;
  const auto cause = cause_from(verdict_of(failure));
  return Document()
      .add(Figures{{{"operation", std::uint64_t{failure.operation}},
                    {"line", failure.line == 0 ? Value() : Value(std::uint64_t{failure.line})},
                    {"asked_bytes", failure.request.bytes},
                    {"rounded_bytes", failure.rounded_bytes},
                    {"alignment_bytes", std::uint64_t{failure.request.alignment}},
                    {"available_bytes", limit_of(failure.driver_left_bytes)},
                    {"used_bytes", failure.statistics.in_use_bytes},
                    {"total_free_bytes", failure.free_bytes},
                    {"largest_free_bytes", failure.largest_usable_bytes},
                    {"pool_bytes", failure.statistics.pool_bytes},
                    {"limit_bytes", limit_of(failure.statistics.limit_bytes)},
                    {"memory_space", is_collective ? "collective" : "default"},
                    {"device"},
                    {"allocator", std::string(allocator_name)},
                    {"verdict", std::string(text_from_verdict(verdict_of(failure)))},
                    {"fault", name_of(failure.fault)},
                    {"cause", cause ? Value(std::string(row_of(*cause).key)) : Value()},
                    {"cause_title", cause ? Value(std::string(row_of(*cause).title)) : Value()}}})
      .add(texts_from("unknowns", unknowns));
}

void add_result(const allocator::ReplayResult& result, std::string_view allocator_name, Lines& lines,
                Document& document) {
  const allocator::Statistics& statistics = result.statistics;
  const std::uint64_t free = statistics.pool_bytes - result.in_use_bytes;
  const auto external = external_fragmentation_of(free, statistics.largest_free_bytes),
             internal = internal_fragmentation_of(result.in_use_bytes, result.requested_bytes);
  const auto count = [](std::uint64_t number) { return text_from_count(number); };
  lines.add("operations", fmt::format("{}: {} served, {} failed, {} of zero bytes, {} freed", count(result.operations),
                                      count(result.allocations), count(result.refused), count(result.zero_requests),
                                      count(result.frees)));
  lines.add("in use", fmt::format("{} ({}, including free ones); peak {} after operation {}",
                                  text_from_bytes(result.in_use_bytes), text_from_count_of(result.chunks, "chunk"),
                                  text_from_bytes(result.peak_in_use_bytes), count(result.peak_operation)));
  lines.add("requested", fmt::format("{}; peak {}", text_from_bytes(result.requested_bytes),
                                     text_from_bytes(result.peak_requested_bytes)));
  lines.add("pool", fmt::format("{}; peak {}", text_from_bytes(statistics.pool_bytes),
                                text_from_bytes(statistics.peak_pool_bytes)));
  lines.add("largest free block", text_from_bytes(statistics.largest_free_bytes));
  lines.add("external fragmentation", text_from_known_share(external));
  lines.add("internal fragmentation", text_from_known_share(internal));
  lines.add("driver calls", fmt::format("{} allocated, {} refused, {} released", count(result.driver_claims),
                                        count(result.driver_refusals), count(result.driver_releases)));
  result.first_failure ? add_lines(*result.first_failure, lines) : lines.add("first failure", "none");
  document.add(Figures{{{"operations", std::uint64_t{result.operations}},
                        {"allocations", std::uint64_t{result.allocations}},
                        {"refused", std::uint64_t{result.refused}},
                        {"zero_requests", std::uint64_t{result.zero_requests}},
                        {"frees", std::uint64_t{result.frees}},
                        {"in_use_bytes", result.in_use_bytes},
                        {"requested_bytes", result.requested_bytes},
                        {"peak_in_use_bytes", result.peak_in_use_bytes},
                        {"peak_operation", std::uint64_t{result.peak_operation}},
                        {"peak_requested_bytes", result.peak_requested_bytes},
                        {"pool_bytes", statistics.pool_bytes},
                        {"peak_pool_bytes", statistics.peak_pool_bytes},
                        {"free_bytes", free},
                        {"largest_free_bytes", statistics.largest_free_bytes},
                        {"external_fragmentation", value_of(external)},
                        {"internal_fragmentation", value_of(internal)},
                        {"chunks", std::uint64_t{result.chunks}},
                        {"driver_claims", std::uint64_t{result.driver_claims}},
                        {"driver_refusals", std::uint64_t{result.driver_refusals}},
                        {"driver_releases", std::uint64_t{result.driver_releases}},
                        {"fault", name_of(result.fault)}}});
  Documents failures{.key = "failures"};
  if (result.first_failure) failures.list.push_back(describe_failure(*result.first_failure, allocator_name));
  document.add(std::move(failures));
}

void add_check(const allocator::CheckResult& check, Lines& lines, Document& document) {
  Document part{.key = "check"};
  part.add(Figures{{{"agrees", !check.difference}}});
  if (const auto& difference = check.difference) {
    const std::string line = difference->line == 0 ? "" : fmt::format("line {}: ", difference->line);
    lines.add("first difference", line + difference->what, Tone::bad);
    lines.add("recorded", difference->recorded);
    lines.add("replayed", difference->replayed);
    part.add(Document{.key = "first_difference"}.add(
        Figures{{{"line", difference->line == 0 ? Value() : Value(std::uint64_t{difference->line})},
                 {"what", difference->what},
                 {"recorded", difference->recorded},
                 {"replayed", difference->replayed}}}));
  } else {
    lines.add("check", "all recorded answers match", Tone::good);
    part.add(Absent{"first_difference"});
  }
  lines.add("compared",
            fmt::format("{}, {}, {}", text_from_count_of(check.answers, "answer"),
                        text_from_count_of(check.events, "region event"), text_from_count_of(check.states, "state")));
  if (check.without_answer > 0)
    lines.add("not compared", text_from_count_of(check.without_answer, "request") + " without an answer");
  for (const std::string& name : check.unknown_names)
    lines.add("not compared", fmt::format("'{}', which is unknown", printable(name)));
  part.add(Figures{{{"answers", std::uint64_t{check.answers}},
                    {"region_events", std::uint64_t{check.events}},
                    {"states", std::uint64_t{check.states}},
                    {"requests_without_answer", std::uint64_t{check.without_answer}}}});
  document.add(std::move(part.add(texts_from("unknown_names", check.unknown_names))));
}

}  // namespace

Document describe_replay(const ReplayAnswers& answers) {
  const auto* xla = std::get_if<xla_gpu::Options>(&answers.options);
  const std::string_view name = allocator::name_of(answers.options);
  const std::string version(xla != nullptr ? xla_gpu::rules_of(xla->version).name : "");
  const std::string certainty(allocator::text_from_certainty(allocator::certainty_of(answers.options)));
  const auto limit_bytes = allocator::row_of(answers.options).limit_bytes;
  const auto& device_bytes = answers.config.upstream.device_bytes;
  Document document{.title = fmt::format("{}: {}{}{} ({})", answers.file, name, version.empty() ? "" : ", version ",
                                         version, certainty)};
  document.add(Figures{{{"file", answers.file},
                        {"allocator", std::string(name)},
                        {"version", value_of(version)},
                        {"certainty", certainty},
                        {"limit_bytes", limit_bytes != nullptr ? value_of(limit_bytes(answers.options)) : Value()},
                        {"device_bytes", value_of(device_bytes)}}});
  Lines lines;
  std::visit(PoolLine{lines}, answers.options);
  if (device_bytes) lines.add("device", text_from_bytes(*device_bytes));
  if (answers.result) add_result(*answers.result, name, lines, document);
  if (answers.check) add_check(*answers.check, lines, document);
  if (answers.speed) {
    lines.add("time", fmt::format("{:.1f} ns per operation, including the largest free block",
                                  answers.speed->ns_per_operation));
    document.add(Figures{{{"ns_per_op", answers.speed->ns_per_operation}}});
  }
  return document.add(std::move(lines).table());
}

}  // namespace hbmscope
