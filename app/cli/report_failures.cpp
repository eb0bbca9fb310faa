#include "app/cli/report_failures.h"

#include <fmt/format.h>

#include "analysis/answers/failure.h"
#include "analysis/document/json.h"
#include "analysis/query/pending_requests.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope::cli {
namespace {

// A job that catches its failures may have a million, and each needs a walk over its heap.
constexpr std::size_t failures_with_facts = 32;

}  // namespace

std::vector<ShownFailure> find_failures(const Trace& trace) {
  std::vector<ShownFailure> failures;
  for (FailureRow& row : compute_failure_rows(trace)) failures.push_back({std::move(row), 0, 0});
  std::size_t number = 0;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream)
    for (std::size_t i = 0; i < trace.streams[stream].failures().size(); ++i) {
      if (!trace.streams[stream].failures()[i].is_out_of_memory) continue;
      failures[number].stream = stream;
      failures[number++].index = i;
    }
  return failures;
}

std::string text_from_failure(const Trace& trace, const ShownFailure& failure, const Terminal& terminal) {
  const Diagnosis diagnosis = diagnose(trace, {failure.stream, failure.index}, Depth::brief);
  return text_from_document(describe_failure(trace, diagnosis), terminal.style());
}

void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace) {
  const auto requests = find_failed_requests(trace);
  if (requests.empty()) return;
  const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
  std::size_t row = 0, others = 0;
  for (std::size_t number = 0; number < trace.streams.size(); ++number) {
    const auto& all = trace.streams[number].failures();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_out_of_memory) continue;
      const bool is_first = requests.front().stream == number && requests.front().index == i;
      const bool has_facts = is_first || i + failures_with_facts >= all.size();
      failures[row++].update(json_from_document(
          !has_facts ? describe_undiagnosed_failure()
                     : describe_failure(
                           trace, is_first ? first : diagnose(trace, {number, i}, depth_of_other(first, ++others)))));
    }
  }
}

void add_pending(nlohmann::ordered_json& failures, const Trace& trace) {
  for (const FailureRow& row : compute_pending_rows(trace)) {
    if (!row.is_pending) continue;
    auto json = json_from_document(describe_failure_row(row));
    json.update(json_from_document(describe_undiagnosed_failure()));
    failures.push_back(std::move(json));
  }
}

std::string text_from_pending(const Trace& trace) {
  std::string text;
  for (const FailureRow& row : compute_pending_rows(trace)) {
    text += fmt::format("{} (event {}): the driver refused", row.is_pending ? "Pending" : "Refused", row.event);
    if (row.requested_bytes > 0) text += " " + text_from_bytes(row.requested_bytes);
    if (!row.reason.empty()) text += " to " + printable(row.reason);
    if (row.available_bytes) text += fmt::format(" ({} was free on the device)", text_from_bytes(*row.available_bytes));
    text += row.is_pending
                ? ". No retry has followed yet, so it is not counted as a failure.\n"
                : "; no retry followed. The job may have gone on without it, so it is not counted as a failure.\n";
  }
  return text;
}

}  // namespace hbmscope::cli
