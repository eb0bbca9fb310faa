#include "tests/allocator/naive_bfc.h"
#include "tests/sizes.h"

#include <algorithm>
#include <iterator>

namespace hbmscope::allocator {
namespace {

using xla_gpu::Version;

std::uint64_t up_to(std::uint64_t value, std::uint64_t step) {
  return value % step == 0 ? value : value - value % step + step;
}

}  // namespace

NaiveBfc::NaiveBfc(Upstream& upstream, const xla_gpu::Options& options)
    : upstream_(upstream),
      options_(options),
      version_(options.lifted.ends ? Version::classic_align : options.version),
      next_bytes_(up_to(options.allow_growth ? std::min(options.limit_bytes, 2 * mib) : options.limit_bytes, 256)) {
  statistics_.limit_bytes = options.limit_bytes;
}

std::uint64_t NaiveBfc::threshold() const {
  if (options_.fragmentation_fraction == 0) return 128 * mib;
  return static_cast<std::uint64_t>(options_.fragmentation_fraction * static_cast<double>(options_.limit_bytes));
}

bool NaiveBfc::leaves_whole(std::uint64_t piece_bytes, std::uint64_t bytes) const {
  if (options_.lifted.unsplit) return false;
  return piece_bytes < 2 * bytes && piece_bytes - bytes < threshold();
}

Allocation NaiveBfc::refusal() const {
  return {fault_ == Fault::none ? Outcome::out_of_memory : Outcome::fault, fault_, 0, 0, 0, 0};
}

// Where a request would begin in a free piece, were it cut as tightly as its end allows.
std::optional<std::uint64_t> NaiveBfc::start_in(Place place, std::uint64_t bytes, std::uint64_t alignment,
                                                Owner end) const {
  const std::uint64_t begin = place->first, stop = begin + place->second.bytes;
  if (place->second.bytes < bytes) return {};
  const std::uint64_t lowest = up_to(begin, alignment);
  if (lowest + bytes > stop) return {};
  if (end != Owner::upper) return lowest;
  return (stop - bytes) / alignment * alignment;
}

std::optional<NaiveBfc::Place> NaiveBfc::find(std::uint64_t bytes, std::uint64_t alignment, Owner end) const {
  auto& pieces = const_cast<std::map<std::uint64_t, PoolBlock>&>(pieces_);
  const bool takes_highest = is(Version::spatial_v3) && end == Owner::upper;
  std::optional<Place> best, gap;
  for (auto place = pieces.begin(); place != pieces.end(); ++place) {
    if (place->second.in_use || !start_in(place, bytes, alignment, end)) continue;
    if (place->second.owner == Owner::nobody) gap = place;
    if (place->second.owner != end) continue;
    const bool is_better = !best || place->second.bytes < (*best)->second.bytes ||
                           (takes_highest && place->second.bytes == (*best)->second.bytes);
    if (is_better) best = place;
  }
  return best ? best : gap;
}

// Returns the part from `at` on.
NaiveBfc::Place NaiveBfc::cut(Place place, std::uint64_t at) {
  PoolBlock rest = place->second;
  rest.bytes = place->first + place->second.bytes - at;
  place->second.bytes = at - place->first;
  return pieces_.emplace(at, rest).first;
}

std::optional<Allocation> NaiveBfc::serve(std::uint64_t bytes, std::uint64_t alignment, const Request& request) {
  const bool is_collective = request.space == Space::collective;
  Owner end = Owner::lower;
  if (has_ends()) end = is_collective != is(Version::spatial_v3) ? Owner::upper : Owner::lower;
  const auto found = find(bytes, alignment, end);
  if (!found) return {};
  Place place = *found;
  const bool is_gap = place->second.owner == Owner::nobody;
  const bool exact = options_.lifted.unsplit || (is(Version::spatial_v1) && is_collective) ||
                     (is(Version::spatial_v2) && is_gap) || (is(Version::spatial_v3) && is_collective);
  const std::uint64_t stop = place->first + place->second.bytes;
  std::uint64_t start = *start_in(place, bytes, alignment, end);
  const std::uint64_t lowest = up_to(place->first, alignment);
  if (!exact && leaves_whole(stop - lowest, bytes)) start = lowest;
  if (start > place->first) {
    const Place below = place;
    place = cut(below, start);
    if (end == Owner::lower) below->second.owner = Owner::lower;
  }
  const std::uint64_t rest = place->second.bytes;
  if (rest > bytes && (exact || !leaves_whole(rest, bytes))) {
    const Place above = cut(place, start + bytes);
    if (end == Owner::upper) above->second.owner = Owner::upper;
  }
  place->second.in_use = true;
  place->second.owner = end;
  ++statistics_.allocations;
  statistics_.in_use_bytes += place->second.bytes;
  statistics_.peak_in_use_bytes = std::max(statistics_.peak_in_use_bytes, statistics_.in_use_bytes);
  statistics_.largest_allocation_bytes = std::max(statistics_.largest_allocation_bytes, place->second.bytes);
  count_needed();
  return Allocation{Outcome::allocated,  Fault::none, place->second.owner == Owner::upper, place->second.region, start,
                    place->second.bytes, ++ids_};
}

// Of a preallocated pool that keeps nothing: all but the gap, or but what is free at its end.
void NaiveBfc::count_needed() {
  if (!counts_needed() || pieces_.empty()) return;
  const auto is_unneeded = [&](const auto& piece) {
    return !piece.second.in_use && (has_ends() ? piece.second.owner == Owner::nobody : &piece == &*pieces_.rbegin());
  };
  statistics_.pool_bytes = 0;
  for (const auto& piece : pieces_) statistics_.pool_bytes += is_unneeded(piece) ? 0 : piece.second.bytes;
  statistics_.peak_pool_bytes = std::max(statistics_.peak_pool_bytes, statistics_.pool_bytes);
}

void NaiveBfc::check_gaps() {
  const auto is_gap = [](const auto& piece) { return !piece.second.in_use && piece.second.owner == Owner::nobody; };
  if (std::count_if(pieces_.begin(), pieces_.end(), is_gap) > 1) fault_ = Fault::second_gap;
}

Allocation NaiveBfc::allocate(const Request& request) {
  if (fault_ != Fault::none) return refusal();
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, 0, 0, 0, 0};
  const std::uint64_t step = options_.lifted.rounding ? 1 : 256;
  const std::uint64_t bytes = up_to(request.bytes, step);
  const std::uint64_t alignment = is(Version::classic) || request.alignment <= 256 ? step : request.alignment;
  if (auto served = serve(bytes, alignment, request)) return *served;
  if (grow(bytes))
    if (auto served = serve(bytes, alignment, request)) return *served;
  if (fault_ == Fault::none && collect(bytes) && grow(bytes))
    if (auto served = serve(bytes, alignment, request)) return *served;
  return refusal();
}

bool NaiveBfc::grow(std::uint64_t bytes) {
  if (counts_needed() && !areas_.empty()) return false;
  const std::uint64_t available = (options_.limit_bytes - statistics_.pool_bytes) / 256 * 256;
  if (bytes > available) return false;
  const bool is_enough = bytes <= next_bytes_;
  while (bytes > next_bytes_) next_bytes_ *= 2;
  std::uint64_t requested = std::min(next_bytes_, available);
  std::optional<Claim> claim;
  while (!(claim = upstream_.claim(requested))) {
    const float less = static_cast<float>(requested) * 0.9F;
    const std::uint64_t next = up_to(static_cast<std::uint64_t>(less), 256);
    if (next == requested && options_.hangs_on_small_refusal) {
      fault_ = Fault::endless_backpedal;
      return false;
    }
    requested = next == requested ? requested - 256 : next;
    if (requested < bytes) return false;
  }
  if (is_enough) next_bytes_ *= 2;
  areas_.push_back({claims_, *claim});
  pieces_[claim->base] = {claim->bytes, claims_++, false, has_ends() ? Owner::nobody : Owner::lower};
  if (!counts_needed()) statistics_.pool_bytes += claim->bytes;
  statistics_.peak_pool_bytes = std::max(statistics_.peak_pool_bytes, statistics_.pool_bytes);
  check_gaps();
  return fault_ == Fault::none;
}

bool NaiveBfc::is_used(const Area& area) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const auto& piece) { return piece.second.region == area.number && piece.second.in_use; });
}

void NaiveBfc::release(const Area& area) {
  std::erase_if(pieces_, [&](const auto& piece) { return piece.second.region == area.number; });
  upstream_.release(area.claim);
  statistics_.pool_bytes -= area.claim.bytes;
}

bool NaiveBfc::collect(std::uint64_t bytes) {
  if (!options_.garbage_collection || counts_needed()) return false;
  std::vector<Area> free, kept;
  std::uint64_t free_bytes = 0;
  std::sort(areas_.begin(), areas_.end(), [](const Area& a, const Area& b) { return a.claim.base < b.claim.base; });
  for (const Area& area : areas_) {
    (is_used(area) ? kept : free).push_back(area);
    if (!is_used(area)) free_bytes += area.claim.bytes;
  }
  if (free.empty() || bytes > options_.limit_bytes - statistics_.pool_bytes + free_bytes) return false;
  for (const Area& area : free) release(area);
  areas_ = kept;
  return true;
}

FreeOutcome NaiveBfc::free(std::uint64_t address) {
  if (fault_ != Fault::none) return FreeOutcome::fault;
  Place place = pieces_.find(address);
  if (place == pieces_.end() || !place->second.in_use) return FreeOutcome::unknown_address;
  const auto has_next = [&](Place at) { return std::next(at) != pieces_.end() && is_same_region(std::next(at), at); };
  const auto has_previous = [&](Place at) { return at != pieces_.begin() && is_same_region(std::prev(at), at); };
  place->second.in_use = false;
  statistics_.in_use_bytes -= place->second.bytes;
  if (has_ends()) {
    const Owner owner = place->second.owner;
    const bool is_outermost = owner == Owner::lower ? !has_next(place) || std::next(place)->second.owner != owner
                                                    : !has_previous(place) || std::prev(place)->second.owner != owner;
    if (is_outermost) place->second.owner = Owner::nobody;
  }
  if (has_next(place) && !std::next(place)->second.in_use) {
    const Place next = std::next(place);
    if (next->second.owner != place->second.owner) place->second.owner = Owner::nobody;
    place->second.bytes += next->second.bytes;
    pieces_.erase(next);
  }
  if (has_previous(place) && !std::prev(place)->second.in_use) {
    const Place previous = std::prev(place);
    if (previous->second.owner != place->second.owner) previous->second.owner = Owner::nobody;
    previous->second.bytes += place->second.bytes;
    pieces_.erase(place);
  }
  const auto area = std::find_if(areas_.begin(), areas_.end(), [&](const Area& one) {
    return address >= one.claim.base && address < one.claim.base + one.claim.bytes;
  });
  if (options_.lifted.kept && options_.allow_growth && !is_used(*area)) {
    release(*area);
    areas_.erase(area);
    next_bytes_ = std::max(next_bytes_ / 2, 2 * mib);
  }
  count_needed();
  check_gaps();
  return fault_ == Fault::none ? FreeOutcome::freed : FreeOutcome::fault;
}

Statistics NaiveBfc::statistics() const {
  Statistics statistics = statistics_;
  for (const auto& [address, piece] : pieces_)
    if (!piece.in_use) statistics.largest_free_bytes = std::max(statistics.largest_free_bytes, piece.bytes);
  return statistics;
}

}  // namespace hbmscope::allocator
