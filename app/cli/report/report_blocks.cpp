#include "app/cli/report/report_blocks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/blocks.h"
#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report/report_address.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

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
  const Audience audience = options.json ? Audience::programs : Audience::readers;
  const Document described =
      describe_blocks({*source.trace, source.states, *live}, source.moment, *list, limit, audience);
  if (!options.json)
    return print_to_stdout(text_from_document(described, Terminal::of_stdout().style())) ? exit_ok : exit_unreadable;
  nlohmann::ordered_json json = {{"schema", json_schema},
                                 {"format", source.trace->format},
                                 {"moment", json_from_document(describe_moment(*source.trace, source.moment))},
                                 {"where", query.where},
                                 {"order", text_from_block_order(query.order)}};
  json["blocks"] = json_from_document(described);
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

}  // namespace

int run_report_blocks(const ReportOptions& options) {
  if (auto combined = check_block_options(options); !combined) return fail(combined.error());
  const auto query = query_from_options(options);
  if (!query) return fail(query.error());
  LoadOptions load = load_options(options.view);
  load.chooses_time = true;
  const auto source = load_merged(options.files, load);
  if (!source) return fail(source.error());
  if (!source->trace)
    return fail(refusal("a profile has no blocks: it has no addresses and no events",
                        "Remove --blocks and --address, or use one snapshot, log or recording."));
  return options.blocks.rows ? run_list(options, *source, *query) : run_report_address(options, *source);
}

}  // namespace hbmscope::cli
