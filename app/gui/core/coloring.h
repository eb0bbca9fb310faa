// How a heap map can be coloured. A coloring is a word in the list below and a row in coloring.cpp; the choice in the
// window, `--color`, its help and the copied commands are made of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/trace/stream.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

// X(name), in the order of the choice.
#define HBMSCOPE_COLORINGS(X) \
  X(automatic)                \
  X(own_code)                 \
  X(size)                     \
  X(age)                      \
  X(lifetime)                 \
  X(state)                    \
  X(tag)                      \
  X(device_stream)            \
  X(waste)                    \
  X(change)

enum class HeapColoring {
#define X(name) name,
  HBMSCOPE_COLORINGS(X)
#undef X
};

// Which colour: a hue of a category (0 to 7, 8: several or none), or a step of a scale (0 to 5, 8: unknown).
using Shade = std::uint8_t;
inline constexpr Shade shade_count = 9, several_shade = 8;
inline constexpr std::size_t step_count = 6;

struct HeapPieces;
struct ColoringFacts;

// What a coloring may look at.
struct ColoringInput {
  const Stream& stream;
  const StreamState& state;
  std::uint32_t heap = 0;
  const ColoringFacts& facts;
};

// For blocks that are coloured by a name that each has on its own.
struct NamesOfBlocks {
  std::uint32_t (*key_of)(const LiveBlock& block);  // What the name depends on.
  std::string (*name_of)(const Definitions& definitions, std::uint32_t key);
  std::string (*where_of)(const Definitions& definitions, std::uint32_t key);  // Finds them, in the filter language.
  std::string_view rest_name;                                                  // Of the names that got no hue.
};
// For blocks that are coloured by a scale on which each has a place on its own.
struct StepsOfBlocks {
  Shade (*step_of)(const LiveBlock& block);
  std::span<const std::string_view> names;
  std::string (*where_of)(std::size_t step) = nullptr;  // Finds them, in the filter language.
};

struct Coloring {
  HeapColoring kind = HeapColoring::automatic;
  std::string_view key;     // "code", for --color.
  std::string_view title;   // "Your code"
  bool is_ordered = false;  // Its shades are steps of one scale; else they are categories.
  std::string_view help;    // What the colours mean, a sentence.
  // Why the heap can't be coloured so, a sentence; empty: it can. Null: it always can.
  std::string_view (*why_not)(const HeapInfo& heap, bool is_pinned) = nullptr;
  // Gives each block of the map its shade, and fills the legend. Null: by `names` or `steps`.
  void (*shade)(HeapPieces& map, const ColoringInput& input) = nullptr;
  // One of them where a block has its shade for all of its life: then it can also be a box of addresses and time.
  const NamesOfBlocks* names = nullptr;
  const StepsOfBlocks* steps = nullptr;
  Role (*role_of)(Shade shade) = nullptr;  // Null: a hue, or a step of the scale.
  std::string_view why_not_of_a_box = {};  // For the others: "changes with the time"

  bool is_of_a_box() const { return names != nullptr || steps != nullptr; }
};

std::span<const Coloring> coloring_table();
const Coloring& row_of(HeapColoring coloring);
std::optional<HeapColoring> parse_coloring(std::string_view key);

// Your code where at least half of the heap's bytes have a stack, else tags where half have one, else size: what a
// source does not report would be one grey. Of an empty heap your code.
HeapColoring choose_coloring(const StreamState& state, std::uint32_t heap);
HeapColoring choose_coloring(double bytes, double with_stack, double with_tag);  // Or their bytes times time.

}  // namespace hbmscope::gui
