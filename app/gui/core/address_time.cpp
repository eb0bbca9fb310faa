#include "app/gui/core/address_time.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/query/allocation_times.h"
#include "analysis/trace/pass_from.h"
#include "analysis/trace/range_table.h"
#include "app/gui/core/block_shades.h"

namespace hbmscope::gui {
namespace {

struct Box {
  AddressRange range;
  double begin = 0, end = 0;  // On the axis.
  const LiveBlock& block;
};

// One pass over the span. It calls visit_block(Box) for every block that was live in it, and visit_memory(range, begin,
// end) for every region (none if the source does not report regions).
template <class VisitBlock, class VisitMemory>
class StretchPass {
 public:
  StretchPass(const Stream& stream, const AddressTime& picture, const VisitBlock& visit_block,
              const VisitMemory& visit_memory)
      : stream_(stream), picture_(picture), visit_block_(visit_block), visit_memory_(visit_memory) {}

  bool run(PassControl* control) {
    const StreamPositions positions = positions_of(stream_, picture_.query.span);
    StreamState state = stream_.state_at(positions.begin);
    begin_ = static_cast<double>(picture_.query.span.begin);
    end_ = static_cast<double>(picture_.query.span.end);
    state.heap(heap()).space.for_each_region([&](AddressRange range) { regions_.add(0, range, {begin_}); });
    const auto go_on = [&](std::uint64_t events) {
      if (control == nullptr) return true;
      control->done_events += events;
      return !control->cancelled;
    };
    const bool is_whole =
        pass_over_heaps_from(stream_, state, positions.end, go_on,
                             [&](const StreamState& now, const HeapChange& change, const wire::DecodedBlock& block) {
                               if (change.heap == heap()) take(now, change, block);
                             });
    if (!is_whole) return false;
    for (const LiveBlock& block : state.slots())
      if (block.heap == heap()) report(block, begin_of(block), end_);
    regions_.for_each(
        [&](std::uint32_t, AddressRange range, const Began& began) { visit_memory_(range, began.at, end_); });
    return true;
  }

 private:
  struct Began {
    double at = 0;
    Began after(std::uint64_t) const { return *this; }
  };

  std::uint32_t heap() const { return picture_.query.heap.heap; }
  double axis_of(std::uint64_t position, std::int64_t time_ns) const {
    const double at =
        picture_.has_times ? static_cast<double>(time_ns - picture_.first_time_ns) : static_cast<double>(position);
    return std::clamp(at, begin_, end_);
  }
  double begin_of(const LiveBlock& block) const {
    if (block.event == wire::before_the_stream) return begin_;
    if (!picture_.has_times) return axis_of(block.event + 1, 0);
    const auto time_ns = times_.find(block.event);
    return time_ns ? axis_of(0, *time_ns) : begin_;
  }
  void report(const LiveBlock& block, double begin, double end) {
    if (block.has_address()) visit_block_(Box{{block.address, block.address + block.size}, begin, end, block});
  }

  void take(const StreamState& now, const HeapChange& change, const wire::DecodedBlock& block) {
    const double at = axis_of(change.position, change.time_ns);
    if (change.what == HeapChange::What::allocated && picture_.has_times)
      times_.add(change.place.event, change.time_ns, now);
    if (change.what == HeapChange::What::freed) {
      report(*change.block, begin_of(*change.block), at);
      times_.take(change.block->event);
    }
    for (const LiveBlock& went : change.went) report(went, begin_of(went), at);
    switch (change.place.kind) {
      case wire::RecordKind::region_grow: {
        const auto& region = block.rows<wire::RegionGrowRecord>()[change.place.row];
        return grow({region.address, region.address + region.size}, at);
      }
      case wire::RecordKind::region_shrink: {
        const auto& region = block.rows<wire::RegionShrinkRecord>()[change.place.row];
        return shrink({region.address, region.address + region.size}, at);
      }
      case wire::RecordKind::alloc:
      case wire::RecordKind::free:
      case wire::RecordKind::free_requested:
      case wire::RecordKind::move: return;
      default: break;
    }
    // The heap was removed or listed again: take the regions that exist now.
    shrink({0, ~std::uint64_t{0}}, at);
    now.heap(heap()).space.for_each_region([&](AddressRange range) { regions_.add(0, range, {at}); });
  }
  void grow(AddressRange range, double at) {
    if (range.begin >= range.end) return;
    shrink(range, at);
    regions_.add(0, range, {at});
  }
  void shrink(AddressRange range, double at) {
    if (range.begin >= range.end) return;
    regions_.cut(0, range,
                 [&](const Began& began, std::uint32_t, AddressRange part) { visit_memory_(part, began.at, at); });
  }

  const Stream& stream_;
  const AddressTime& picture_;
  const VisitBlock& visit_block_;
  const VisitMemory& visit_memory_;
  double begin_ = 0, end_ = 0;
  AllocationTimes times_;
  RangeTable<Began> regions_;
};

template <class VisitBlock, class VisitMemory>
bool pass_over_stretch(const Stream& stream, const AddressTime& picture, PassControl* control,
                       const VisitBlock& visit_block, const VisitMemory& visit_memory) {
  return StretchPass(stream, picture, visit_block, visit_memory).run(control);
}

// Merges ranges that overlap or are less than `gap` apart.
class Ranges {
 public:
  explicit Ranges(std::uint64_t gap) : gap_(gap) {}
  void add(AddressRange range) {
    const std::uint64_t reach = range.end > ~std::uint64_t{0} - gap_ ? ~std::uint64_t{0} : range.end + gap_;
    auto next = ends_.upper_bound(reach);
    while (next != ends_.begin()) {
      const auto before = std::prev(next);
      if (before->second < range.begin && range.begin - before->second > gap_) break;
      range = {std::min(range.begin, before->first), std::max(range.end, before->second)};
      next = ends_.erase(before);
    }
    ends_.emplace(range.begin, range.end);
  }
  const std::map<std::uint64_t, std::uint64_t>& ends() const { return ends_; }

 private:
  std::uint64_t gap_;
  std::map<std::uint64_t, std::uint64_t> ends_;  // Keyed by begin.
};

std::vector<AddressRange> seen_of(std::vector<AddressRange> memory, AddressRange addresses) {
  if (addresses.empty()) return memory;
  std::vector<AddressRange> seen;
  for (const AddressRange& range : memory)
    if (const AddressRange part = range.intersection(addresses); !part.empty()) seen.push_back(part);
  return seen.empty() ? memory : seen;  // Selected in another span of time; none of this memory existed in this one.
}

// The addresses at rows [begin, end) of the picture of all addresses.
AddressRange addresses_of_rows(const AddressTime& picture, double begin, double end) {
  const double height = picture.query.height;
  if (picture.whole.regions().empty()) return {};
  constexpr double bytes_per_px_min = 16;  // 16 px for a block of 256 bytes, as in the heap map.
  const double least = std::min(height, height * bytes_per_px_min / std::max(1.0, picture.whole.bytes_per_px()));
  const double length = std::max(end - begin, least);
  if (length >= height) return {};
  begin = std::clamp(begin, 0.0, height - length);
  return {picture.whole.nearest_address(begin), picture.whole.nearest_address(begin + length)};
}

}  // namespace

std::optional<AddressTime> compute_address_time(const Stream& stream, const AddressTimeQuery& query,
                                                const TraceColors& colors, PassControl* control) {
  AddressTime picture;
  picture.query = query;
  picture.has_times = stream.has_times();
  picture.first_time_ns = picture.has_times ? stream.zero_ns() : 0;
  if (query.span.empty()) picture.query.span = whole_span_of(stream);
  if (control != nullptr) {
    const StreamPositions positions = positions_of(stream, picture.query.span);
    control->total_events = 2 * (positions.end - positions.begin);
  }
  const BlockLabels labels(stream);
  BlockShades shades(stream.definitions(), labels, row_of(query.coloring), colors);
  Ranges regions(0), blocks(loose_gap_max);
  const bool first = pass_over_stretch(
      stream, picture, control,
      [&](const Box& box) {
        ShadedName& name = shades.names()[shades.number_of(box.block)];
        name.weight += static_cast<double>(box.range.size()) * (box.end - box.begin);
        ++name.entry.blocks;
        blocks.add(box.range);
        ++picture.boxes;
      },
      [&](AddressRange range, double, double) { regions.add(range); });
  if (!first) return std::nullopt;
  const auto length = static_cast<double>(picture.query.span.length());
  for (ShadedName& name : shades.names())
    name.entry.bytes = length > 0 ? static_cast<std::uint64_t>(name.weight / length) : 0;
  picture.legend = shades.legend();
  picture.knows_regions = !regions.ends().empty();
  std::vector<AddressRange> memory;
  for (const auto& [begin, end] : (picture.knows_regions ? regions : blocks).ends()) memory.push_back({begin, end});
  picture.whole = AddressAxis(memory, query.height);
  picture.axis = AddressAxis(seen_of(std::move(memory), query.addresses), query.height);
  BoxRaster raster(query.width, query.height);
  const auto box_of = [&](AddressRange range, double begin, double end) {
    return BoxRaster::Box{picture.left_of(begin), picture.axis.px_of(range.begin), picture.left_of(end),
                          picture.axis.px_of_end(range.end)};
  };
  const bool second = pass_over_stretch(
      stream, picture, control,
      [&](const Box& box) { raster.add_block(box_of(box.range, box.begin, box.end), shades.shade_of(box.block)); },
      [&](AddressRange range, double begin, double end) { raster.add_memory(box_of(range, begin, end)); });
  if (!second) return std::nullopt;
  picture.cells = raster.cells();
  return picture;
}

HeapColoring box_coloring(HeapColoring wanted, const TraceColors& colors) {
  return row_of(wanted).is_of_a_box() ? wanted : colors.automatic;
}

RowSpan rows_of_all(const AddressTime& picture, AddressRange seen) {
  if (seen.empty()) return {0, static_cast<double>(picture.query.height)};
  return {picture.whole.px_of(seen.begin), picture.whole.px_of_end(seen.end)};
}

AddressRange zoom_addresses(const AddressTime& picture, AddressRange seen, double factor, double share) {
  const RowSpan rows = rows_of_all(picture, seen);
  share = std::clamp(share, 0.0, 1.0);
  const double length = (rows.end - rows.begin) / factor, at = rows.begin + share * (rows.end - rows.begin);
  return addresses_of_rows(picture, at - share * length, at + (1 - share) * length);
}

AddressRange pan_addresses(const AddressTime& picture, AddressRange seen, double share) {
  const RowSpan rows = rows_of_all(picture, seen);
  const double by = share * (rows.end - rows.begin);
  return addresses_of_rows(picture, rows.begin + by, rows.end + by);
}

std::vector<Pixel> pixels_from_address_time(const AddressTime& picture, Theme theme) {
  const Color free = color_of(theme, Role::free);
  std::array<std::array<Pixel, 5>, shade_count> occupied{};
  for (Shade shade = 0; shade < shade_count; ++shade)
    for (std::size_t quarters = 0; quarters <= 4; ++quarters)
      occupied[shade][quarters] = pixel_from_color(
          mix(free, color_of_shade(theme, picture.query.coloring, shade), static_cast<double>(quarters) / 4));
  const Pixel no_memory =
      pixel_from_color(color_of(theme, picture.knows_regions ? Role::no_memory : Role::not_identified));
  std::vector<Pixel> pixels(picture.cells.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const BoxCell& cell = picture.cells[i];
    pixels[i] = cell.quarters == 0 && !cell.has_memory ? no_memory : occupied[cell.shade][cell.quarters];
  }
  return pixels;
}

}  // namespace hbmscope::gui
