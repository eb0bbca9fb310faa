#include "analysis/answers/savings.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/profile_view.h"
#include "analysis/trace/moment.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

constexpr SiteWords site_words[] = {
    {"line", "lines", "Your code", "has no line of your code", SiteBy::line},
    {"function", "functions", "Your function", "has no function of your code", SiteBy::function},
    {"category", "categories", "Category", "has no known category", SiteBy::category},
    {"tag", "tags", "Tag", "has no tag", SiteBy::tag}};

const Stream& stream_of(const SavingsReport& report) {
  return report.trace.streams[report.key.stream];
}

// Nothing if the source has no times, or if the point is before its first event.
std::optional<std::int64_t> since_start_ns(const SavingsReport& report, const UsePoint& point) {
  const Stream& stream = stream_of(report);
  if (!stream.has_times() || point.position == 0) return std::nullopt;
  return stream.since_start_ns(point.time_ns);
}

// "after 1,234 events, 12.500 s"
std::string place_text(const SavingsReport& report, const UsePoint& point) {
  if (point.position == 0) return "at the start, before the first event";
  std::string text = "after " + text_from_count_of(point.position, "event");
  if (const auto ns = since_start_ns(report, point)) text += ", " + text_from_moment_ns(*ns);
  return text;
}

// "2.10 GiB (after 1,234 events, 12.500 s)"
std::string next_peak_text(const SavingsReport& report, const UsePoint& point) {
  const std::string bytes = text_from_bytes(point.in_use_bytes);
  return point.in_use_bytes == 0 ? bytes : fmt::format("{} ({})", bytes, place_text(report, point));
}

std::string short_site_text(const Site& site) {
  if (!site.has_frame()) return printable(site.name);
  const std::string file = printable(file_title(site.file));
  return site.line > 0 ? fmt::format("{}:{}", file, site.line) : fmt::format("{} ({})", printable(site.function), file);
}

std::string head_text(const SavingsReport& report) {
  const Savings& savings = report.savings;
  std::string text = fmt::format("The peak of {} is {} ({}).", printable(report.heap),
                                 text_from_bytes(savings.peak.in_use_bytes), place_text(report, savings.peak));
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
                              report.words.option, most_text, held, place_text(report, most->next_peak));
  text +=
      fmt::format(" Removing {} would lower it by {}", short_site_text(best->site), text_from_bytes(best->saves_bytes));
  if (most == best) return text + fmt::format("; it is also {} ({}).", most_text, text_from_bytes(most->bytes_at_peak));
  return text + fmt::format("; {}, {}, would save {}: the next peak is {}.", most_text, held,
                            text_from_bytes(most->saves_bytes), place_text(report, most->next_peak));
}

Table describe_sites(const SavingsReport& report, const std::vector<SiteSaving>& sites, std::size_t shown,
                     const PoolSavings* pool) {
  Table table{.key = "savings",
              .columns = {{.key = "saves_bytes", .title = "Saves", .unit = Unit::bytes},
                          {.key = "saves_pool_bytes",
                           .title = pool != nullptr ? "Of the pool" : "",
                           .unit = Unit::bytes,
                           .meaning = "In a replay of all requests."},
                          {.key = "next_peak_bytes",
                           .title = "Next peak",
                           .unit = Unit::bytes,
                           .meaning = "Without all allocations of this row."},
                          {.key = "next_peak_event", .unit = Unit::count},
                          {.title = "At"},
                          {.key = "next_peak_since_start_ns", .title = "Time", .unit = Unit::time},
                          {.key = "bytes_at_peak", .title = "Held at the peak", .unit = Unit::bytes},
                          {.key = "function", .within = "site", .is_detail = true},
                          {.key = "file", .within = "site", .is_detail = true},
                          {.key = "line", .unit = Unit::count, .within = "site", .is_detail = true},
                          {.key = "name", .within = "site", .is_detail = true},
                          {.key = "without", .title = report.words.title}},
              .shown = std::max<std::size_t>(shown, 1)};
  std::vector<std::vector<Value>> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteSaving& one = sites[i];
    const Site& site = one.site;
    const bool has_peak = one.next_peak.in_use_bytes > 0;
    rows.push_back(
        {one.saves_bytes, pool != nullptr ? Value(pool->saves_bytes[i]) : Value(), one.next_peak.in_use_bytes,
         one.next_peak.position,
         has_peak ? Value(text_from_position(report.trace, report.key.stream, one.next_peak.position)) : Value(),
         value_of(since_start_ns(report, one.next_peak)), one.bytes_at_peak, value_of(valid_utf8(site.function)),
         value_of(valid_utf8(site.file)), site.has_frame() && site.line > 0 ? Value(std::uint64_t{site.line}) : Value(),
         value_of(valid_utf8(site.name)), text_from_site(site)});
  }
  table.rows = std::move(rows);
  return table;
}

std::string set_text(const SavingsReport& report, const SavingsSet& set) {
  const SiteWords& words = report.words;
  const std::string wanted = text_from_bytes(set.wanted_bytes), saved = text_from_bytes(set.saves_bytes);
  const std::string next = next_peak_text(report, set.next_peak);
  if (!set.is_reached)
    return fmt::format("The peak can't fall by {}: without all {} together it would fall by {}, to {}. The rest {}.",
                       wanted, words.many, saved, next, words.rest);
  const bool is_one = set.sites.size() == 1;
  std::string text =
      fmt::format("Removing {} would lower the peak by {}, to {}.",
                  is_one ? fmt::format("this {}", words.option)
                         : fmt::format("these {} {} together", text_from_count(set.sites.size()), words.many),
                  saved, next);
  if (!set.is_smallest) return text + fmt::format(" They were chosen one by one: fewer {} may be enough.", words.many);
  if (is_one) return text + fmt::format(" No other {} that saves {} holds less at the peak.", words.option, wanted);
  return text + fmt::format(" Fewer {} can't save {}.", words.many, wanted);
}

Document describe_set(const SavingsReport& report, const SavingsSet& set) {
  Document part{.key = "lower_by", .title = fmt::format("To lower the peak by {}", text_from_bytes(set.wanted_bytes))};
  part.add(Sentence{.key = "sentence", .text = set_text(report, set)});
  part.add(Figures{{{"wanted_bytes", set.wanted_bytes, Unit::bytes},
                    {"is_reached", set.is_reached},
                    {"is_smallest", set.is_smallest},
                    {"saves_bytes", set.saves_bytes, Unit::bytes},
                    {"next_peak_bytes", set.next_peak.in_use_bytes, Unit::bytes},
                    {"next_peak_event", set.next_peak.position, Unit::count},
                    {"next_peak_since_start_ns", value_of(since_start_ns(report, set.next_peak)), Unit::time}}});
  // What a set saves of the pool is not known of its members.
  part.add(describe_sites(report, set.sites, set.sites.size(), nullptr));
  return part;
}

}  // namespace

const SiteWords* find_site_words(std::string_view option) {
  const auto* found = std::find_if(std::begin(site_words), std::end(site_words),
                                   [&](const SiteWords& one) { return one.option == option; });
  return found != std::end(site_words) ? found : nullptr;
}

std::string text_from_site(const Site& site) {
  if (!site.has_frame() || site.line == 0) return short_site_text(site);
  return printable(site.function) + "  " + short_site_text(site);
}

Document describe_savings(const SavingsReport& report) {
  const Savings& savings = report.savings;
  Document document;
  document.add(Sentence{.key = "summary", .text = head_text(report)});
  document.add(Figures{
      {{"heap", valid_utf8(report.heap)},
       {"by", std::string(report.words.option)},
       {"peak_bytes", savings.peak.in_use_bytes, Unit::bytes},
       {"peak_event", savings.peak.position, Unit::count},
       {"peak_since_start_ns", value_of(since_start_ns(report, savings.peak)), Unit::time},
       {"peak_is_inexact", savings.is_inexact},
       {"peak_pool_bytes", report.pool ? Value(report.pool->peak_pool_bytes) : Value(), Unit::bytes},
       {"pool_figures", report.pool ? Value(std::string(text_from_confidence(report.pool->confidence))) : Value()},
       {"sites", std::uint64_t{savings.sites.size()}, Unit::count}}});
  if (report.pool && report.shown() > 0)
    document.add(Sentence{.text = fmt::format("The pool's peak is {} in a replay of all requests ({}).",
                                              text_from_bytes(report.pool->peak_pool_bytes),
                                              text_from_confidence(report.pool->confidence)),
                          .audience = Audience::readers});
  Table sites = describe_sites(report, savings.sites, report.shown(), report.pool ? &*report.pool : nullptr);
  sites.title = fmt::format("What the peak would lose, by {}", report.words.option);
  if (report.shown() < savings.sites.size())
    sites.foot = fmt::format("{} of {} {}; --top 0 prints all", report.shown(), text_from_count(savings.sites.size()),
                             report.words.many);
  document.add(std::move(sites));
  if (savings.set) document.add(describe_set(report, *savings.set));
  return document;
}

}  // namespace hbmscope
