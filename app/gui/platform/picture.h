// A picture in memory, and writing it to a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::gui {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // Three bytes per pixel, rows from the top, no padding.

  friend bool operator==(const Picture&, const Picture&) = default;
};

// The part of the picture inside the rectangle, clipped to the picture's borders.
Picture part_of(const Picture& picture, int left, int top, int right, int bottom);

// Returns the size of the file. Errors: the file can't be written.
Result<std::uint64_t> write_png(const Picture& picture, const std::string& file);

}  // namespace hbmscope::gui
