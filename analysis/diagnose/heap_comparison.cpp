#include "analysis/diagnose/heap_comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/query/moment_comparison.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using Bytes = std::optional<std::uint64_t>;

// The facts about one heap that rows and sentences need.
struct HeapFacts {
  HeapRow row;
  std::uint64_t requests = 0, failures = 0;  // Failures: including one just at this time.
  std::uint64_t past_failures = 0;
  std::optional<std::size_t> last_failure;  // Its index among the stream's failures.
  std::optional<std::size_t> next_failure;  // The failure of the very next request, if it will fail.
  bool ends_here = false;
};

std::optional<HeapFacts> facts_of(const HeapAt& at, PassControl* control) {
  const Stream& stream = at.trace.streams[at.heap.stream];
  const auto requests = count_requests(stream, at.heap.heap, at.position, control);
  if (!requests) return std::nullopt;
  HeapFacts facts;
  facts.row = compute_heap_rows(at.trace, at.states)[row_of_heap(at.trace, at.heap)];
  facts.requests = *requests;
  facts.ends_here = at.position == stream.end_position();
  for (std::size_t i = 0; i < stream.failures().size(); ++i) {
    const FailureEvent& one = stream.failures()[i];
    if (!one.is_out_of_memory || one.heap != at.heap.heap) continue;
    if (one.event <= at.position) ++facts.failures;
    if (one.event < at.position) {
      ++facts.past_failures;
      facts.last_failure = i;
      continue;
    }
    const auto before = count_requests(stream, at.heap.heap, one.event, control);
    if (!before) return std::nullopt;
    if (*before == facts.requests) facts.next_failure = i;
    break;
  }
  return facts;
}

std::optional<std::int64_t> as_signed(Bytes bytes) {
  return bytes ? std::optional(static_cast<std::int64_t>(*bytes)) : std::nullopt;
}
std::optional<std::int64_t> hundredths(std::optional<double> share) {
  return share ? std::optional<std::int64_t>(std::llround(*share * 10'000)) : std::nullopt;
}

std::vector<ComparisonRow> rows_of(const HeapFacts& a, const HeapFacts& b) {
  using Unit = ComparisonRow::Unit;
  std::vector<ComparisonRow> rows;
  const auto add = [&](std::string_view name, std::string_view meaning, Unit unit, const auto& figure) {
    const ComparisonRow row{name, meaning, unit, figure(a), figure(b)};
    if (row.a || row.b) rows.push_back(row);
  };
  const auto bytes_of = [](Bytes HeapRow::*member) {
    return [member](const HeapFacts& facts) { return as_signed(facts.row.*member); };
  };
  const auto count_of = [](std::uint64_t HeapFacts::*member) {
    return [member](const HeapFacts& facts) { return as_signed(facts.*member); };
  };
  add("requests", "Allocated blocks and out-of-memory errors, up to this time.", Unit::count,
      count_of(&HeapFacts::requests));
  add("failures", "Requests that ran out of memory.", Unit::count, count_of(&HeapFacts::failures));
  add("in use", "Bytes of live blocks, including rounding.", Unit::bytes,
      [](const HeapFacts& facts) { return as_signed(facts.row.in_use_bytes); });
  add("requested", "Bytes that the program requested; the rest of the bytes in use is rounding.", Unit::bytes,
      bytes_of(&HeapRow::requested_bytes));
  add("pool size", "Memory that the pool reserved on the device, in use or not.", Unit::bytes,
      bytes_of(&HeapRow::pool_bytes));
  add("free in the pool", "Pool size - in use.", Unit::bytes, bytes_of(&HeapRow::free_bytes));
  add("largest free", "The largest free block: larger requests need more memory from the device.", Unit::bytes,
      bytes_of(&HeapRow::largest_free_bytes));
  add("external fragmentation", "1 - largest free / free.", Unit::percent,
      [](const HeapFacts& facts) { return hundredths(facts.row.external_fragmentation); });
  add("internal fragmentation", "1 - requested / in use.", Unit::percent,
      [](const HeapFacts& facts) { return hundredths(facts.row.internal_fragmentation); });
  add("live blocks", "Handles of physical memory are not counted.", Unit::count,
      [](const HeapFacts& facts) { return as_signed(facts.row.live_blocks); });
  add("peak in use", "Over the whole trace.", Unit::bytes,
      [](const HeapFacts& facts) { return as_signed(facts.row.peak_in_use_bytes); });
  return rows;
}

std::string failure_sentence(const HeapAt& at, std::size_t index) {
  return diagnose(at.trace, {at.heap.stream, index}, Depth::brief).cause.sentence;
}

std::string failures_of(const char* name, const HeapAt& at, const HeapFacts& facts) {
  if (facts.past_failures == 0) return fmt::format("{} served every request up to here.", name);
  const std::string times = facts.past_failures == 1
                                ? "one request failed"
                                : fmt::format("{} requests failed; the last one", text_from_count(facts.past_failures));
  return fmt::format("{}: {}. {}", name, times, failure_sentence(at, *facts.last_failure));
}

void say_failures(const HeapAt& at_a, const HeapFacts& a, const HeapAt& at_b, const HeapFacts& b,
                  std::vector<std::string>& sentences) {
  if (a.past_failures == 0 && b.past_failures == 0) return;
  // The heap with failures comes first.
  const std::string of_a = failures_of("A", at_a, a), of_b = failures_of("B", at_b, b);
  sentences.push_back(a.past_failures == 0 ? of_b : of_a);
  sentences.push_back(a.past_failures == 0 ? of_a : of_b);
}

// The position that the keys [ and ] jump to: just before a failure.
void say_next_failure(const HeapAt& at_a, const HeapFacts& a, const HeapAt& at_b, const HeapFacts& b,
                      std::vector<std::string>& sentences, PassControl* control) {
  if (!a.next_failure && !b.next_failure) return;
  if (a.next_failure) sentences.push_back("A fails at the next request. " + failure_sentence(at_a, *a.next_failure));
  if (b.next_failure) sentences.push_back("B fails at the next request. " + failure_sentence(at_b, *b.next_failure));
  if (a.requests != b.requests || (a.next_failure && b.next_failure)) return;
  const bool is_b = a.next_failure.has_value();
  const HeapAt& other = is_b ? at_b : at_a;
  const Stream& stream = other.trace.streams[other.heap.stream];
  const auto in_all = count_requests(stream, other.heap.heap, stream.end_position(), control);
  const bool has_next = in_all && *in_all > (is_b ? b : a).requests;
  sentences.push_back(fmt::format("{} {}.", is_b ? "B" : "A", has_next ? "serves its next request" : "ends before it"));
}

void say_progress(const HeapFacts& a, const HeapFacts& b, std::vector<std::string>& sentences) {
  if (a.requests == b.requests) {
    sentences.push_back(fmt::format("Both have handled {}.", text_from_count_of(a.requests, "request")));
    return;
  }
  const bool is_a_behind = a.requests < b.requests;
  const HeapFacts& behind = is_a_behind ? a : b;
  sentences.push_back(fmt::format("A: {} so far; B: {}{}.", text_from_count_of(a.requests, "request"),
                                  text_from_count(b.requests),
                                  behind.ends_here ? fmt::format(", where {} ends", is_a_behind ? "A" : "B") : ""));
}

// "B takes 1.50 GiB more of the device than A: 9.00 GiB, 7.50 GiB."
std::string more_of(std::string_view what, std::uint64_t a, std::uint64_t b) {
  const TextPair both = texts_from_bytes(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  if (a == b) return fmt::format("{}: {} in both.", what, both.first);
  const std::string apart = text_from_bytes(static_cast<std::int64_t>(std::max(a, b) - std::min(a, b)));
  return fmt::format("{}: A {}, B {} ({} {} in B).", what, both.first, both.second, apart, b > a ? "more" : "less");
}

void say_bytes(const HeapFacts& a, const HeapFacts& b, std::vector<std::string>& sentences) {
  if (a.row.pool_bytes && b.row.pool_bytes)
    sentences.push_back(more_of("Reserved by the pool", *a.row.pool_bytes, *b.row.pool_bytes));
  sentences.push_back(more_of("In use", a.row.in_use_bytes, b.row.in_use_bytes));
  if (a.row.requested_bytes && a.row.requested_bytes == b.row.requested_bytes &&
      a.row.in_use_bytes != b.row.in_use_bytes)
    sentences.push_back("The program requested the same in both; the difference is rounding.");
}

void say_inexact(const HeapFacts& a, const HeapFacts& b, std::vector<std::string>& sentences) {
  const auto is_peak_alone = [](const HeapFacts& facts) { return facts.row.is_peak_inexact && !facts.row.is_inexact; };
  if (is_peak_alone(a) || is_peak_alone(b))
    sentences.push_back(
        fmt::format("{} inexact: events were lost or contradict each other, or the sizes of some blocks "
                    "are not certain.",
                    is_peak_alone(a) && is_peak_alone(b) ? "Both peaks are"
                    : is_peak_alone(a)                   ? "The peak of A is"
                                                         : "The peak of B is"));
  if (!a.row.is_inexact && !b.row.is_inexact) return;
  const bool is_both = a.row.is_inexact && b.row.is_inexact;
  sentences.push_back(fmt::format(
      "Events of {} were lost: {} requests, memory in use and free memory are computed from the remaining events.",
      is_both            ? "both"
      : a.row.is_inexact ? "A"
                         : "B",
      is_both ? "their" : "its"));
}

std::string fit_of(const char* name, const HeapFacts& facts) {
  if (facts.row.is_inexact) return fmt::format("{} unknown", name);
  if (!facts.row.largest_free_bytes) return fmt::format("{} unknown", name);
  if (*facts.row.largest_free_bytes == 0) return fmt::format("{} none", name);
  return fmt::format("{} {}", name, text_from_bytes(*facts.row.largest_free_bytes));
}

void say_what_fits(const HeapFacts& a, const HeapFacts& b, std::vector<std::string>& sentences) {
  if (!a.row.largest_free_bytes && !b.row.largest_free_bytes) return;
  std::string words = fmt::format("Largest free block: {}; {}.", fit_of("A", a), fit_of("B", b));
  const auto share = [](const HeapFacts& facts) { return facts.row.external_fragmentation; };
  const bool is_exact = !a.row.is_inexact && !b.row.is_inexact;
  if (is_exact && share(a) && share(b) && std::abs(*share(a) - *share(b)) >= 0.05)
    words += fmt::format(" {} is more fragmented: {} of its free bytes are outside its largest free block; {} has {}.",
                         *share(a) > *share(b) ? "A" : "B", text_from_fraction(std::max(*share(a), *share(b)), 0),
                         *share(a) > *share(b) ? "B" : "A", text_from_fraction(std::min(*share(a), *share(b)), 0));
  sentences.push_back(std::move(words));
}

}  // namespace

std::optional<HeapComparison> compare_heaps(const HeapAt& at_a, const HeapAt& at_b, PassControl* control) {
  const auto a = facts_of(at_a, control), b = facts_of(at_b, control);
  if (!a || !b) return std::nullopt;
  HeapComparison answer{a->row, b->row, rows_of(*a, *b), {}};
  say_inexact(*a, *b, answer.sentences);
  say_next_failure(at_a, *a, at_b, *b, answer.sentences, control);
  say_failures(at_a, *a, at_b, *b, answer.sentences);
  say_progress(*a, *b, answer.sentences);
  say_bytes(*a, *b, answer.sentences);
  say_what_fits(*a, *b, answer.sentences);
  return answer;
}

}  // namespace hbmscope
