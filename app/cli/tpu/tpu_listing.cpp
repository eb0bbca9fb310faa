// hbmscope tpu layout --listing: the cost of padding in a pytree or a checkpoint.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/array_listing/read_array_listing.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"
#include "app/cli/tpu/tpu_fit.h"
#include "app/cli/tpu/tpu_padding.h"

namespace hbmscope::cli {

namespace tpu = allocator::tpu;
using Json = nlohmann::ordered_json;

Result<const tpu::Generation*> generation_or_default(const std::string& name) {
  if (name.empty()) return &tpu::default_generation();
  return generation_from(name);
}

tpu::SecondMinor second_minor_of(const std::string& name) {
  if (name == "compact") return tpu::SecondMinor::compact;
  return name == "large" ? tpu::SecondMinor::large : tpu::SecondMinor::as_compiled;
}

Result<ArrayPadding> padding_of(tpu::Shape shape, const tpu::Generation& generation, tpu::SecondMinor mode) {
  const std::string text = tpu::text_from_shape(shape);
  auto padding = compute_array_padding(std::move(shape), generation, mode);
  if (!padding)
    return Failure(refusal(fmt::format("'{}' has 2^63 bytes or more", text), "Check the sizes of the array."));
  return std::move(*padding);
}

std::string text_from_totals(const PaddingTotals& totals) {
  std::string text = fmt::format("{} {}: {} in memory, {} of it values, {} padding", text_from_count(totals.arrays),
                                 totals.arrays == 1 ? "array" : "arrays", text_from_bytes(totals.bytes),
                                 text_from_bytes(totals.unpadded_bytes),
                                 text_from_share(signed_from(totals.padding_bytes), signed_from(totals.bytes)));
  if (totals.least_bytes < totals.bytes)
    text += fmt::format("; other orders of dimensions would take {} less",
                        text_from_bytes(totals.bytes - totals.least_bytes));
  return text;
}

Json json_from_padding(const ArrayPadding& padding) {
  Json dimensions = Json::array();
  for (const tpu::Dimension& dimension : padding.shape.dimensions) dimensions.push_back(dimension.size);
  return {{"layout", tpu::text_from_shape(padding.shape)},
          {"bytes", padding.bytes},
          {"unpadded_bytes", padding.unpadded_bytes},
          {"padding_bytes", padding.padding_bytes()},
          {"dtype", padding.shape.type->name},
          {"dimensions", std::move(dimensions)},
          {"memory_space", padding.shape.layout ? padding.shape.layout->memory_space : 0},
          {"best_layout", tpu::text_from_shape(padding.least)},
          {"best_bytes", padding.least_bytes}};
}

namespace {

constexpr std::size_t listing_rows_shown = 40, name_width_max = 48;

struct Listing {
  const tpu::Generation* generation = nullptr;
  std::vector<NamedPadding> arrays;
  PaddingTotals totals;
};

Result<Listing> read_listing(const TpuLayoutOptions& options) {
  const auto generation = generation_or_default(options.generation);
  if (!generation) return Failure(generation.error());
  const tpu::SecondMinor mode = second_minor_of(options.second_minor);
  Listing listing{*generation, {}, {}};
  for (const std::string& file : options.listings) {
    auto arrays = read_array_listing(file);
    if (!arrays) return Failure(arrays.error());
    for (ListedArray& array : *arrays) {
      if (!array.shape.layout)
        array.shape = tpu::default_shape(**generation, *array.shape.type, std::move(array.shape.dimensions), mode);
      auto padding = padding_of(std::move(array.shape), **generation, mode);
      if (!padding)
        return Failure(
            refusal(fmt::format("{}: {}", printable(array.name), padding.error().what), padding.error().remedy, file));
      listing.totals.add(*padding);
      listing.arrays.push_back({std::move(array.name), std::move(*padding)});
    }
  }
  sort_by_waste(listing.arrays);
  return listing;
}

std::string text_of(const Listing& listing, const Terminal& terminal) {
  std::string text =
      fmt::format("On {}, with each array whole on one device; emulated with the compiler's rules for arguments.\n",
                  listing.generation->name);
  const std::size_t shown = std::min(listing.arrays.size(), listing_rows_shown);
  std::size_t width = 4;
  for (std::size_t i = 0; i < shown; ++i)
    width = std::max(width, std::min(display_width(printable(listing.arrays[i].name)), name_width_max));
  text += terminal.paint(pad_right("array", width) + fmt::format("  {:>10} {:>10} {:>10} {:>8}  {}", "in memory",
                                                                 "values", "padding", "share", "layout"),
                         Ink::dim) +
          "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, padding] = listing.arrays[i];
    const std::string share = text_from_share(signed_from(padding.padding_bytes()), signed_from(padding.bytes));
    text += pad_right(fit_end(printable(name), name_width_max), width) + "  " +
            pad_left(text_from_bytes(padding.bytes), 10) + " " + pad_left(text_from_bytes(padding.unpadded_bytes), 10) +
            " " + pad_left(text_from_bytes(padding.padding_bytes()), 10) + " " + pad_left(share, 8) + "  " +
            tpu::text_from_shape(padding.shape);
    if (padding.saved_bytes() > 0)
      text += terminal.paint(
          fmt::format("  {} less as {}", text_from_bytes(padding.saved_bytes()), tpu::text_from_shape(padding.least)),
          Ink::bad);
    text += "\n";
  }
  if (listing.arrays.size() > shown) {
    PaddingTotals others;
    for (std::size_t i = shown; i < listing.arrays.size(); ++i) others.add(listing.arrays[i].padding);
    text += fmt::format("and {} more, {} of padding; --json has them\n", text_from_count(others.arrays),
                        text_from_bytes(others.padding_bytes));
  }
  return text + text_from_totals(listing.totals) + "\n";
}

Json json_of(const Listing& listing) {
  Json arrays = Json::array();
  for (const NamedPadding& array : listing.arrays) {
    Json row = {{"name", valid_utf8(array.name)}};
    row.update(json_from_padding(array.padding));
    arrays.push_back(std::move(row));
  }
  const PaddingTotals& totals = listing.totals;
  return {{"schema", json_schema},
          {"generation", listing.generation->name},
          {"figures", "emulated"},
          {"arrays", std::move(arrays)},
          {"totals",
           {{"arrays", totals.arrays},
            {"bytes", totals.bytes},
            {"unpadded_bytes", totals.unpadded_bytes},
            {"padding_bytes", totals.padding_bytes},
            {"best_bytes", totals.least_bytes}}}};
}

}  // namespace

int run_tpu_listing(const TpuLayoutOptions& options) {
  const auto listing = read_listing(options);
  if (!listing) return fail(listing.error());
  const std::string text = options.json ? text_from_json(json_of(*listing)) : text_of(*listing, Terminal::of_stdout());
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
