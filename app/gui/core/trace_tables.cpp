#include "app/gui/core/trace_tables.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/table_cells.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {
namespace {

void add_histogram(TextTable& table, const char* what, const PowerHistogram& histogram, StepUnit unit) {
  for (const PowerHistogram::Step& step : histogram.steps())
    table.rows.push_back(
        {text_cell(what), text_cell(text_from_step(step, unit)), count_cell(step.count), bytes_cell(step.bytes)});
}
void add_lifetimes(TextTable& table, const std::string& what, const LifetimeHistograms& lifetimes) {
  if (lifetimes.by_ns) add_histogram(table, (what + ", in time").c_str(), *lifetimes.by_ns, StepUnit::ns);
  add_histogram(table, (what + ", in events").c_str(), lifetimes.by_events, StepUnit::events);
  if (lifetimes.unknown_count > 0)
    table.rows.push_back({text_cell(what), text_cell("unknown, older than the trace"),
                          count_cell(lifetimes.unknown_count), bytes_cell(lifetimes.unknown_bytes)});
}

std::string text_from_unit(std::uint64_t value, StepUnit unit) {
  const auto number = static_cast<std::int64_t>(std::min<std::uint64_t>(value, 0x7fffffffffffffff));
  switch (unit) {
    case StepUnit::bytes: return text_from_bytes(number);
    case StepUnit::events: return text_from_count(number);
    case StepUnit::ns: return text_from_value(number, "nanoseconds");
  }
  return {};
}

}  // namespace

std::string text_from_begin(const PowerHistogram::Step& step, StepUnit unit) {
  return text_from_unit(step.from, unit);
}

std::string text_from_step(const PowerHistogram::Step& step, StepUnit unit) {
  const std::string from = text_from_unit(step.from, unit);
  return step.to ? from + " to " + text_from_unit(*step.to, unit) : from + " and more";
}

std::string own_line_text(const Definitions& definitions, std::uint32_t stack) {
  const auto own = find_own_frame(definitions, stack);
  if (!own) return std::string(no_user_code_text(definitions, stack));
  const std::string file = std::filesystem::path(definitions.text(own->file)).filename().string();
  return fmt::format("{}  {}:{}", definitions.text(own->function), file, own->line);
}

std::string stack_text(const Definitions& definitions, std::uint32_t stack) {
  constexpr int frames_max = 4;
  if (stack == 0) return "(no stack was recorded)";
  std::string text;
  for (int frames = 0; stack != 0; ++frames, stack = definitions.stack(stack).parent) {
    if (frames == frames_max) return text + " < ...";
    text += (frames > 0 ? " < " : "") +
            std::string(definitions.text(definitions.frame(definitions.stack(stack).frame).function));
  }
  return text;
}

std::string range_sentence(const RangeAnswer& answer, const TraceSteps* steps) {
  // The names only give event numbers; if there are times, the user needs those.
  const auto& streams = answer.trace->streams;
  const auto timed = std::find_if(streams.begin(), streams.end(), [](const Stream& one) { return one.has_times(); });
  // A trace with several streams has one axis only if it has times.
  const bool has_length = timed != streams.end() || streams.size() == 1;
  const auto stream = static_cast<std::size_t>(timed == streams.end() ? 0 : timed - streams.begin());
  const auto axis_at = [&](const Moment& moment, const std::vector<std::int64_t>& times_ns) {
    return axis_of(streams[stream], moment.positions[stream], times_ns[stream]);
  };
  const TimelineSpan span = has_length
                                ? TimelineSpan{axis_at(answer.from, answer.from_ns), axis_at(answer.to, answer.to_ns)}
                                : TimelineSpan();
  const std::int64_t apart_ns = std::min<std::int64_t>(1'000'000, span.length() / 100);  // So that both differ.
  const auto name_of = [&](const MomentName& name, const Moment& moment, const std::vector<std::int64_t>& times_ns) {
    if (const auto clicked = name.clicked_at(); clicked && streams.size() > 1)
      return text_from_moment_ns(*clicked, apart_ns);
    if (timed == streams.end() || !moment.text.starts_with("event ")) return moment.text;
    const std::int64_t at_ns = times_ns[static_cast<std::size_t>(timed - streams.begin())];
    return text_from_moment_ns(std::max<std::int64_t>(0, timed->since_start_ns(at_ns)), apart_ns) + " (" + moment.text +
           ")";
  };
  std::string of;
  if (const std::vector<HeapRow>& heaps = answer.summary.heaps_after; answer.shown) {
    const HeapRow& shown = heaps[*answer.shown];
    const auto alike =
        std::count_if(heaps.begin(), heaps.end(), [&](const HeapRow& one) { return one.layer == shown.layer; });
    if (!answer.is_of_all)
      of = " Of " + shown.name + ".";
    else if (alike > 1)
      of = " All " + text_from_count(alike) + " heaps together.";
  }
  return "From " + name_of(answer.range.from, answer.from, answer.from_ns) + " to " +
         name_of(answer.range.to, answer.to, answer.to_ns) +
         (has_length ? ": " + length_text(timed != streams.end(), span, steps) : std::string()) + "." + of;
}

TextTable table_from_free(const FreeAnswer& answer) {
  TextTable table;
  if (!answer.free) return table;
  table.head = sentence_of(*answer.free, std::nullopt);
  table.columns = {{"Address"}, {"Bytes", true}};
  for (const AddressRange& span : answer.free->largest)
    table.rows.push_back({text_cell(address_text(span.begin)), bytes_cell(span.size())});
  return table;
}

std::string largest_request_text(const FreeBlocks& free, const LargestRequest* before,
                                 std::optional<std::uint64_t> failing) {
  LargestRequest largest = before == nullptr ? LargestRequest() : *before;
  if (failing && *failing >= largest.bytes) largest = {0, *failing, true};
  if (before == nullptr && !failing) return {};
  const char* verdict = largest.bytes <= free.largest_bytes() ? "fits"
                        : largest.has_failed                  ? "does not fit"
                                                              : "does not fit without growing the pool";
  return "largest request so far " + text_from_bytes(static_cast<std::int64_t>(largest.bytes)) +
         (largest.has_failed ? ", which failed" : "") + ": " + verdict;
}

TextTable table_from_address_time(const AddressTime& picture) {
  TextTable table;
  table.columns = {{"Colour"}, {"Average bytes", true}, {"Blocks", true}};
  for (const ShadeEntry& entry : picture.legend)
    table.rows.push_back({text_cell(entry.name), bytes_cell(entry.bytes), count_cell(entry.blocks)});
  return table;
}

TextTable table_from_sizes(const SizesAnswer& answer) {
  TextTable table;
  table.columns = {{"What"}, {"From, to"}, {"Count", true}, {"Bytes", true}};
  add_histogram(table, "live blocks, by size", answer.metrics.live_sizes, StepUnit::bytes);
  if (answer.metrics.free_gaps)
    add_histogram(table, "free blocks, by size", *answer.metrics.free_gaps, StepUnit::bytes);
  for (const BfcBin& bin : answer.bins)
    table.rows.push_back({text_cell("bin of the BFC allocator"), bytes_cell(bin.from_bytes),
                          count_cell(bin.known().blocks.value_or(0)), bytes_cell(bin.known().bytes.value_or(0))});
  add_lifetimes(table, "age of live blocks", answer.metrics.ages);
  add_lifetimes(table, "lifetime of freed blocks", answer.metrics.lifetimes);
  return table;
}

}  // namespace hbmscope::gui
