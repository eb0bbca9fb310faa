// All memory of a device at a time, as one bar that adds up to it, with a legend.
#pragma once

#include "app/gui/core/answers.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

void draw_device_bar(const Look& look, const DeviceBudget& budget);

}  // namespace hbmscope::gui
