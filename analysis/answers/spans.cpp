// What the program's own markers say: each span, and the spans of each name, with the memory that they took.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/answers/answer_table.h"
#include "analysis/model/clamped.h"
#include "analysis/query/marked_spans.h"
#include "analysis/trace/device_labels.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

constexpr std::string_view left_meaning =
    "What its end has in use, less its beginning. Of the largest heap of its device, like the other figures.";
constexpr std::string_view most_meaning = "The most that was in use from its beginning to its end.";

// Unknown for a stream without heaps.
std::optional<std::int64_t> left_by(const MarkedSpan& span) {
  if (span.heap.empty() || span.end == nullptr) return std::nullopt;
  return clamped_difference(signed_from(span.end_bytes), signed_from(span.begin_bytes));
}

Action go_to(const Trace& trace, const MarkedSpan& span) {
  const Stream& stream = trace.streams[span.stream];
  const auto on_axis = [&](std::uint64_t event, std::int64_t time_ns) {
    return stream.has_times() ? stream.since_start_ns(time_ns) : signed_from(event);
  };
  return {.kind = Action::Kind::go_to_span,
          .number = span.begin->event,
          .stream = static_cast<std::uint32_t>(span.stream),
          .end_number = span.end != nullptr ? span.end->event : stream.end_position(),
          .from = on_axis(span.begin->event, span.begin->time_ns),
          .until = span.end != nullptr ? on_axis(span.end->event, span.end->time_ns)
                                       : on_axis(stream.end_position(), stream.last_time_ns())};
}

struct NameSums {
  std::uint64_t count = 0, most_bytes = 0;
  std::optional<std::int64_t> sum_ns, longest_ns, left_bytes;
  std::vector<std::int64_t> lengths_ns;
  std::vector<std::uint64_t> most_of_each;  // In use.
  bool has_heap = false;
  const MarkedSpan* highest = nullptr;  // The longest of those with the most in use.

  void add(const MarkedSpan& span, const Stream& stream) {
    ++count;
    has_heap |= !span.heap.empty();
    most_bytes = std::max(most_bytes, span.most_bytes);
    if (!span.heap.empty()) most_of_each.push_back(span.most_bytes);
    const auto height_of = [&](const MarkedSpan& one) { return std::pair(one.most_bytes, one.length_ns(stream)); };
    if (highest == nullptr || height_of(span) > height_of(*highest)) highest = &span;
    if (const auto ns = span.length_ns(stream)) {
      sum_ns = clamped_sum(sum_ns.value_or(0), *ns);
      longest_ns = std::max(longest_ns.value_or(0), *ns);
      lengths_ns.push_back(*ns);
    }
    if (const auto left = left_by(span)) left_bytes = clamped_sum(left_bytes.value_or(0), *left);
  }
};

// The lower one of two in the middle.
template <class T>
std::optional<T> median_of(std::vector<T> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Table table_of_names(const Trace& trace, const std::vector<MarkedSpan>& spans) {
  std::map<std::string, NameSums> by_name;
  std::vector<SpanNames> names;
  for (const Stream& stream : trace.streams) names.emplace_back(stream);
  for (const MarkedSpan& span : spans)
    by_name[names[span.stream].of(*span.begin)].add(span, trace.streams[span.stream]);
  std::vector<std::pair<std::string, NameSums>> sorted(by_name.begin(), by_name.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.sum_ns, a.second.count) > std::pair(b.second.sum_ns, b.second.count);
  });
  std::vector<std::vector<Value>> cells;
  std::vector<Action> actions;
  for (const auto& [name, sums] : sorted) {
    actions.push_back(go_to(trace, *sums.highest));
    const auto mean = sums.sum_ns ? std::optional(*sums.sum_ns / static_cast<std::int64_t>(sums.count)) : std::nullopt;
    cells.push_back({name, sums.count, value_of(sums.sum_ns), value_of(mean), value_of(median_of(sums.lengths_ns)),
                     value_of(sums.longest_ns), sums.has_heap ? Value(sums.most_bytes) : Value(),
                     value_of(median_of(sums.most_of_each)), value_of(sums.left_bytes)});
  }
  return {.key = "spans_by_name",
          .title = "Spans by name",
          .note = "Numbers that don't repeat are left out of names.",
          .columns = {{.key = "name", .title = "Name"},
                      {.key = "count", .title = "Spans", .unit = Unit::count},
                      {.key = "total_ns", .title = "Together", .unit = Unit::nanoseconds},
                      {.key = "mean_ns", .title = "Average", .unit = Unit::nanoseconds, .rank = 2},
                      {.key = "median_ns", .title = "Median", .unit = Unit::nanoseconds, .rank = 1},
                      {.key = "longest_ns", .title = "Longest", .unit = Unit::nanoseconds, .rank = 2},
                      {.key = "most_bytes", .title = "Most in use", .unit = Unit::bytes, .meaning = most_meaning},
                      {.key = "median_most_bytes",
                       .title = "Median of that",
                       .unit = Unit::bytes,
                       .meaning = "Of the most in use of each span: half of them had no more.",
                       .rank = 1},
                      {.key = "left_bytes",
                       .title = "Left behind",
                       .unit = Unit::bytes,
                       .meaning = left_meaning,
                       .is_change = true}},
          .rows = std::move(cells),
          .action = [actions = std::move(actions)](std::size_t row) { return actions[row]; }};
}

struct SpanRows {
  const Trace& trace;
  std::vector<MarkedSpan> spans;
  std::vector<std::vector<std::string>> devices;  // By stream and heap.

  Value cell(std::size_t row, std::size_t column) const {
    const MarkedSpan& span = spans[row];
    const Stream& stream = trace.streams[span.stream];
    switch (column) {
      case 0: return std::string(stream.definitions().text(span.begin->name));
      case 1: return stream.has_times() ? Value(stream.since_start_ns(span.begin->time_ns)) : Value();
      case 2: return value_of(span.length_ns(stream));
      case 3: return span.heap.empty() ? Value() : Value(span.begin_bytes);
      case 4: return span.heap.empty() ? Value() : Value(span.most_bytes);
      case 5: return value_of(left_by(span));
      case 6: return span.heap.empty() ? Value() : value_of(devices[span.stream][span.heap.heap]);
      case 7: return span.begin->event;
      default: return span.end == nullptr ? Value() : Value(span.end->event);
    }
  }
};

Result<Document> describe_spans(const AnswerInput& input) {
  Document document;
  auto spans = find_marked_spans(*input.trace, input.control);
  if (!spans) return Failure(refusal("it was cancelled", "Ask again."));
  if (spans->empty()) {
    document.add(Absent{"spans_by_name"}).add(Absent{"spans"});
    if (input.has("--spans"))
      document.add(Sentence{.text = "The program marked no spans (NVTX, annotations).", .audience = Audience::readers});
    return document;
  }
  document.add(table_of_names(*input.trace, *spans));
  const auto rows = std::make_shared<const SpanRows>(
      SpanRows{*input.trace, std::move(*spans),
               find_device_labels(*input.trace, find_heap_labels(*input.trace, HeapLabels::parts))});
  Table table{
      .key = "spans",
      .title = "Spans",
      .columns = {{.key = "name", .title = "Name"},
                  {.key = "begin_ns", .title = "Begins", .unit = Unit::fine_time},
                  {.key = "length_ns", .title = "Lasts", .unit = Unit::nanoseconds},
                  {.key = "begin_bytes",
                   .title = "In use before",
                   .unit = Unit::bytes,
                   .meaning = "Of the largest heap of its device, like the other figures.",
                   .rank = 1},
                  {.key = "most_bytes", .title = "Most in use", .unit = Unit::bytes, .meaning = most_meaning},
                  {.key = "left_bytes",
                   .title = "Left behind",
                   .unit = Unit::bytes,
                   .meaning = left_meaning,
                   .is_change = true},
                  {.key = "device", .title = "Device", .rank = 3},
                  {.key = "begin_event", .title = "Event", .unit = Unit::count, .rank = 2, .is_dim = true},
                  {.key = "end_event", .unit = Unit::count}},
      .rows = Rows(rows->spans.size(), [rows](std::size_t row, std::size_t column) { return rows->cell(row, column); }),
      .action = [rows](std::size_t row) { return go_to(rows->trace, rows->spans[row]); }};
  limit_rows(table, input.top, "--top 0 prints all", false);
  document.add(std::move(table));
  return document;
}

}  // namespace

constinit const AnswerRow spans_answer{
    .name = "spans",
    .title = "Spans",
    .help = "The program's spans (NVTX, annotations): time, most in use, what each left behind",
    .flag = "--spans",
    .needs_trace = true,
    .describe = describe_spans,
};

}  // namespace hbmscope
