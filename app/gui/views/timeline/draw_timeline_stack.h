// The bands of the timeline's memory lane: bytes in use by colour, stacked, one column per pixel.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/core/stack_course.h"
#include "app/gui/views/timeline/draw_timeline_lanes.h"

namespace hbmscope::gui {

// The columns of the visible span. They are made again only when the course, the span or the width changes.
class StackedBands {
 public:
  // False: the course is not known yet (null).
  bool update(std::shared_ptr<const StackCourse> course, TimelineSpan seen, int width);

  bool is_known() const { return course_ != nullptr; }
  const StackCourse& course() const { return *course_; }
  TimelineSpan seen() const { return seen_; }
  const std::vector<Composition>& pixels() const { return pixels_; }
  // The pixels from here on are beyond what the course has come to, as while a file is being read: they have no bands.
  int known_pixels() const { return known_pixels_; }
  const std::vector<Shade>& order() const { return order_; }  // From the bottom up.
  // The band at a height above the lane's foot, in bytes; nothing above all bands.
  std::optional<Shade> shade_at(int pixel, double bytes) const;
  // The height of the top of the band above the lane's foot, in bytes; `is_lit`: of its lit part, else of the dim one.
  std::uint64_t top_of(int pixel, Shade shade, bool is_lit) const;
  // "train_step  train.py:48", "optimizer state", "1 GiB and more"; "other code, or unknown" for the neutral band.
  std::string name_of(Shade shade) const;

 private:
  std::shared_ptr<const StackCourse> course_;
  TimelineSpan seen_;
  std::vector<Composition> pixels_;
  int known_pixels_ = 0;
  std::vector<Shade> order_;
};

// Only the band `lit` keeps its full colour, if it is set.
void draw_bands(PixelCanvas& draw, const Look& look, const Lane& lane, const StackedBands& bands,
                std::optional<Shade> lit);

}  // namespace hbmscope::gui
