// How different two colours look: CIEDE2000 between the colours as seen by a person with a given kind of colour vision.
//
// The distance is that of CIE 142-2001 as formulated by Sharma, Wu, Dalal, "The CIEDE2000 color-difference formula"
// (Color Research and Application 30, 2005), under D65. The simulations are from Machado, Oliveira, Fernandes, "A
// Physiologically-based Model for Simulation of Color Vision Deficiency" (IEEE TVCG 15, 2009), severity 1, applied to
// linear RGB.
#pragma once

#include "app/gui/core/palette.h"

namespace hbmscope::test {

enum class Vision { normal, protan, deutan, tritan };

struct Lab {
  double l = 0, a = 0, b = 0;
};
Lab lab_seen_by(Vision vision, gui::Color color);
double ciede2000(const Lab& first, const Lab& second);

}  // namespace hbmscope::test
