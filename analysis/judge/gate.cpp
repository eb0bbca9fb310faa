#include "analysis/judge/gate.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "allocator/reference/interface/fragmentation.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/growth.h"
#include "analysis/model/clamped.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/log_headline.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

constexpr WhereField trace_fields[] = {
    {"peak", FieldKind::bytes, "the most bytes in use", {}},
    {"in_use", FieldKind::bytes, "bytes in use at the end", {}},
    {"pool", FieldKind::bytes, "what the heap has from the driver, at the end", {}},
    {"limit", FieldKind::bytes, "the limit of the pool", {}},
    {"largest_free", FieldKind::bytes, "the largest free block at the end", {}},
    {"fragmentation", FieldKind::percent, "external fragmentation at the end", {}},
    {"margin",
     FieldKind::bytes,
     "the limit, or the device's memory, minus the peak; of a dry run, what it had to spare",
     {}},
    {"growth_per_step", FieldKind::bytes, "the median growth of the bytes in use between marked steps", {}},
    {"failures", FieldKind::count, "requests that ran out of memory", {}},
    {"verdict", FieldKind::text, "why the first of them failed, as explain says", {}},
    {"heap", FieldKind::text, "the heap's name", {}},
    {"device", FieldKind::text, "its device", {}}};

// With unknown figures, a condition may be neither true nor false.
enum class Truth : std::uint8_t { no, unknown, yes };

Truth truth_of(const WhereTerm& term, const WhereField& field, const GateSubject& subject) {
  if (field.kind != FieldKind::text) {
    const double* number = subject.number(field.name);
    return number == nullptr ? Truth::unknown : term.matches_number(*number) ? Truth::yes : Truth::no;
  }
  const std::string* text = subject.text(field.name);
  if (text == nullptr || text->empty()) return Truth::unknown;
  const bool matches = field.name == "device" ? term.matches_device(*text) : term.matches_text(*text);
  return matches ? Truth::yes : Truth::no;
}

Truth truth_of(const WhereNode& node, std::span<const WhereField> fields, const GateSubject& subject) {
  if (node.kind == WhereNode::Kind::term) return truth_of(node.term, fields[node.term.field], subject);
  Truth least = Truth::yes, most = Truth::no;
  for (const WhereNode& child : node.children) {
    const Truth truth = truth_of(child, fields, subject);
    least = std::min(least, truth);
    most = std::max(most, truth);
  }
  switch (node.kind) {
    case WhereNode::Kind::any_of: return most;
    case WhereNode::Kind::none_of:
      return most == Truth::yes ? Truth::no : most == Truth::no ? Truth::yes : Truth::unknown;
    default: return least;
  }
}

// A condition that chooses a heap, a device or a setting that is not there would never be true.
Result<void> check_choice(const WhereNode& where, std::span<const WhereField> fields,
                          const std::vector<GateSubject>& subjects) {
  constexpr std::string_view choosing[] = {"heap", "device", "target", "setting"};
  std::string fault;
  for_each_term(where, [&](const WhereTerm& term) {
    const WhereField& field = fields[term.field];
    const bool chooses = std::find(std::begin(choosing), std::end(choosing), field.name) != std::end(choosing);
    const bool is_there = std::any_of(subjects.begin(), subjects.end(), [&](const GateSubject& subject) {
      return truth_of(term, field, subject) == Truth::yes;
    });
    if (!chooses || is_there || !fault.empty()) return;
    fault = fmt::format("--fail-if: no {} here is '{}' (there are:", field.name, printable(term.text));
    for (const GateSubject& subject : subjects)
      if (const std::string* text = subject.text(field.name); text != nullptr && !text->empty())
        fault += " " + printable(*text) + ",";
    fault.back() = ')';
  });
  if (fault.empty()) return {};
  return Failure(refusal(fault, "Choose one of these."));
}

std::string text_from_figure(const GateSubject& subject, const WhereField& field) {
  if (const std::string* text = subject.text(field.name)) return fmt::format("{} {}", field.name, printable(*text));
  const double* number = subject.number(field.name);
  if (number == nullptr) return fmt::format("{} unknown", field.name);
  if (field.kind == FieldKind::percent) return fmt::format("{} {:.1f} %", field.name, *number);
  if (field.kind == FieldKind::bytes)
    return fmt::format("{} {}", field.name, text_from_value(static_cast<std::int64_t>(*number), "bytes"));
  return fmt::format("{} {}", field.name, text_from_count(static_cast<std::int64_t>(*number)));
}

std::string_view verdict_of(const Trace& trace, HeapKey heap) {
  for (const FailedRequest& failed : find_failed_requests(trace))
    if (failed.stream == heap.stream && trace.streams[heap.stream].failures()[failed.index].heap == heap.heap)
      return text_from_cause(diagnose(trace, failed, Depth::without_replays).cause.cause);
  return "none";
}

// What contexts and others take of the device outside of the pool, as far as a failure says it.
std::uint64_t outside_pool(const Stream& stream, std::uint32_t heap, std::uint64_t device) {
  for (const FailureEvent& failure : stream.failures()) {
    if (failure.heap != heap || !failure.is_out_of_memory) continue;
    const StreamState state = stream.state_at(failure.event);
    const FailureRow row = row_from_failure(stream, failure, &state);
    if (!row.pool_bytes || !row.available_bytes) continue;
    return device - std::min(device, clamped_sum(*row.pool_bytes, *row.available_bytes));
  }
  return 0;
}

// The verdict takes a diagnosis, and the growth a walk over steps: only where they are asked for.
std::vector<GateSubject> subjects_of(const Trace& trace, bool with_verdict, bool with_growth) {
  std::vector<GateSubject> subjects;
  const auto states = compute_states(trace, *find_moment(trace, "end"));
  const auto counts = find_counted_heaps(trace);
  const bool sees_failures = why_no_failure_is_seen(trace).empty();
  for (const HeapRow& row : compute_heap_rows(trace, states)) {
    const std::uint32_t heap = row.heap;
    const Stream& stream = trace.streams[row.stream];
    if (!counts[row.stream][heap]) continue;
    GateSubject& subject = subjects.emplace_back(row.label);
    subject.set("heap", row.name);
    subject.set("device",
                !row.device_name.empty() || !row.device ? row.device_name : fmt::format("GPU {}", *row.device));
    const std::uint64_t position = stream.end_position();
    const auto limit = find_limit_bytes(stream, heap, position), device = find_device_bytes(stream, heap, position);
    subject.set("peak", row.peak_in_use_bytes);
    if (!row.is_in_use_unknown) subject.set("in_use", row.in_use_bytes);
    subject.set("pool", row.pool_bytes);
    subject.set("limit", limit);
    subject.set("largest_free", row.largest_free_bytes);
    if (row.free_bytes && row.largest_free_bytes)
      subject.set("fragmentation",
                  100 * external_fragmentation_of(*row.free_bytes, *row.largest_free_bytes).value_or(0));
    if (const auto margin = row.device ? find_dry_run_margin(stream, *row.device) : std::nullopt) {
      subject.set("margin", *margin);
    } else if (const auto most = limit ? limit : device) {
      const std::uint64_t others = limit ? 0 : outside_pool(stream, heap, *device);
      subject.set("margin", static_cast<double>(*most - others) - static_cast<double>(row.peak_in_use_bytes));
    }
    const auto& failures = stream.failures();
    const auto failed = std::count_if(failures.begin(), failures.end(), [&](const FailureEvent& one) {
      return one.is_out_of_memory && one.heap == heap;
    });
    if (failed > 0 || sees_failures) subject.set("failures", failed);
    const HeapKey key{static_cast<std::uint32_t>(row.stream), heap};
    if (with_verdict) subject.set("verdict", std::string(verdict_of(trace, key)));
    if (with_growth)
      if (const auto growth = find_growth(trace, key, states[row.stream], LoopEnd::any))
        subject.set("growth_per_step", growth->bytes_per_step);
  }
  if (subjects.empty() && is_of_log(trace)) {  // It was read to its end, and says nothing of any memory.
    GateSubject& log = subjects.emplace_back("the log");
    log.set("failures", std::int64_t{0});
    log.set("verdict", std::string("none"));
  }
  return subjects;
}

}  // namespace

const double* GateSubject::number(std::string_view field) const {
  const auto found = figures_.find(field);
  return found == figures_.end() ? nullptr : std::get_if<double>(&found->second);
}

const std::string* GateSubject::text(std::string_view field) const {
  const auto found = figures_.find(field);
  return found == figures_.end() ? nullptr : std::get_if<std::string>(&found->second);
}

std::optional<std::int64_t> find_growth_per_step(const Trace& trace, std::uint32_t device) {
  const auto states = compute_states(trace, *find_moment(trace, "end"));
  const auto counts = find_counted_heaps(trace);
  std::optional<std::int64_t> most;
  for (const HeapRow& row : compute_heap_rows(trace, states)) {
    if (!counts[row.stream][row.heap] || row.device != device) continue;
    const HeapKey key{static_cast<std::uint32_t>(row.stream), row.heap};
    if (const auto growth = find_growth(trace, key, states[row.stream], LoopEnd::any))
      most = std::max(most.value_or(growth->bytes_per_step), growth->bytes_per_step);
  }
  return most;
}

Result<std::optional<std::string>> find_gate_failure(const std::string& expression, std::span<const WhereField> fields,
                                                     const std::vector<GateSubject>& subjects) {
  if (expression.empty()) return std::nullopt;
  const auto where = parse_where(expression, fields);
  if (!where) return Failure(where.error());
  std::vector<std::size_t> used;
  for_each_term(*where, [&](const WhereTerm& term) {
    if (std::find(used.begin(), used.end(), term.field) == used.end()) used.push_back(term.field);
  });
  if (used.empty()) return Failure(refusal("--fail-if has no condition", "Write one, e.g. 'peak>40GiB'."));
  if (subjects.empty())
    return Failure(refusal("--fail-if: there is nothing to check", "Nothing here has used device memory."));
  if (const auto chosen = check_choice(*where, fields, subjects); !chosen) return Failure(chosen.error());
  for (const GateSubject& subject : subjects) {
    const Truth truth = truth_of(*where, fields, subject);
    if (truth == Truth::no) continue;
    const std::string of = subject.name().empty() ? "" : " for " + printable(subject.name());
    std::string figures;
    for (const std::size_t field : used)
      figures += (figures.empty() ? "" : ", ") + text_from_figure(subject, fields[field]);
    if (truth == Truth::unknown)
      return Failure(refusal(
          fmt::format("--fail-if: whether {} is true{} is unknown: {}", expression, of, figures),
          figures.find("growth_per_step unknown") == std::string::npos
              ? "Use a source that says it, or another condition."
              : fmt::format(
                    "Growth needs at least {} steps: run more of them. Where neither an optimizer of PyTorch nor a "
                    "compiled program of JAX begins one, hbmscope.mark('step') does.",
                    steps_min)));
    return fmt::format("--fail-if: {} is true{}: {}", expression, of, figures);
  }
  return std::nullopt;
}

std::span<const WhereField> trace_gate_fields() {
  return trace_fields;
}

Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const Trace& trace) {
  if (expression.empty()) return std::nullopt;
  const auto where = parse_where(expression, trace_fields);
  if (!where) return Failure(where.error());
  bool with_verdict = false, with_growth = false;
  for_each_term(*where, [&](const WhereTerm& term) {
    with_verdict |= trace_fields[term.field].name == "verdict";
    with_growth |= trace_fields[term.field].name == "growth_per_step";
  });
  return find_gate_failure(expression, trace_fields, subjects_of(trace, with_verdict, with_growth));
}

}  // namespace hbmscope
