// A flame graph as SVG boxes, for the SVG export and inside the HTML report.
#pragma once

#include <string>

#include "analysis/query/profile_view.h"

namespace hbmscope {

struct FlameSvgOptions {
  int width_px = 1200;
  bool is_standalone = true;     // With the XML head and a background. False: for embedding in a page.
  double smallest_share = 1e-4;  // Boxes below this share of the total are left out and counted in one line.
};
std::string write_flame_svg(const ProfileView& view, const FlameSvgOptions& options);

}  // namespace hbmscope
