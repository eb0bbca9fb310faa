// The bins of BFC allocators.
#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/query/bfc_bins.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// Where counts differ, those of the dump.
Value differing_report(const BfcBin& bin) {
  const BfcBinFigures &computed = bin.computed, &reported = bin.reported;
  if (!computed.blocks || !reported.blocks) return {};
  if (computed.blocks == reported.blocks && computed.blocks_in_use == reported.blocks_in_use) return {};
  return fmt::format("{}, {} in use", text_from_count_of(*reported.blocks, "block"),
                     reported.blocks_in_use ? text_from_count(*reported.blocks_in_use) : "an unknown number");
}

Table table_of_bins(const std::vector<BfcBin>& bins) {
  std::vector<std::vector<Value>> cells;
  for (const BfcBin& bin : bins) {
    const BfcBinFigures& known = bin.known();
    std::vector<Value> row = {bin.from_bytes,
                              value_of(known.blocks),
                              value_of(known.blocks_in_use),
                              value_of(known.bytes),
                              value_of(known.in_use_bytes),
                              value_of(bin.known_requested_bytes()),
                              differing_report(bin)};
    for (const BfcBinFigures* figures : {&bin.computed, &bin.reported}) {
      const bool is_there = figures == &bin.computed || bin.reported.blocks.has_value();
      for (const auto& figure : {figures->blocks, figures->blocks_in_use, figures->bytes, figures->in_use_bytes,
                                 figures->requested_bytes})
        row.push_back(is_there ? value_of(figure) : Value());
    }
    cells.push_back(std::move(row));
  }
  Table table{.key = "bins",
              .columns = {{.key = "from_bytes",
                           .title = "Bin",
                           .unit = Unit::bytes,
                           .meaning = "It has blocks of at least this size, and below that of the next bin."},
                          {.title = "Blocks", .unit = Unit::count},
                          {.title = "In use", .unit = Unit::count, .rank = 1},
                          {.title = "Bytes", .unit = Unit::bytes},
                          {.title = "Bytes in use", .unit = Unit::bytes, .rank = 2},
                          {.title = "Requested", .unit = Unit::bytes, .rank = 3},
                          {.title = "Reported", .rank = 4}},
              .rows = std::move(cells),
              .shown = bins.size()};
  for (const std::string_view within : {"", "reported"}) {
    table.columns.push_back({.key = "count", .unit = Unit::count, .within = within});
    table.columns.push_back({.key = "in_use_count", .unit = Unit::count, .within = within});
    for (const std::string_view key : {"bytes", "in_use_bytes", "requested_bytes"})
      table.columns.push_back({.key = key, .unit = Unit::bytes, .within = within});
  }
  return table;
}

Result<Document> describe_bins(const AnswerInput& input) {
  constexpr std::size_t heaps_shown = 4;
  const Trace& trace = *input.trace;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  Documents heaps{.key = "heaps", .audience = Audience::everyone};
  std::size_t shown = 0, left_out = 0;
  for (std::size_t i = 0; i < input.states->size(); ++i)
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if (info.id == 0) continue;
      Document& heap = heaps.list.emplace_back();
      heap.audience = Audience::programs;
      heap.add(Figures{{{"name", std::string(info.name)}}});
      if (!is_of_bfc(trace.streams[i], info.id)) continue;
      const std::vector<BfcBin> bins = compute_bfc_bins(trace.streams[i], (*input.states)[i], info.id);
      if (bins.empty()) {
        heap.add(Absent{"bins"});
        continue;
      }
      const bool is_computed = bins.front().computed.blocks.has_value();
      heap.title = "Bins of " + labels[i][info.id] +
                   (is_computed ? "" : ", as reported, because the list of blocks is incomplete");
      heap.add(table_of_bins(bins));
      // Of a pool whose bins nobody reported, they are one more table of sizes.
      if (!has_reported_bins(trace.streams[i], info.id) && !input.has("--metrics")) continue;
      if (shown == heaps_shown) {
        ++left_out;
        continue;
      }
      ++shown;
      heap.audience = Audience::everyone;
    }
  Document document;
  document.add(std::move(heaps));
  if (left_out > 0)
    document.add(
        Sentence{.text = fmt::format("The bins of {} more; --json has all.", text_from_count_of(left_out, "heap"))});
  return document;
}

}  // namespace

constinit const AnswerRow bins_answer{
    .name = "bins",
    .title = "Bins",
    .help = "The bins of BFC allocators",
    .needs_trace = true,
    .describe = describe_bins,
};

}  // namespace hbmscope
