#include "app/gui/views/timeline/draw_timeline_layout.h"

#include <algorithm>
#include <cmath>

#include "analysis/units/format.h"
#include "app/gui/core/timeline_markers.h"

namespace hbmscope::gui {
namespace {

// So little of the pool is in use that changes would hardly be visible.
bool is_low(const TimelineColumns& timeline) {
  return timeline.in_use_most < timeline.pool_most / 4;
}

std::uint64_t most_of(const TimelineHeap& heap, bool fits_y) {
  if (!fits_y) return heap.peak;
  std::uint64_t most = 0;
  for (const Band& column : heap.columns) most = std::max(most, column.most);
  return most;
}

// Small multiples: each device has its place, whichever is shown, and all have one scale. In a low view they keep a
// height at which a curve can be read, and scroll; the shown one then stays at the edge.
void add_devices(TimelinePicture& picture, const PictureOptions& options, float gap, float least) {
  const float room = picture.memory.height() + gap;
  const auto lanes = std::clamp<std::size_t>(static_cast<std::size_t>(room / (least + gap)), 1, options.devices + 1);
  const float height = std::floor(room / static_cast<float>(lanes));
  picture.devices_left_out = options.devices + 1 - lanes;
  picture.first_device = std::min(options.first_device, picture.devices_left_out);
  const std::size_t last = picture.first_device + lanes - 1;
  const std::size_t place_of_shown = std::clamp(options.device, picture.first_device, last) - picture.first_device;
  const Lane all = picture.memory;
  for (std::size_t i = 0; i < lanes; ++i) {
    Lane lane = all;
    lane.from.y = all.from.y + static_cast<float>(i) * height;
    lane.to.y = lane.from.y + height - gap;
    if (i == place_of_shown) {
      picture.memory = lane;
    } else {
      picture.devices.push_back(lane);
      picture.device_numbers.push_back(picture.first_device + i);
    }
  }
}

// Small blocks on a high base, as on parameters that stay, would be a flat line.
void fit_foot(TimelinePicture& picture) {
  constexpr double margin = 8, least_share = 1000;
  Band seen = picture.pixels.front().in_use;
  for (const TimelineColumn& pixel : picture.pixels) seen.add(pixel.in_use);
  const auto least = static_cast<double>(seen.least), most = static_cast<double>(seen.most);
  if (most - least >= most / 2) return;
  const double beside = std::max((most - least) / margin, most / least_share);
  picture.memory.least = std::max(0.0, least - beside);
  picture.memory.most = most + beside;
}

}  // namespace

std::uint64_t most_on_axis(const TimelineColumns& timeline) {
  return std::max(timeline.in_use_most, is_low(timeline) ? 0 : timeline.pool_most);
}

float Lane::y_of(double value) const {
  return to.y - static_cast<float>(std::clamp((value - least) / (most - least), 0.0, 1.0)) * (to.y - from.y);
}

float TimelinePicture::x_of_axis(double at) const {
  if (!(end > begin)) return left;
  return left + static_cast<float>((at - begin) / (end - begin) * static_cast<double>(width));
}
double TimelinePicture::axis_of(float x) const {
  return begin + static_cast<double>(x - left) / static_cast<double>(width) * (end - begin);
}
std::uint64_t TimelinePicture::position_before(int pixel) const {
  if (pixel > 0) return pixels[static_cast<std::size_t>(pixel - 1)].position;
  const double column = source.share_of_axis(begin) * static_cast<double>(source.columns.size());
  const auto first = static_cast<std::size_t>(std::max(0.0, column + 1e-6));
  return first == 0 ? source.begin_position : source.columns[std::min(first, source.columns.size()) - 1].position;
}
std::uint64_t TimelinePicture::position_after(int pixel) const {
  return pixels[static_cast<std::size_t>(pixel)].position;
}

TimelinePicture::ColumnRange TimelinePicture::columns_under(int pixel) const {
  const float x = left + static_cast<float>(pixel);
  const auto count = static_cast<std::int64_t>(source.columns.size());
  const auto at = [&](float place) { return source.share_of_axis(axis_of(place)) * static_cast<double>(count); };
  // Tolerates rounding errors at the border.
  const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at(x) + 1e-6)), 0, count - 1);
  const auto behind =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at(x + 1) - 1e-6)), first + 1, count);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(behind)};
}

TimelinePicture make_picture(const TimelineColumns& whole, const TimelineColumns* part, PictureOptions options,
                             ImVec2 from, ImVec2 to, const Look& look) {
  TimelineSpan& seen = options.seen;
  const bool fits_y = options.fits_y;
  if (seen.empty()) seen = whole.whole;
  const bool has_all = part != nullptr && part->heap == whole.heap && part->whole == whole.whole &&
                       part->span.begin <= seen.begin && part->span.end >= seen.end;
  TimelinePicture picture{has_all ? *part : whole};
  picture.has_thin_lanes = options.has_thin_lanes;
  picture.begin = static_cast<double>(seen.begin);
  picture.end = static_cast<double>(seen.end);
  picture.left = from.x;
  picture.width = static_cast<int>(to.x - from.x);
  picture.top = from.y;
  picture.bottom = to.y;
  picture.pixels.reserve(static_cast<std::size_t>(picture.width));
  for (int x = 0; x < picture.width; ++x) picture.pixels.push_back(picture.under(picture.source.columns, x));

  // As many lanes as fit; memory first.
  const TimelineColumns& scale = fits_y ? picture.source : whole;
  const float gap = look.px(8), row = ImGui::GetTextLineHeight() + look.px(2);
  const bool is_alone = options.devices == 0;
  const float kept = options.has_thin_lanes ? 0 : look.px(plot_least);
  const auto fold = [&](const std::string& what) { picture.folded += (picture.folded.empty() ? "" : ", ") + what; };
  const int instant_rows = picture.source.instants.empty() && picture.source.refusals.empty() ? 0 : 1;
  int depth = 0;
  for (const TimelineMarker& one : picture.source.stretches) depth = std::max(depth, one.depth + 1);
  int marker_rows = instant_rows + depth;
  float room = to.y - from.y, foot = to.y;
  // Outer ranges (steps) say more than what is nested in them: these only get what is left.
  picture.marker_rows_left_out = marker_rows;
  marker_rows = std::min(marker_rows, std::max(1, static_cast<int>(room / 4 / row)));
  // The outermost spans are there also where other lanes are folded.
  const int rows_kept = std::min(marker_rows, instant_rows + (depth > 0 ? 1 : 0));
  while (marker_rows > rows_kept && room - static_cast<float>(marker_rows) * row < kept) --marker_rows;
  if (is_alone && marker_rows > 0 && room > look.px(60) + static_cast<float>(marker_rows) * row) {
    picture.marker_rows_left_out -= marker_rows;
    picture.markers = Lane{{from.x, to.y - static_cast<float>(marker_rows) * row}, to, 1};
    foot = picture.markers->from.y - look.px(4);
    room = foot - from.y;
  }
  const float lane_height = ImGui::GetTextLineHeight() * 2 + look.px(2);
  const bool has_heap = !whole.heap.empty();
  // Other heaps and counters leave the larger part to what is in use.
  const float room_of_heap = has_heap ? std::max({look.px(whole.knows_regions ? 130 : 60), 9 * lane_height, kept}) : 0;
  // Other kinds of memory come before the largest free block, because they matter more for a TPU program.
  const auto& heaps = picture.source.heaps;
  const auto kinds = static_cast<std::size_t>(
      std::count_if(heaps.begin(), heaps.end(), [](const TimelineHeap& heap) { return heap.is_other_kind; }));
  const auto as_many = [&](std::size_t wanted, float least, const char* what) {
    std::size_t count = 0;
    for (; is_alone && count < wanted && room > least + lane_height; ++count) room -= lane_height + gap;
    if (kept > 0 && has_heap && count < wanted) fold(text_from_count_of(wanted - count, what));
    return count;
  };
  // The kinds of memory of a device are one picture: each has the same height.
  const float tier_height = kinds == 0 ? 0 : std::max(lane_height, (room - gap) / static_cast<float>(kinds + 1) - gap);
  std::size_t heap_lanes = 0;
  for (; is_alone && heap_lanes < kinds && room > look.px(60) + tier_height; ++heap_lanes) room -= tier_height + gap;
  const std::size_t counter_lanes = as_many(picture.source.counters.size(), room_of_heap, "counter");
  if (heap_lanes == kinds) heap_lanes += as_many(heaps.size() - kinds, room_of_heap, "heap");
  // Without a heap, the counters share its room.
  const float counter_height =
      has_heap || counter_lanes == 0 ? lane_height : (foot - from.y + gap) / static_cast<float>(counter_lanes) - gap;
  const auto add_lanes = [&](std::vector<Lane>& lanes, std::size_t count, float height) {
    for (std::size_t i = 0; i < count; ++i, foot -= height + gap)
      lanes.insert(lanes.begin(), Lane{{from.x, foot - height}, {to.x, foot}, 1});
  };
  const float last_foot = foot;
  add_lanes(picture.counters, counter_lanes, counter_height);
  for (std::size_t i = heap_lanes; i-- > 0;)
    add_lanes(picture.heaps, 1, heaps[i].is_other_kind ? tier_height : lane_height);
  room = foot - from.y;
  for (std::size_t i = 0; i < picture.counters.size(); ++i)
    picture.counters[i].most = std::max(1.0, static_cast<double>(picture.source.counters[i].most) * 1.1);
  for (std::size_t i = 0; i < picture.heaps.size(); ++i)
    picture.heaps[i].most = std::max(1.0, static_cast<double>(most_of(heaps[i], fits_y)) * 1.1);
  // Thin lanes: the picture is what is in use.
  const float thin = ImGui::GetTextLineHeight() + look.px(2);
  // A lane is there if both have room; the last ones go first.
  float plot = room;
  const auto has_lane = [&](const char* what, float least, float height) {
    if (!is_alone || room <= least) return false;
    if (kept > 0 && plot - height - gap < kept) {
      fold(what);
      return false;
    }
    plot -= height + gap;
    return true;
  };
  if (options.has_steps && has_lane("growth per step", 3 * lane_height, lane_height)) {
    picture.growth = Lane{{from.x, foot - lane_height}, {to.x, foot}, 1};
    foot -= lane_height + gap;
  }
  const bool has_fits = whole.knows_regions && has_lane("largest free block", 2.5F * lane_height, thin),
             has_fragmentation = has_fits && has_lane("fragmentation", 3 * lane_height, thin);
  if (whole.knows_regions && !has_fits && !picture.folded.empty()) fold("fragmentation");
  const float split = foot - (has_fits ? thin + gap : 0) - (has_fragmentation ? thin + gap : 0);
  // The scale of all devices is that of what they have in use, whichever is shown.
  const std::uint64_t own_most = is_alone ? most_on_axis(scale) : whole.in_use_most;
  picture.memory = {from,
                    {to.x, has_heap ? split : last_foot},
                    std::max(1.0, static_cast<double>(std::max(own_most, options.most_beside)) * 1.1)};
  // Zoomed in on little, it ends at half, a quarter, ... of that: a scale that stays while the picture is moved.
  const bool is_part = picture.end - picture.begin < static_cast<double>(whole.whole.length());
  if (is_part && is_alone && !fits_y && options.most_beside == 0) {
    std::uint64_t seen_most = 0;
    for (const TimelineColumn& pixel : picture.pixels) seen_most = std::max(seen_most, pixel.in_use.most);
    while (seen_most > 0 && static_cast<double>(seen_most) * 1.1 < picture.memory.most / 2) picture.memory.most /= 2;
  }
  if (options.y_range) {
    picture.memory.least = is_alone ? options.y_range->least : 0;
    picture.memory.most = options.y_range->most;
  } else if (fits_y && is_alone && options.most_beside == 0) {
    fit_foot(picture);
  }
  if (!is_alone) add_devices(picture, options, look.px(3), ImGui::GetTextLineHeight());
  if (has_fits)
    picture.fits =
        Lane{{from.x, split + gap},
             {to.x, split + gap + thin},
             std::max(1.0, static_cast<double>(std::max(scale.largest_free_most, scale.requested_most)) * 1.15)};
  if (has_fragmentation) picture.fragmentation = Lane{{from.x, foot - thin}, {to.x, foot}, 1};
  return picture;
}

std::string words_not_drawn(const TimelinePicture& picture, bool has_strip) {
  const TimelineColumns& source = picture.source;
  std::vector<std::string> without_room;
  const auto add = [&](std::size_t count, const char* what, const char* of = "") {
    if (count > 0)
      without_room.push_back(text_from_count(static_cast<std::int64_t>(count)) + " " + what + (count == 1 ? "" : "s") +
                             of);
  };
  if (!picture.has_thin_lanes || !picture.devices.empty()) {
    // What is folded is not missing.
  } else if (source.knows_regions && !source.heap.empty()) {
    if (!picture.fits) without_room.emplace_back("largest free block");
    if (!picture.fragmentation) without_room.emplace_back("fragmentation");
  }
  const bool is_folded = !picture.folded.empty() || !picture.devices.empty();
  if (!is_folded) add(source.counters.size() - picture.counters.size(), "counter");
  // Other devices have cards above the views; only other kinds of memory are missing.
  const bool has_other_kinds = !source.heaps.empty() && source.heaps.front().is_other_kind;
  if (!is_folded && (!picture.heaps.empty() || has_other_kinds))
    add(source.heaps.size() - picture.heaps.size() + source.heaps_left_out, "heap");
  const bool has_markers = !source.instants.empty() || !source.refusals.empty() || !source.stretches.empty();
  if (has_markers && !picture.markers && picture.devices.empty())
    without_room.emplace_back("markers");
  else if (picture.has_thin_lanes && picture.devices.empty())
    add(static_cast<std::size_t>(picture.marker_rows_left_out), "row", " of markers");
  if (!has_strip) without_room.emplace_back("the overview of the whole trace");
  std::string words;
  for (const std::string& one : without_room) words += (words.empty() ? "No room for " : ", ") + one;
  if (!words.empty()) words += " (F11 maximises the view)";
  if (source.counters_left_out > 0)
    words += (words.empty() ? "" : "; ") + text_from_count(static_cast<std::int64_t>(source.counters_left_out)) +
             " more counter" + (source.counters_left_out == 1 ? "" : "s") + " in the report";
  return words;
}

std::int64_t apart_ns(const AppState& state, const TimelineColumns& whole) {
  const TimelineSpan seen = state.position().span.empty() ? whole.whole : state.position().span;
  const auto pixels = static_cast<std::int64_t>(std::max<std::size_t>(1, state.context().timeline_width));
  return std::min<std::int64_t>(1'000'000, seen.length() / pixels);
}

double axis_of_moment(const TraceMoment& moment, const TimelineColumns& whole) {
  return static_cast<double>(
      axis_of(moment.stream(whole.heap), moment.position(whole.heap), moment.time_ns(whole.heap)));
}

MomentName clicked_moment(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole,
                          std::uint64_t position, int pixel) {
  const bool is_between =
      whole.has_times && picture.position_before(pixel) == position && picture.position_after(pixel) == position;
  std::optional<std::int64_t> at;
  if (is_between) at = std::llround(picture.axis_of(picture.left + static_cast<float>(pixel) + 0.5F));
  return {*state.source()->trace, whole.heap.stream, position, at};
}

void show_span(const AppState& state, const TimelineColumns& whole, double begin, double end, CommandQueue& commands) {
  const TimelineSpan span = possible_span(whole, begin, end);
  if (span != state.position().span) commands.push(command::show_span, span);
}

void zoom_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double factor,
               double at, CommandQueue& commands) {
  show_span(state, whole, at - (at - picture.begin) / factor, at + (picture.end - at) / factor, commands);
}

void pan_span(const AppState& state, const TimelinePicture& picture, const TimelineColumns& whole, double by,
              CommandQueue& commands) {
  const double length = picture.end - picture.begin;
  const double begin =
      std::clamp(picture.begin + by, 0.0, std::max(0.0, static_cast<double>(whole.whole.end) - length));
  show_span(state, whole, begin, begin + length, commands);
}

}  // namespace hbmscope::gui
