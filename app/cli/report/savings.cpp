#include "app/cli/report/savings.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/answers/savings.h"
#include "analysis/diagnose/savings_pool.h"
#include "analysis/document/text.h"
#include "analysis/judge/gate.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t pool_sites_max = 64;  // Each is a replay of all requests.

constexpr WhereField savings_gate_fields[] = {{"site", FieldKind::text, "the line, function, category or tag", {}},
                                              {"peak", FieldKind::bytes, "the peak of the heap", {}},
                                              {"saves", FieldKind::bytes, "what the peak falls without the site", {}},
                                              {"held", FieldKind::bytes, "what the site holds at the peak", {}}};

std::vector<GateSubject> subjects_of(const SavingsReport& report) {
  std::vector<GateSubject> subjects;
  for (const SiteSaving& row : report.savings.sites) {
    GateSubject& subject = subjects.emplace_back(text_from_site(row.site));
    subject.set("site", subject.name());
    subject.set("peak", report.savings.peak.in_use_bytes);
    subject.set("saves", row.saves_bytes);
    subject.set("held", row.bytes_at_peak);
  }
  return subjects;
}

// A heap with a history; without one there is no other time that could have the next peak.
Result<HeapKey> find_heap_with_history(const Source& source, const std::string& name) {
  constexpr std::string_view remedy =
      "Use a recording, a PyTorch snapshot with history, a profiler's trace or an RMM log: they have what was "
      "allocated and freed over time.";
  if (!source.trace)
    return Failure(refusal("a profile has the memory at one time only, so there is no next peak", std::string(remedy)));
  const auto heap = name.empty() ? choose_heap(*source.trace, {}) : find_heap(*source.trace, name);
  if (!heap) return heap;
  if (heap->empty()) return Failure(refusal("no heap of this trace ever held anything", {}));
  const Stream& stream = source.trace->streams[heap->stream];
  if (stream.timeline(heap->heap).changes() < 2)
    return Failure(refusal("this file has the memory of that heap at one time only, so there is no next peak",
                           std::string(remedy)));
  if (stream.peak(heap->heap).in_use_bytes == 0) return Failure(refusal("nothing was ever in use on that heap", {}));
  return heap;
}

Result<std::optional<std::uint64_t>> parse_lower_by(const std::string& text) {
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto bytes = parse_bytes(text);
  if (!bytes) return Failure(bytes.error());
  if (*bytes <= 0) return Failure(refusal(fmt::format("--lower-by {} is no size above 0", text), "Write 500MiB."));
  return std::optional(static_cast<std::uint64_t>(*bytes));
}

}  // namespace

int run_savings(const SavingsOptions& options) {
  const auto lower_by = parse_lower_by(options.lower_by);
  if (!lower_by) return fail(lower_by.error());
  const auto source = load_merged(options.files, {options.max_size, {}, {}});
  if (!source) return fail(source.error());
  const auto heap = find_heap_with_history(*source, options.heap);
  if (!heap) return fail(heap.error());
  const SiteWords& words = *find_site_words(options.by);
  PassControl control;
  std::optional<Savings> savings;
  {
    const ProgressLine progress("Savings", control);
    savings = compute_savings(*source->trace, *heap, {words.by, *lower_by}, &control);
  }
  if (*lower_by > savings->peak.in_use_bytes)
    return fail(refusal(fmt::format("--lower-by {} is more than the peak, which is {}", options.lower_by,
                                    text_from_bytes(savings->peak.in_use_bytes)),
                        "Write a smaller size."));
  const auto labels = find_heap_labels(*source->trace, HeapLabels::streams);
  const std::size_t shown = options.top == 0 ? savings->sites.size() : std::min(options.top, savings->sites.size());
  std::optional<PoolSavings> pool;
  {
    const ProgressLine progress("Savings of the pool", control);
    // For all rows only where there are few.
    if (shown <= pool_sites_max)
      pool = compute_pool_savings(*source->trace, *heap, words.by, savings->sites, shown, control);
  }
  const SavingsReport report{*source->trace, *heap,      labels[heap->stream][heap->heap], words, *savings,
                             pool,           options.top};
  const Document document = describe_savings(report);
  const bool is_json = options.json || options.brief > 0;
  const Result<std::string> text = is_json ? text_from_answer(document, {}, options.brief)
                                           : text_from_document(document, Terminal::of_stdout().style());
  if (!text) return fail(text.error());
  return print_with_gate(*text, options.gate,
                         find_gate_failure(options.gate.condition, savings_gate_fields, subjects_of(report)));
}

}  // namespace hbmscope::cli
