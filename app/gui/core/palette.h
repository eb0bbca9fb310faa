// The window's colours as data, dark and light. No other file names a colour. The hues are distinguishable under
// protan, deutan and tritan vision (tests/gui_core computes the distances), but hue never stands alone: state is also a
// shape, a pattern or a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hbmscope::gui {

enum class Theme { dark, light };
std::string_view text_from_theme(Theme theme);

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Color&, const Color&) = default;
};

// The first eight are the category hues, in the order in which files and kinds get them.
enum class Role {
  parameters,
  gradients,
  optimizer_state,
  activations,
  temporaries,
  inputs_outputs,
  collectives,
  code_constants,
  several,
  rounding,
  grown,
  free,
  no_memory,
  panel,
  text,
  dim_text,
  largest_free,
  failure,
  selection,
  selection_inner,
  outside_pool,
  other_processes,
  unexplained,
  not_identified,
  shrunk,
  same,
  count_
};

Color color_of(Theme theme, Role role);
Role role_from_hue(std::size_t hue);  // 0..7; beyond that: several.

// `top` over `bottom` with weight `share`, for hover and row backgrounds. Data colours are never mixed.
Color mix(Color bottom, Color top, double share);

// Black or white, whichever contrasts more with a fill (WCAG 2.2 relative luminance).
Color text_on(Color fill);
double contrast(Color a, Color b);  // 1 to 21.

}  // namespace hbmscope::gui
