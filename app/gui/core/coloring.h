// The colorings of the heap map. A coloring is one word in the list below and one row in coloring.cpp. The choice in
// the window, `--color`, its help and the copied commands are made from that table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/query/block_labels.h"
#include "analysis/trace/stream.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

// X(name), in the order of the menu.
#define HBMSCOPE_COLORINGS(X) \
  X(automatic)                \
  X(user_code)                \
  X(size)                     \
  X(age)                      \
  X(lifetime)                 \
  X(state)                    \
  X(category)                 \
  X(tag)                      \
  X(device_stream)            \
  X(waste)                    \
  X(change)

enum class HeapColoring {
#define X(name) name,
  HBMSCOPE_COLORINGS(X)
#undef X
};

#define X(name) +1
inline constexpr std::size_t coloring_count = 0 HBMSCOPE_COLORINGS(X);
#undef X

// The index of a colour: a hue of a category (0 to 7; 8: several or none), or a step of a scale (0 to 5; 8: unknown).
using Shade = std::uint8_t;
inline constexpr Shade shade_count = 9, several_shade = 8;
inline constexpr std::size_t step_count = 6;

struct HeapSpans;
struct TraceColors;
struct ColoringFacts;

// The input of a coloring.
struct ColoringInput {
  const Stream& stream;
  const StreamState& state;
  std::uint32_t heap = 0;
  const BlockLabels& labels;  // The stream's.
  const TraceColors& colors;
  const ColoringFacts& facts;
};

// For colorings by name, where each block has its own name.
struct NamesOfBlocks {
  // The value that the name depends on.
  std::uint32_t (*key_of)(const LiveBlock& block, const BlockLabels& labels);
  std::string (*name_of)(const Definitions& definitions, std::uint32_t key);
  // A filter expression that finds the blocks of `key`.
  std::string (*where_of)(const Definitions& definitions, std::uint32_t key);
  // Name of the entry for all names without a hue.
  std::string_view rest_name;
  // The shade that the name always has. Null: see Coloring::is_hued().
  Shade (*shade_of)(std::uint32_t key) = nullptr;
  std::string_view (*name_of_shade)(Shade shade) = nullptr;  // With `shade_of`: the name that has the shade.
};
// For colorings by scale, where each block has its own step.
struct StepsOfBlocks {
  Shade (*step_of)(const LiveBlock& block);
  std::span<const std::string_view> names;
  std::string (*where_of)(std::size_t step) = nullptr;  // A filter expression that finds the blocks of `step`.
};

struct Coloring {
  HeapColoring kind = HeapColoring::automatic;
  std::string_view key;     // "code", for --color.
  std::string_view title;   // "Your code"
  bool is_ordered = false;  // The shades are steps of a scale; otherwise they are categories.
  std::string_view help;    // What the colours mean, as a sentence.
  // Why the heap can't be coloured this way, as a sentence; empty if it can. Null if it always can.
  std::string_view (*why_not)(const HeapInfo& heap, bool is_pinned) = nullptr;
  // Assigns each block its shade and fills the legend. Null means that `names` or `steps` does it.
  void (*shade)(HeapSpans& map, const ColoringInput& input) = nullptr;
  // One of these is set if a block keeps its shade for its whole life; only then can it be a box of addresses over
  // time.
  const NamesOfBlocks* names = nullptr;
  const StepsOfBlocks* steps = nullptr;
  Role (*role_of)(Shade shade) = nullptr;  // Null: a hue, or a step of the scale.
  std::string_view why_not_of_a_box = {};  // If neither is set, why not: "changes with the time"
  bool compares_with_pin = false;          // `shade` needs ColoringFacts::pinned: what changed since the pinned time.
  bool needs_ends = false;                 // `shade` needs ColoringFacts::live, with the ends of the blocks.
  // The shade of what is no longer there: the legend shows it as an outline, and HeapSpans::gone has its addresses.
  std::optional<Shade> gone_shade = {};

  bool is_of_a_box() const { return names != nullptr || steps != nullptr; }
  // By names without a fixed shade: the largest names of the trace have hues (trace_colors.h).
  bool is_hued() const { return names != nullptr && names->shade_of == nullptr; }
};

Shade shade_of_category(Category category);  // Fixed: a category has the colour that is named after it.
std::span<const Coloring> coloring_table();
const Coloring& row_of(HeapColoring coloring);
HeapColoring coloring_since_pin();                  // The one that compares with the pinned time.
std::string lower_title_of(HeapColoring coloring);  // "your code"
std::optional<HeapColoring> parse_coloring(std::string_view key);

}  // namespace hbmscope::gui
