// The failures of a trace as a report has them: those that were explained, those of an emulated pool, refusals that may
// still be retried.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/failure.h"
#include "analysis/query/pending_requests.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string pending_text(const FailureRow& row) {
  std::string text =
      fmt::format("{} (event {}): the driver refused", row.is_pending ? "Pending" : "Refused", row.event);
  if (row.requested_bytes > 0) text += " " + text_from_bytes(row.requested_bytes);
  if (!row.reason.empty()) text += " to " + row.reason;
  if (row.available_bytes) text += fmt::format(" ({} was free on the device)", text_from_bytes(*row.available_bytes));
  return text + (row.is_pending
                     ? ". No retry has followed yet, so it is not counted as a failure."
                     : "; no retry followed. The job may have gone on without it, so it is not counted as a failure.");
}

void add_emulated_failures(Document& document, const Trace& trace) {
  constexpr std::size_t shown_max = 3;
  const auto emulated = find_failed_requests(trace, ExtraPools::only);
  const std::size_t first = emulated.size() - std::min(shown_max, emulated.size());
  if (first > 0)
    document.add(Sentence{.text = fmt::format("The last {} of {} failures:", shown_max, emulated.size())});
  for (std::size_t i = first; i < emulated.size(); ++i)
    document.add(describe_failure(trace, diagnose(trace, emulated[i], Depth::brief)));
}

Result<Document> describe_failure_answer(const AnswerInput& input) {
  const Trace& trace = *input.trace;
  Document document;
  if (input.is_for(Audience::programs)) {
    Documents failures = describe_failure_list(trace);
    for (const FailureRow& row : compute_pending_rows(trace))
      if (row.is_pending)
        failures.list.push_back(std::move(describe_failure_row(row).add(describe_undiagnosed_failure())));
    document.add(std::move(failures));
  }
  if (!input.is_for(Audience::readers)) return document;
  Document shown{.audience = Audience::readers};
  if (!find_failed_requests(trace).empty()) shown.add(describe_failures(trace, {}, input.control));
  add_emulated_failures(shown, trace);
  for (const FailureRow& row : compute_pending_rows(trace)) shown.add(Sentence{.text = pending_text(row)});
  document.add(std::move(shown));
  return document;
}

}  // namespace

Documents describe_failure_list(const Trace& trace) {
  // A job that catches its failures may have a million, and each needs a walk over its heap.
  constexpr std::size_t diagnosed_max = 32;
  Documents list{.key = "failures"};
  for (const FailureRow& row : compute_failure_rows(trace)) list.list.push_back(describe_failure_row(row));
  const auto requests = find_failed_requests(trace);
  if (requests.empty()) return list;
  const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
  std::size_t row = 0, others = 0;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream) {
    const auto& all = trace.streams[stream].failures();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_out_of_memory) continue;
      const bool is_first = requests.front().stream == stream && requests.front().index == i;
      const bool is_diagnosed = is_first || i + diagnosed_max >= all.size();
      list.list[row++].add(
          !is_diagnosed ? describe_undiagnosed_failure()
                        : describe_failure(trace, is_first ? first
                                                           : diagnose(trace, {stream, i},
                                                                      depth_of_other(first, ++others))));
    }
  }
  return list;
}

constinit const AnswerRow failures_answer{
    .name = "failures",
    .title = "Failures",
    .help = "Why requests for memory failed",
    .needs_trace = true,
    .view = "failure",
    .describe = describe_failure_answer,
};

}  // namespace hbmscope
