// hbmscope tpu generations: a table of memories with the source of each figure.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/tpu/generation.h"
#include "analysis/units/format.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

struct Column {
  const char *key, *title;
  tpu::Figure tpu::Generation::*figure;
  bool is_bytes;
};

constexpr std::array columns = {
    Column{"hbm_total_bytes", "HBM", &tpu::Generation::hbm_total, true},
    Column{"hbm_usable_bytes", "usable", &tpu::Generation::hbm_usable, true},
    Column{"hbm_bytes_per_second", "HBM bytes per second", &tpu::Generation::hbm_bytes_per_second, true},
    Column{"vmem_bytes", "VMEM", &tpu::Generation::vmem, true},
    Column{"vmem_scoped_limit_bytes", "scoped limit", &tpu::Generation::vmem_scoped_limit, true},
    Column{"smem_bytes", "SMEM", &tpu::Generation::smem, true},
    Column{"sync_flag_bytes", "sync flags", &tpu::Generation::sync_flags, true},
    Column{"cmem_bytes", "CMEM", &tpu::Generation::cmem, true},
    Column{"accumulator_bytes", "accumulators", &tpu::Generation::accumulators, true},
    Column{"lanes", "lanes", &tpu::Generation::lanes, false},
    Column{"sublanes", "sublanes", &tpu::Generation::sublanes, false},
    Column{"sparse_cores", "SparseCores", &tpu::Generation::sparse_cores, false},
    Column{"sparse_subcores", "subcores each", &tpu::Generation::sparse_subcores, false},
    Column{"sparse_subcore_vmem_bytes", "VMEM per subcore", &tpu::Generation::sparse_subcore_vmem, true},
};

std::string text_of(const tpu::Figure& figure, bool is_bytes) {
  if (!figure.known()) return "–";
  return is_bytes ? text_from_bytes(figure.value) : text_from_count(figure.value);
}

std::string sources_of(const Column& column) {
  std::string source;
  for (const tpu::Generation& generation : tpu::listed_generations()) {
    const tpu::Figure& figure = generation.*column.figure;
    if (!figure.known()) continue;
    const std::string_view name = tpu::text_from_source(figure.source);
    if (source.find(name) == std::string::npos) source += fmt::format("{}{}", source.empty() ? "" : ", ", name);
  }
  return source;
}

// Side by side, as many as there is room for; the sources where there is room for all.
std::string table_text(const Terminal& terminal) {
  constexpr std::size_t title_width = 21, cell_width = 10, source_width = 30;
  const auto all = tpu::listed_generations();
  const std::size_t width = terminal.style().width, needed = title_width + cell_width * all.size() + source_width;
  const bool has_sources = width == 0 || needed <= width;
  const std::size_t many =
      width == 0 ? all.size() : std::max<std::size_t>(1, (width - std::min(width, title_width)) / cell_width);
  std::string text;
  for (std::size_t first = 0; first < all.size(); first += many) {
    const auto shown = all.subspan(first, std::min(many, all.size() - first));
    std::string titles = pad_right("", title_width);
    for (const tpu::Generation& generation : shown) titles += pad_left(generation.name, cell_width);
    text += (first == 0 ? "" : "\n") + terminal.paint(titles, Ink::bold) + (has_sources ? "  source\n" : "\n");
    const auto row = [&](const char* title, const auto& cell, const std::string& source) {
      text += pad_right(title, title_width);
      for (const tpu::Generation& generation : shown) text += pad_left(cell(generation), cell_width);
      text += (has_sources ? "  " + terminal.paint(source, Ink::dim) : std::string()) + "\n";
    };
    row(
        "devices per chip", [](const tpu::Generation& g) { return fmt::to_string(g.devices_per_chip); }, "jax docs");
    row(
        "cores per device", [](const tpu::Generation& g) { return fmt::to_string(g.cores_per_device); }, "jax docs");
    for (const Column& column : columns)
      row(
          column.title, [&](const tpu::Generation& g) { return text_of(g.*column.figure, column.is_bytes); },
          sources_of(column));
  }
  return text +
         wrapped("HBM is per device, its bandwidth per chip, everything else per core; – is not published.", width) +
         "\n";
}

nlohmann::ordered_json json_of(const tpu::Generation& generation) {
  nlohmann::ordered_json json = {{"name", generation.name},
                                 {"jax_kind", generation.jax_kind},
                                 {"devices_per_chip", generation.devices_per_chip},
                                 {"cores_per_device", generation.cores_per_device},
                                 {"is_megacore", generation.is_megacore}};
  nlohmann::ordered_json sources;
  for (const Column& column : columns) {
    const tpu::Figure& figure = generation.*column.figure;
    const auto known = figure.known();
    json[column.key] = known ? nlohmann::ordered_json(*known) : nlohmann::ordered_json(nullptr);
    sources[column.key] = tpu::text_from_source(figure.source);
  }
  json["sources"] = std::move(sources);
  return json;
}

}  // namespace

int run_tpu_generations(bool json) {
  nlohmann::ordered_json out = {{"schema", json_schema}, {"generations", nlohmann::ordered_json::array()}};
  for (const tpu::Generation& generation : tpu::listed_generations()) out["generations"].push_back(json_of(generation));
  return print_to_stdout(json ? text_from_json(out) : table_text(Terminal::of_stdout())) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
