// The report section about the bins of BFC allocators.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/bfc_bins.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/figure_text.h"
#include "app/cli/options.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t heaps_shown = 4;

std::string count_or_dash(const std::optional<std::uint64_t>& count) {
  return count ? text_from_count(*count) : "–";
}

// Where counts differ, the dump's own stand at the end of the row.
std::string reported_text(const BfcBin& bin) {
  const BfcBinFigures &computed = bin.computed, &reported = bin.reported;
  if (!computed.blocks || !reported.blocks) return {};
  if (computed.blocks == reported.blocks && computed.blocks_in_use == reported.blocks_in_use) return {};
  return fmt::format("reported: {}, {} in use", text_from_count_of(*reported.blocks, "block"),
                     count_or_dash(reported.blocks_in_use));
}

std::string bins_text(std::string_view label, const std::vector<BfcBin>& bins, const Terminal& terminal) {
  const bool is_computed = bins.front().computed.blocks.has_value();
  std::vector<std::vector<std::string>> rows;
  for (const BfcBin& bin : bins) {
    const BfcBinFigures& shown = bin.known();
    rows.push_back({text_from_bytes(bin.from_bytes), count_or_dash(shown.blocks), count_or_dash(shown.blocks_in_use),
                    text_or_dash(shown.bytes), text_or_dash(shown.in_use_bytes),
                    text_or_dash(bin.known_requested_bytes()), reported_text(bin)});
  }
  return fmt::format("\nBins of {}{}:\n", printable(label),
                     is_computed ? "" : ", as reported, because the list of blocks is incomplete") +
         text_from_columns({{"bin", true},
                            {"blocks", true},
                            {"in use", true},
                            {"bytes", true},
                            {"bytes in use", true},
                            {"requested", true},
                            {"", false}},
                           rows, terminal.style());
}

Result<std::string> bins_section_text(const ReportInput& input, const ReportStyle& style) {
  const Trace& trace = *input.source.trace;
  std::string text;
  std::size_t shown = 0, left_out = 0;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::size_t i = 0; i < input.source.states.size(); ++i)
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if (info.id == 0) continue;
      // Of a pool whose bins nobody reported, they are one more table of sizes.
      const bool is_shown = has_reported_bins(trace.streams[i], info.id) ||
                            (input.options.used.has("--metrics") && is_of_bfc(trace.streams[i], info.id));
      if (!is_shown) continue;
      const std::vector<BfcBin> bins = compute_bfc_bins(trace.streams[i], input.source.states[i], info.id);
      if (bins.empty()) continue;
      if (shown == heaps_shown) {
        ++left_out;
        continue;
      }
      ++shown;
      text += bins_text(labels[i][info.id], bins, style.terminal);
    }
  if (left_out > 0) text += fmt::format("The bins of {} more; --json has all\n", text_from_count_of(left_out, "heap"));
  return text;
}

Json json_from_figures(const BfcBinFigures& figures) {
  return {{"count", or_null(figures.blocks)},
          {"in_use_count", or_null(figures.blocks_in_use)},
          {"bytes", or_null(figures.bytes)},
          {"in_use_bytes", or_null(figures.in_use_bytes)},
          {"requested_bytes", or_null(figures.requested_bytes)}};
}

Result<void> add_bins(Json& json, const ReportInput& input) {
  const Trace& trace = *input.source.trace;
  std::size_t row = 0;
  for (std::size_t i = 0; i < input.source.states.size(); ++i)
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if (info.id == 0) continue;
      Json& heap = json["heaps"][row++];
      if (!is_of_bfc(trace.streams[i], info.id)) continue;
      heap["bins"] = nullptr;
      for (const BfcBin& bin : compute_bfc_bins(trace.streams[i], input.source.states[i], info.id)) {
        Json one = {{"from_bytes", bin.from_bytes}};
        one.update(json_from_figures(bin.computed));
        one["reported"] = bin.reported.blocks ? json_from_figures(bin.reported) : Json(nullptr);
        heap["bins"].push_back(std::move(one));
      }
    }
  return {};
}

}  // namespace

ReportSection bins_section() {
  return {.name = "bins", .needs_trace = true, .text = bins_section_text, .add_json = add_bins};
}

}  // namespace hbmscope::cli
