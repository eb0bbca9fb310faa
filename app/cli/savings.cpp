#include "app/cli/savings.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/diagnose/savings_pool.h"
#include "analysis/judge/gate.h"
#include "analysis/query/profile_view.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t pool_sites_max = 64;  // Each is a replay of all requests.

// How a kind of site is called, and what the rest lacks.
struct SiteWords {
  std::string_view option, many, title, rest;
  SiteBy by;
};
constexpr SiteWords site_words[] = {
    {"line", "lines", "your code", "has no line of your code", SiteBy::line},
    {"function", "functions", "your function", "has no function of your code", SiteBy::function},
    {"category", "categories", "category", "has no known category", SiteBy::category},
    {"tag", "tags", "tag", "has no tag", SiteBy::tag}};

struct SavingsReport {
  const Trace& trace;
  HeapKey key;
  std::string heap;  // Its name.
  const SiteWords& words;
  const Savings& savings;
  const std::optional<PoolSavings>& pool;  // For the shown rows.
  std::size_t top;                         // 0: all.

  const Stream& stream() const { return trace.streams[key.stream]; }
  std::size_t shown() const { return top == 0 ? savings.sites.size() : std::min(top, savings.sites.size()); }
};

// Nothing if the source has no times, or if the point is before its first event.
std::optional<std::int64_t> since_start_ns(const Stream& stream, const UsePoint& point) {
  if (!stream.has_times() || point.position == 0) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(point.time_ns) -
                                   static_cast<std::uint64_t>(stream.first_time_ns()));
}

// "after 1,234 events, 12.500000 s"
std::string place_text(const Stream& stream, const UsePoint& point) {
  if (point.position == 0) return "at the start, before the first event";
  std::string text = "after " + text_from_count_of(point.position, "event");
  if (const auto ns = since_start_ns(stream, point)) text += ", " + seconds_text(*ns);
  return text;
}

// "2.10 GiB (after 1,234 events, 12.500000 s)"
std::string next_peak_text(const Stream& stream, const UsePoint& point) {
  const std::string bytes = text_from_bytes(point.in_use_bytes);
  return point.in_use_bytes == 0 ? bytes : fmt::format("{} ({})", bytes, place_text(stream, point));
}

std::string short_site_text(const Site& site) {
  if (!site.has_frame()) return printable(site.name);
  const std::string file = printable(file_title(site.file));
  return site.line > 0 ? fmt::format("{}:{}", file, site.line) : fmt::format("{} ({})", printable(site.function), file);
}
std::string site_text(const Site& site) {
  if (!site.has_frame() || site.line == 0) return short_site_text(site);
  return printable(site.function) + "  " + short_site_text(site);
}

std::string savings_head_text(const SavingsReport& report) {
  const Savings& savings = report.savings;
  std::string text = fmt::format("The peak of {} is {} ({}).", printable(report.heap),
                                 text_from_bytes(savings.peak.in_use_bytes), place_text(report.stream(), savings.peak));
  if (savings.is_inexact) text += " It is inexact: events were lost, or sizes or a part of the history are unknown.";
  const SiteSaving *best = nullptr, *most = nullptr;
  for (const SiteSaving& row : savings.sites) {
    if (!row.site.can_change) continue;
    if (best == nullptr) best = &row;
    if (most == nullptr || row.bytes_at_peak > most->bytes_at_peak) most = &row;
  }
  if (best == nullptr) return text + fmt::format(" What it holds {}.", report.words.rest);
  const std::string held = fmt::format("{} ({})", short_site_text(most->site), text_from_bytes(most->bytes_at_peak));
  const std::string most_text = fmt::format("the {} that holds the most at the peak", report.words.option);
  if (best->saves_bytes == 0)
    return text + fmt::format(" No {} lowers it alone. Without {}, {}, the next peak is as high, {}.",
                              report.words.option, most_text, held, place_text(report.stream(), most->next_peak));
  text +=
      fmt::format(" Removing {} would lower it by {}", short_site_text(best->site), text_from_bytes(best->saves_bytes));
  if (most == best) return text + fmt::format("; it is also {} ({}).", most_text, text_from_bytes(most->bytes_at_peak));
  return text + fmt::format("; {}, {}, would save {}: the next peak is {}.", most_text, held,
                            text_from_bytes(most->saves_bytes), place_text(report.stream(), most->next_peak));
}

std::string savings_table(const SavingsReport& report, const std::vector<SiteSaving>& sites, std::size_t shown,
                          const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows;
  // Known of the rows themselves, not of those of a set.
  const PoolSavings* pool = report.pool && &sites == &report.savings.sites ? &*report.pool : nullptr;
  for (const SiteSaving& row : sites) {
    if (rows.size() == shown) break;
    const auto ns = since_start_ns(report.stream(), row.next_peak);
    const bool has_peak = row.next_peak.in_use_bytes > 0;
    rows.push_back({text_from_bytes(row.saves_bytes), text_from_bytes(row.next_peak.in_use_bytes),
                    has_peak ? text_from_position(report.trace, report.key.stream, row.next_peak.position) : "–",
                    ns ? seconds_text(*ns) : std::string(), text_from_bytes(row.bytes_at_peak), site_text(row.site)});
    if (pool != nullptr)
      rows.back().insert(rows.back().begin() + 1, text_from_value(pool->saves_bytes[rows.size() - 1], "bytes"));
  }
  std::vector<TextColumn> columns = {{"saves", true}, {"next peak", true},        {"at", true},
                                     {"time", true},  {"held at the peak", true}, {report.words.title, false}};
  if (pool != nullptr) columns.insert(columns.begin() + 1, {"of the pool", true});
  return text_from_columns(columns, rows, terminal.style());
}

std::string savings_set_text(const SavingsReport& report, const SavingsSet& set, const Terminal& terminal) {
  const SiteWords& words = report.words;
  const std::string wanted = text_from_bytes(set.wanted_bytes), saved = text_from_bytes(set.saves_bytes);
  const std::string next = next_peak_text(report.stream(), set.next_peak);
  if (!set.is_reached)
    return fmt::format(
        "\nThe peak can't fall by {}: without all {} together it would fall by {}, to {}. "
        "The rest {}.\n",
        wanted, words.many, saved, next, words.rest);
  const bool is_one = set.sites.size() == 1;
  std::string text =
      fmt::format("\nRemoving {} would lower the peak by {}, to {}.",
                  is_one ? fmt::format("this {}", words.option)
                         : fmt::format("these {} {} together", text_from_count(set.sites.size()), words.many),
                  saved, next);
  if (!set.is_smallest)
    text += fmt::format(" They were chosen one by one: fewer {} may be enough.", words.many);
  else if (is_one)
    text += fmt::format(" No other {} that saves {} holds less at the peak.", words.option, wanted);
  else
    text += fmt::format(" Fewer {} can't save {}.", words.many, wanted);
  return text + "\n\n" + savings_table(report, set.sites, set.sites.size(), terminal);
}

std::string savings_text(const SavingsReport& report, const Terminal& terminal) {
  std::string text =
      savings_head_text(report) + "\n\n" + savings_table(report, report.savings.sites, report.shown(), terminal);
  if (report.shown() < report.savings.sites.size())
    text += terminal.paint(fmt::format("{} of {} {}; --top 0 prints all", report.shown(),
                                       text_from_count(report.savings.sites.size()), report.words.many),
                           Ink::dim) +
            "\n";
  if (report.pool && report.shown() > 0)
    text += fmt::format("The pool's peak is {} in a replay of all requests ({}).\n",
                        text_from_bytes(report.pool->peak_pool_bytes), text_from_confidence(report.pool->confidence));
  if (report.savings.set) text += savings_set_text(report, *report.savings.set, terminal);
  return text;
}

nlohmann::ordered_json json_from_site(const Site& site) {
  if (!site.has_frame()) return {{"name", valid_utf8(site.name)}};
  nlohmann::ordered_json json = {{"function", valid_utf8(site.function)}, {"file", valid_utf8(site.file)}};
  if (site.line > 0) json["line"] = site.line;
  return json;
}
nlohmann::ordered_json json_from_saving(const Stream& stream, const SiteSaving& row,
                                        std::optional<std::int64_t> saves_pool_bytes = {}) {
  return {{"site", json_from_site(row.site)},
          {"bytes_at_peak", row.bytes_at_peak},
          {"saves_bytes", row.saves_bytes},
          {"saves_pool_bytes", or_null(saves_pool_bytes)},
          {"next_peak_bytes", row.next_peak.in_use_bytes},
          {"next_peak_event", row.next_peak.position},
          {"next_peak_since_start_ns", or_null(since_start_ns(stream, row.next_peak))}};
}

nlohmann::ordered_json json_from_savings(const SavingsReport& report) {
  const Savings& savings = report.savings;
  nlohmann::ordered_json json = {
      {"schema", json_schema},
      {"heap", valid_utf8(report.heap)},
      {"by", report.words.option},
      {"peak_bytes", savings.peak.in_use_bytes},
      {"peak_event", savings.peak.position},
      {"peak_since_start_ns", or_null(since_start_ns(report.stream(), savings.peak))},
      {"peak_is_inexact", savings.is_inexact},
      {"peak_pool_bytes",
       report.pool ? nlohmann::ordered_json(report.pool->peak_pool_bytes) : nlohmann::ordered_json(nullptr)},
      {"pool_figures", report.pool ? nlohmann::ordered_json(text_from_confidence(report.pool->confidence))
                                   : nlohmann::ordered_json(nullptr)},
      {"sites", savings.sites.size()},
      {"savings", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < report.shown(); ++i)
    json["savings"].push_back(json_from_saving(
        report.stream(), savings.sites[i], report.pool ? std::optional(report.pool->saves_bytes[i]) : std::nullopt));
  if (!savings.set) return json;
  const SavingsSet& set = *savings.set;
  nlohmann::ordered_json& lower = json["lower_by"];
  lower = {{"wanted_bytes", set.wanted_bytes},
           {"is_reached", set.is_reached},
           {"is_smallest", set.is_smallest},
           {"saves_bytes", set.saves_bytes},
           {"next_peak_bytes", set.next_peak.in_use_bytes},
           {"next_peak_event", set.next_peak.position},
           {"next_peak_since_start_ns", or_null(since_start_ns(report.stream(), set.next_peak))},
           {"savings", nlohmann::ordered_json::array()}};
  for (const SiteSaving& row : set.sites) lower["savings"].push_back(json_from_saving(report.stream(), row));
  return json;
}

constexpr WhereField savings_gate_fields[] = {{"site", FieldKind::text, "the line, function, category or tag", {}},
                                              {"peak", FieldKind::bytes, "the peak of the heap", {}},
                                              {"saves", FieldKind::bytes, "what the peak falls without the site", {}},
                                              {"held", FieldKind::bytes, "what the site holds at the peak", {}}};

std::vector<GateSubject> subjects_of(const SavingsReport& report) {
  std::vector<GateSubject> subjects;
  for (const SiteSaving& row : report.savings.sites) {
    GateSubject& subject = subjects.emplace_back(site_text(row.site));
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
  const SiteWords& words = *std::find_if(std::begin(site_words), std::end(site_words),
                                         [&](const SiteWords& one) { return one.option == options.by; });
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
  const std::string text =
      options.json ? text_from_json(json_from_savings(report)) : savings_text(report, Terminal::of_stdout());
  return print_with_gate(text, options.gate,
                         find_gate_failure(options.gate.condition, savings_gate_fields, subjects_of(report)));
}

}  // namespace hbmscope::cli
