#include "analysis/diagnose/savings_pool.h"

#include <algorithm>

namespace hbmscope {
namespace {

// PyTorch's pool does not depend on the size of the device as long as there is enough.
constexpr std::uint64_t ample_device_bytes = std::uint64_t{1} << 50;

// For each operation, the site of its request among the first `count`; `count`: another one, or a free.
std::vector<std::uint32_t> sites_of_operations(const Stream& stream, SiteBy by,
                                               const allocator::RequestStream& requests,
                                               const std::vector<SiteSaving>& sites, std::size_t count) {
  SiteTable table(stream, by);
  std::vector<std::uint32_t> places;  // By number in the table.
  std::vector<std::uint32_t> found(requests.operations.size(), static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    LiveBlock block;
    block.stack = requests.origins[i].stack;
    block.tag = requests.origins[i].tag;
    const std::uint32_t number = table.number_of(block);
    while (places.size() <= number) {
      const auto end = sites.begin() + static_cast<std::ptrdiff_t>(count);
      const Site& site = table[places.size()];
      places.push_back(static_cast<std::uint32_t>(
          std::find_if(sites.begin(), end, [&](const SiteSaving& one) { return one.site == site; }) - sites.begin()));
    }
    found[i] = places[number];
  }
  return found;
}

}  // namespace

Result<WhatIfSource> find_pool_source(const Trace& trace, HeapKey heap) {
  WhatIfChoice choice = choice_of_heap(trace, heap);
  choice.device_bytes_otherwise = ample_device_bytes;
  auto source = find_what_if_source(trace, choice);
  if (source && !source->own.is_allocator_known)
    return Failure(Error{"the job's allocator is unknown", "Record the job with hbmscope run.", {}, {}, {}});
  if (source && !source->own.is_pytorch && !source->own.is_device_recorded && !source->own.limit_bytes)
    return Failure(Error{"the memory of the device is unknown", "Record the job with hbmscope run.", {}, {}, {}});
  return source;
}

std::optional<PoolSavings> compute_pool_savings(const Trace& trace, HeapKey heap, SiteBy by,
                                                const std::vector<SiteSaving>& sites, std::size_t count,
                                                PassControl& control) {
  const Stream& stream = trace.streams[heap.stream];
  if (by == SiteBy::category || stream.end_position() > quick_events_max) return std::nullopt;
  const auto source = find_pool_source(trace, heap);
  if (!source) return std::nullopt;
  count = std::min(count, sites.size());
  const allocator::RequestStream& requests = source->requests.stream;
  const Scenario own = own_scenario(source->own).value();
  const auto places = sites_of_operations(stream, by, requests, sites, count);
  control.done_events = 0;
  control.total_events = requests.operations.size() * (count + 1);
  std::vector<bool> is_skipped(requests.operations.size());
  PoolSavings found;
  for (std::size_t site = 0; site <= count; ++site) {  // The last one: with all requests.
    for (std::size_t i = 0; i < places.size(); ++i) is_skipped[i] = site < count && places[i] == site;
    allocator::PlayOptions how{own.upstream};
    how.skipped = &is_skipped;
    how.cancelled = &control.cancelled;
    const allocator::ReplayResult result = allocator::play(requests, own.options, how);
    const std::uint64_t peak = result.statistics.peak_pool_bytes;
    // Where a request is refused, the rest of the job would have gone on otherwise.
    if (control.cancelled || result.refused > 0 || result.fault != allocator::Fault::none) return std::nullopt;
    control.done_events += requests.operations.size();
    if (site == count)
      found.peak_pool_bytes = peak;
    else
      found.saves_bytes.push_back(static_cast<std::int64_t>(peak));
  }
  for (std::int64_t& saves : found.saves_bytes) saves = static_cast<std::int64_t>(found.peak_pool_bytes) - saves;
  found.confidence =
      source->is_checked() && source->requests.lived_before == 0 ? Confidence::checked : Confidence::approximate;
  return found;
}

}  // namespace hbmscope
