#include "app/gui/core/palette.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "app/gui/core/color_keeper.h"
#include "app/gui/core/heap_raster.h"
#include "tests/gui_core/color_distance.h"

namespace hbmscope::gui {
namespace {

using test::ciede2000;
using test::lab_seen_by;
using test::Vision;

double smallest_distance(Theme theme, Vision vision) {
  double smallest = 1000;
  for (std::size_t a = 0; a < hue_count; ++a)
    for (std::size_t b = a + 1; b < hue_count; ++b)
      smallest = std::min(smallest, ciede2000(lab_seen_by(vision, color_of(theme, role_from_hue(a))),
                                              lab_seen_by(vision, color_of(theme, role_from_hue(b)))));
  return smallest;
}

// Pairs of the paper's table 1, which an error in any of the formula's branches gets wrong.
TEST(Ciede2000, agrees_with_the_published_pairs) {
  EXPECT_NEAR(ciede2000({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 5e-5);
  EXPECT_NEAR(ciede2000({50, -1.3802, -84.2814}, {50, 0, -82.7485}), 1.0000, 5e-5);
  EXPECT_NEAR(ciede2000({50, 2.4900, -0.0010}, {50, -2.4900, 0.0011}), 7.2195, 5e-5);
  EXPECT_NEAR(ciede2000({50, 2.5, 0}, {73, 25, -18}), 27.1492, 5e-5);
  EXPECT_NEAR(ciede2000({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}), 1.2644, 5e-5);
  EXPECT_NEAR(ciede2000({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082, 5e-5);
}

TEST(Palette, category_hues_can_be_distinguished_by_everybody) {
  double dark = 1000, light = 1000;
  for (const Vision vision : {Vision::normal, Vision::protan, Vision::deutan, Vision::tritan}) {
    dark = std::min(dark, smallest_distance(Theme::dark, vision));
    light = std::min(light, smallest_distance(Theme::light, vision));
  }
  RecordProperty("smallest_distance_dark", std::to_string(dark));
  RecordProperty("smallest_distance_light", std::to_string(light));
  std::printf("smallest CIEDE2000 distance: %.2f dark, %.2f light\n", dark, light);
  EXPECT_GE(dark, 10.55);  // 10.6 and 9.3, rounded to one digit.
  EXPECT_GE(light, 9.25);
}

TEST(Palette, steps_of_a_scale_can_be_distinguished_by_everybody_and_are_ordered_by_brightness) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    double smallest = 1000;
    for (Shade step = 0; step + 1 < static_cast<Shade>(step_count); ++step) {
      const Color a = color_of_shade(theme, HeapColoring::size, step),
                  b = color_of_shade(theme, HeapColoring::size, static_cast<Shade>(step + 1));
      for (const Vision vision : {Vision::normal, Vision::protan, Vision::deutan, Vision::tritan}) {
        const auto seen_a = lab_seen_by(vision, a), seen_b = lab_seen_by(vision, b);
        smallest = std::min(smallest, ciede2000(seen_a, seen_b));
        EXPECT_EQ(theme == Theme::dark, seen_a.l < seen_b.l) << text_from_theme(theme) << " " << int{step};
      }
    }
    std::printf("smallest CIEDE2000 distance of neighbouring steps: %.2f %s\n", smallest,
                std::string(text_from_theme(theme)).c_str());
    EXPECT_GE(smallest, 10.9) << text_from_theme(theme);
  }
}

TEST(Palette, text_contrast_is_at_least_4_5) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    EXPECT_GE(contrast(color_of(theme, Role::text), color_of(theme, Role::panel)), 4.5);
    EXPECT_GE(contrast(color_of(theme, Role::dim_text), color_of(theme, Role::panel)), 4.5);
    for (std::size_t hue = 0; hue <= hue_count; ++hue) {
      const Color fill = color_of(theme, role_from_hue(hue));
      EXPECT_GE(contrast(text_on(fill), fill), 4.5) << "hue " << hue << " " << text_from_theme(theme);
    }
  }
}

TEST(Palette, text_on_a_fill_is_black_or_white_whichever_contrasts_more) {
  EXPECT_EQ(text_on({255, 255, 0}), (Color{0, 0, 0}));
  EXPECT_EQ(text_on({20, 20, 80}), (Color{255, 255, 255}));
}

TEST(ColorKeeper, a_file_keeps_its_hue_and_the_ninth_is_neutral) {
  ColorKeeper keeper;
  KnownHues known;
  keeper.add({"a.py", "b.py"}, known);
  keeper.add({"c.py", "a.py", "d.py"}, known);
  EXPECT_EQ(keeper.hue_of("a.py"), 0u);
  EXPECT_EQ(keeper.hue_of("b.py"), 1u);
  EXPECT_EQ(keeper.hue_of("c.py"), 2u);
  keeper.add({"e", "f", "g", "h", "i", "j"}, known);
  EXPECT_EQ(keeper.hue_of("h"), 7u);
  EXPECT_EQ(keeper.hue_of("i"), no_hue);
  EXPECT_EQ(role_from_hue(keeper.hue_of("i")), Role::several);
}

}  // namespace
}  // namespace hbmscope::gui
