#include "app/gui/core/coloring.h"

#include <algorithm>
#include <iterator>

#include "analysis/query/trace_user_code.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/heap_shades.h"
#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {
namespace {

constexpr NamesOfBlocks user_code{
    [](const LiveBlock& block, const BlockLabels&) { return block.stack; },
    [](const Definitions& definitions, std::uint32_t stack) { return user_code_text(definitions, stack); },
    [](const Definitions& definitions, std::uint32_t stack) {
      return "own=" + where_quote(user_code_text(definitions, stack));
    },
    "other code, or unknown"};

constexpr NamesOfBlocks categories{
    [](const LiveBlock& block, const BlockLabels& labels) {
      return static_cast<std::uint32_t>(labels.category(block));
    },
    [](const Definitions&, std::uint32_t category) {
      const auto known = static_cast<Category>(category);
      return known == Category::unknown ? "(other)" : std::string(text_from_category(known));
    },
    [](const Definitions&, std::uint32_t category) {
      return "category=" + where_quote(text_from_category(static_cast<Category>(category)));
    },
    "other",
    [](std::uint32_t category) { return shade_of_category(static_cast<Category>(category)); },
    [](Shade shade) -> std::string_view {
      for (std::size_t i = 1; i < category_count; ++i)
        if (shade_of_category(static_cast<Category>(i)) == shade) return text_from_category(static_cast<Category>(i));
      return {};
    }};

constexpr NamesOfBlocks tags{
    [](const LiveBlock& block, const BlockLabels&) { return block.tag; },
    [](const Definitions& definitions, std::uint32_t tag) {
      return tag == 0 ? "(untagged)" : std::string(definitions.text(tag));
    },
    [](const Definitions& definitions, std::uint32_t tag) { return "tag=" + where_quote(definitions.text(tag)); },
    "other tags, or none"};

constexpr NamesOfBlocks device_streams{
    [](const LiveBlock& block, const BlockLabels&) { return block.stream; },
    [](const Definitions&, std::uint32_t stream) { return "stream " + std::to_string(stream); },
    [](const Definitions&, std::uint32_t stream) { return "stream=" + std::to_string(stream); }, "other streams"};

constexpr StepsOfBlocks sizes{[](const LiveBlock& block) { return size_step_of(block.size); }, size_step_names,
                              [](std::size_t step) {
                                return where_between(
                                    "size", step == 0 ? "" : std::to_string(size_step_borders[step - 1]),
                                    step + 1 == step_count ? "" : std::to_string(size_step_borders[step]));
                              }};

std::string_view why_no_rounding(const HeapInfo& heap, bool) {
  if (!heap.has(wire::heap_flag::has_requested))
    return "This source does not report requested sizes, so rounding is unknown.";
  if (heap.has(wire::heap_flag::sizes_are_requests))
    return "This source reports requested sizes only, not what blocks take, so rounding is unknown.";
  return {};
}

std::string_view why_no_change(const HeapInfo&, bool is_pinned) {
  return is_pinned ? "" : "Pin a time first (B).";
}

Role role_of_change(Shade shade) {
  if (shade == change_shade::same) return Role::same;
  return shade == change_shade::shrunk || shade == change_shade::gone ? Role::shrunk : Role::grown;
}

constexpr Coloring rows[] = {
    {.kind = HeapColoring::automatic,
     .key = "auto",
     .title = "Automatic",
     .help = "Categories where they are known, else your code, else tags, else sizes."},
    {.kind = HeapColoring::user_code,
     .key = "code",
     .title = "Your code",
     .help = "The line of your code that allocated the block.",
     .names = &user_code},
    {.kind = HeapColoring::size,
     .key = "size",
     .title = "Size",
     .is_ordered = true,
     .help = "The size of the block.",
     .steps = &sizes},
    {.kind = HeapColoring::age,
     .key = "age",
     .title = "Age",
     .is_ordered = true,
     .help = "How many events ago the block was allocated.",
     .shade = shade_by_age,
     .why_not_of_a_box = "changes with the time"},
    {.kind = HeapColoring::lifetime,
     .key = "lifetime",
     .title = "Lifetime",
     .is_ordered = true,
     .help = "From the allocation of the block to its release.",
     .shade = shade_by_lifetime,
     .why_not_of_a_box = "is the length of a box",
     .needs_ends = true},
    {.kind = HeapColoring::state,
     .key = "state",
     .title = "State",
     .help = "In use, or released while a stream still needs the block.",
     .shade = shade_by_state,
     .why_not_of_a_box = "changes with the time"},
    {.kind = HeapColoring::category,
     .key = "category",
     .title = "Category",
     .help = "What the block is used for: parameters, optimizer state, activations, temporaries, ...",
     .names = &categories},
    {.kind = HeapColoring::tag,
     .key = "tag",
     .title = "Tag",
     .help = "The tag that the framework or the program gave the block.",
     .names = &tags},
    {.kind = HeapColoring::device_stream,
     .key = "stream",
     .title = "Stream",
     .help = "The stream of the device that the block was allocated for.",
     .names = &device_streams},
    {.kind = HeapColoring::waste,
     .key = "waste",
     .title = "Rounding",
     .is_ordered = true,
     .help = "The share of the block that was not requested.",
     .why_not = why_no_rounding,
     .shade = shade_by_waste,
     .why_not_of_a_box = "is not shown for boxes"},
    {.kind = HeapColoring::change,
     .key = "change",
     .title = "Change since the pin",
     .help = "New, grown, moved, shrunk or unchanged since the pinned time.",
     .why_not = why_no_change,
     .shade = shade_by_change,
     .role_of = role_of_change,
     .why_not_of_a_box = "changes with the time",
     .compares_with_pin = true,
     .gone_shade = change_shade::gone},
};

}  // namespace

// The first roles of the palette are the hues, in their order.
Shade shade_of_category(Category category) {
  switch (category) {
    case Category::parameters: return static_cast<Shade>(Role::parameters);
    case Category::gradients: return static_cast<Shade>(Role::gradients);
    case Category::optimizer_state: return static_cast<Shade>(Role::optimizer_state);
    case Category::activations: return static_cast<Shade>(Role::activations);
    case Category::inputs: return static_cast<Shade>(Role::inputs_outputs);
    case Category::temporaries: return static_cast<Shade>(Role::temporaries);
    case Category::unknown: break;
  }
  return several_shade;
}

std::span<const Coloring> coloring_table() {
  return rows;
}

const Coloring& row_of(HeapColoring coloring) {
  return rows[static_cast<std::size_t>(coloring)];
}

HeapColoring coloring_since_pin() {
  return std::find_if(std::begin(rows), std::end(rows), [](const Coloring& row) { return row.compares_with_pin; })
      ->kind;
}

std::string lower_title_of(HeapColoring coloring) {
  std::string title(row_of(coloring).title);
  title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  return title;
}

std::optional<HeapColoring> parse_coloring(std::string_view key) {
  for (const Coloring& row : rows)
    if (row.key == key) return row.kind;
  return std::nullopt;
}

}  // namespace hbmscope::gui
