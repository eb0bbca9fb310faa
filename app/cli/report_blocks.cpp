#include "app/cli/report_blocks.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/heaps.h"
#include "analysis/answers/program_parts.h"
#include "analysis/query/block_find.h"
#include "analysis/query/block_labels.h"
#include "analysis/query/block_list.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_blocks.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/figure_text.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report_address.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// A column of the table of blocks.
struct Column {
  TextColumn column;
  std::string (*text)(const Source&, const BlockFacts&);
};

std::string address_text(const Source&, const BlockFacts& facts) {
  return facts.address ? fmt::format("0x{:x}", *facts.address) : "–";
}
std::string size_text(const Source&, const BlockFacts& facts) {
  return text_from_bytes(facts.block.size);
}
std::string requested_text(const Source&, const BlockFacts& facts) {
  return text_or_dash(facts.requested);
}
std::string heap_text(const Source&, const BlockFacts& facts) {
  return printable(name_of_heap(*facts.heap));
}
std::string tag_text(const Source& source, const BlockFacts& facts) {
  return printable(source.trace->streams[facts.stream].definitions().text(facts.block.tag)) +
         (facts.block.is_pending() ? " (pending)" : "");
}
std::string code_text(const Source& source, const BlockFacts& facts) {
  return own_line_text(source.trace->streams[facts.stream].definitions(), facts.block.stack);
}

std::string text_from_blocks(const Source& source, const LiveRows& live, const BlockList& list, std::size_t limit) {
  const Terminal terminal = Terminal::of_stdout();
  std::string text = fmt::format(
      "{}: {} of {} blocks, {} of {}{}.\n\n", moment_text(source), text_from_count(list.rows.size()),
      text_from_count(list.all_blocks), text_from_bytes(list.bytes), text_from_bytes(list.all_bytes),
      list.waste_bytes > 0 ? fmt::format(", {} of it rounding waste", text_from_bytes(list.waste_bytes)) : "");
  const std::size_t shown = std::min(limit, list.rows.size());
  if (shown == 0) return text + "No block matches.\n";
  constexpr Column columns[] = {{{"size", true}, size_text},        {{"requested", true}, requested_text},
                                {{"age", true}, age_text},          {{"lifetime", true}, lifetime_text},
                                {{"address", false}, address_text}, {{"heap", false}, heap_text},
                                {{"tag", false}, tag_text},         {{"your code", false}, code_text}};
  std::vector<TextColumn> titles;
  for (const Column& column : columns) titles.push_back(column.column);
  titles.insert(titles.end() - 1, {{"used for", false}, {"array", false}});
  const std::vector<BlockLabels> labels = labels_of(*source.trace);
  std::vector<std::vector<std::string>> rows(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const BlockFacts facts = facts_of(*source.trace, source.states, live.rows[list.rows[i]]);
    for (const Column& column : columns) rows[i].push_back(column.text(source, facts));
    const Category category = labels[facts.stream].category(facts.block);
    rows[i].insert(rows[i].end() - 1, {category == Category::unknown ? "" : std::string(text_from_category(category)),
                                       printable(labels[facts.stream].title(facts.block.event))});
  }
  text += text_from_columns(titles, rows, terminal.style());
  if (shown < list.rows.size())
    text += fmt::format("{} of {} blocks; --blocks 0 prints all\n", text_from_count(shown),
                        text_from_count(list.rows.size()));
  return text;
}

Result<BlockQuery> query_from_options(const ReportOptions& options) {
  const auto order = parse_block_order(options.blocks.order);
  if (!order)
    return Failure(refusal(
        fmt::format("cannot sort blocks by '{}'", options.blocks.order),
        "Use size, requested, waste, age, lifetime, address, heap, code, tag, stream, state, category or array."));
  return BlockQuery{where_from_find(options.view.request.where), *order, options.blocks.is_ascending};
}

Result<void> check_block_options(const ReportOptions& options) {
  const UsedOptions& used = options.used;
  constexpr std::string_view why = "can't be combined with --blocks or --address, which print single blocks";
  if (options.blocks.rows && !options.blocks.address.empty())
    return Failure(refusal("--blocks and --address can't be combined", "Use one of them."));
  if (auto allowed = used.refuse(answer_flags(), why); !allowed) return allowed;
  if (auto allowed = used.refuse({"--focus", "--ignore", "--hide", "--show", "--value", "--keep-dropped-frames",
                                  "--relative", "--by", "--own", "--cum", "--count", "--series", "--fail-if", "--only", "--brief"},
                                 why);
      !allowed)
    return allowed;
  if (options.blocks.rows) return used.refuse({"--top"}, "can't be combined with --blocks, which takes a number");
  return used.refuse({"--where", "--order", "--ascending"}, "can't be combined with --address");
}

int run_list(const ReportOptions& options, const Source& source, const BlockQuery& query) {
  PassControl control;
  const ProgressLine progress("Blocks", control);
  const auto live = collect_live_rows(*source.trace, source.states, true, &control);
  const auto list = compute_block_list(*source.trace, source.states, *live, query);
  if (!list) return fail(list.error());
  const std::size_t limit = *options.blocks.rows == 0 ? list->rows.size() : *options.blocks.rows;
  if (!options.json) return print_to_stdout(text_from_blocks(source, *live, *list, limit)) ? exit_ok : exit_unreadable;
  nlohmann::ordered_json json = {{"schema", json_schema},
                                 {"format", source.trace->format},
                                 {"moment", json_from_moment(*source.trace, source.moment)},
                                 {"where", query.where},
                                 {"order", text_from_block_order(query.order)}};
  json["blocks"] = json_from_block_list(*source.trace, source.states, *live, *list, limit);
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

}  // namespace

// The start of a sentence.
std::string moment_text(const Source& source) {
  return heading_from_moment(source.moment);
}

// In time, or in events if the source has no times.
std::string age_text(const Source&, const BlockFacts& facts) {
  if (facts.age_ns) return text_from_value(*facts.age_ns, "nanoseconds");
  return facts.age_events ? text_from_count_of(*facts.age_events, "event") : "–";
}
std::string lifetime_text(const Source&, const BlockFacts& facts) {
  if (!facts.end_event) return "not freed";
  if (facts.lifetime_ns) return text_from_value(*facts.lifetime_ns, "nanoseconds");
  return facts.age_events ? text_from_count_of(*facts.end_event - facts.block.event, "event") : "–";
}

std::string own_line_text(const Definitions& definitions, std::uint32_t stack) {
  return printable(place_of_stack(definitions, stack));
}

int run_report_blocks(const ReportOptions& options) {
  if (auto combined = check_block_options(options); !combined) return fail(combined.error());
  const auto query = query_from_options(options);
  if (!query) return fail(query.error());
  const auto source = load_merged(options.files, load_options(options.view));
  if (!source) return fail(source.error());
  if (!source->trace)
    return fail(refusal("a profile has no blocks: it has no addresses and no events",
                        "Remove --blocks and --address, or use one snapshot, log or recording."));
  return options.blocks.rows ? run_list(options, *source, *query) : run_report_address(options, *source);
}

}  // namespace hbmscope::cli
