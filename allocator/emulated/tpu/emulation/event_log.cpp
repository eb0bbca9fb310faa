#include "allocator/emulated/tpu/emulation/event_log.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {

Tier temporary_tier(const Program& program, std::uint32_t value) {
  switch (program.values[value].array.spec.place) {
    case Place::host: return Tier::host;
    case Place::vmem: return Tier::vmem;
    case Place::cmem: return Tier::cmem;
    case Place::hbm:
    case Place::sparse_core: break;
  }
  return Tier::temporaries;
}

std::string_view text_from_tier(Tier tier) {
  constexpr std::array<std::string_view, tiers> names = {"hbm",  "hbm",         "vmem",      "vmem", "smem",
                                                         "cmem", "accumulator", "tilespmem", "host", "gpu"};
  return names[static_cast<std::size_t>(tier)];
}

void EventLog::alloc(Tier tier, std::uint64_t address, std::uint64_t bytes, std::optional<std::uint64_t> requested,
                     const std::string& name, const Array* array) {
  Event& event = add(EventKind::alloc);
  event.tier = tier;
  event.address = address;
  event.bytes = bytes;
  event.requested = requested;
  event.name = name;
  event.array = array;
  TierFigures& figures = out_.tier[static_cast<std::size_t>(tier)];
  figures.is_used = true;
  figures.end_bytes += bytes;
  figures.peak_bytes = std::max(figures.peak_bytes, figures.end_bytes);
}

void EventLog::free(Tier tier, std::uint64_t address, std::uint64_t bytes) {
  Event& event = add(EventKind::free);
  event.tier = tier;
  event.address = address;
  event.bytes = bytes;
  out_.tier[static_cast<std::size_t>(tier)].end_bytes -= bytes;
}

void EventLog::move(Tier tier, std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  Event& event = add(EventKind::move);
  event.tier = tier;
  event.address = from;
  event.to = to;
  event.bytes = bytes;
}

void EventLog::reused(Tier tier, std::uint64_t address, const std::string& name) {
  Event& event = add(EventKind::reused);
  event.tier = tier;
  event.address = address;
  event.name = name;
}

void EventLog::add_failure(std::vector<EmulatedFailure>& list, EmulatedFailure failure) {
  Event& event = add(EventKind::failure);
  event.tier = failure.tier;
  event.bytes = failure.requested_bytes;
  event.name = failure.text;
  event.number = list.size();
  list.push_back(std::move(failure));
}

void EventLog::fail(EmulatedFailure failure) {
  add_failure(out_.failures, std::move(failure));
}

void EventLog::fail_gpu(EmulatedFailure failure) {
  add_failure(out_.gpu_failures, std::move(failure));
}

}  // namespace hbmscope::allocator::tpu
