#include "app/gui/core/box_raster.h"

#include <algorithm>
#include <cmath>

namespace hbmscope::gui {
namespace {

constexpr std::int64_t steps = 256;           // Per pixel, in each direction.
constexpr std::int64_t full = steps * steps;  // The area of a pixel.

// Rounds to the nearest step; never empty if `begin` < `end`.
struct StepRange {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};
StepRange steps_of(double begin, double end, std::size_t pixels) {
  const auto limit = static_cast<double>(pixels);
  if (!(begin < end) || begin >= limit || end <= 0) return {};
  const std::int64_t last = static_cast<std::int64_t>(pixels) * steps;
  const std::int64_t first = std::min(std::llround(std::max(begin, 0.0) * steps), static_cast<long long>(last - 1));
  return {first, std::max<std::int64_t>(first + 1, std::llround(std::min(end, limit) * steps))};
}

}  // namespace

BoxRaster::BoxRaster(int width, int height)
    : width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      stride_(width_ + 2),
      layers_(std::size_t{shade_count} + 1) {}

void BoxRaster::add(const Box& box, std::size_t layer) {
  const StepRange x = steps_of(box.left, box.right, width_), y = steps_of(box.top, box.bottom, height_);
  if (x.empty() || y.empty()) return;
  std::vector<std::int32_t>& covered = layers_[layer];
  if (covered.empty()) covered.resize(stride_ * height_);
  // Summed along the row, these four values form a ramp in the first and in the last pixel, with full coverage in
  // between.
  const std::int64_t first = x.begin / steps, first_part = x.begin % steps;
  const std::int64_t last = x.end / steps, last_part = x.end % steps;
  for (std::int64_t row = y.begin / steps; row * steps < y.end; ++row) {
    const std::int64_t high = std::min(y.end, (row + 1) * steps) - std::max(y.begin, row * steps);
    std::int32_t* const at = covered.data() + static_cast<std::size_t>(row) * stride_;
    at[first] += static_cast<std::int32_t>((steps - first_part) * high);
    at[first + 1] += static_cast<std::int32_t>(first_part * high);
    at[last] -= static_cast<std::int32_t>((steps - last_part) * high);
    at[last + 1] -= static_cast<std::int32_t>(last_part * high);
  }
}

std::vector<BoxCell> BoxRaster::cells() const {
  std::vector<BoxCell> cells(width_ * height_);
  std::vector<std::int64_t> occupied(width_), most(width_);
  for (std::size_t row = 0; row < height_; ++row) {
    BoxCell* const line = cells.data() + row * width_;
    std::fill(occupied.begin(), occupied.end(), 0);
    std::fill(most.begin(), most.end(), 0);
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      if (layers_[layer].empty()) continue;
      const std::int32_t* const at = layers_[layer].data() + row * stride_;
      std::int64_t now = 0;
      for (std::size_t x = 0; x < width_; ++x) {
        now += at[x];
        if (layer == shade_count) {
          line[x].has_memory = now * 2 >= full;
          continue;
        }
        occupied[x] += now;
        if (now <= most[x]) continue;
        most[x] = now;
        line[x].shade = static_cast<Shade>(layer);
      }
    }
    for (std::size_t x = 0; x < width_; ++x)
      if (occupied[x] > 0)
        line[x].quarters =
            static_cast<std::uint8_t>(std::clamp<std::int64_t>((occupied[x] * 4 + full / 2) / full, 1, 4));
  }
  return cells;
}

}  // namespace hbmscope::gui
