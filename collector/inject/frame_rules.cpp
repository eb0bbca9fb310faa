#include "collector/inject/frame_rules.h"

#include <sys/mman.h>

#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

SpinLock adding;
bool has_no_memory = false;  // Only used while that lock is held.

}  // namespace

std::atomic<FrameRules::Place*> FrameRules::all_places{nullptr};

std::uint64_t FrameRules::packed(const FrameRule& rule) {
  constexpr std::uint64_t offset = (std::uint64_t{1} << offset_bits) - 1;
  return std::uint64_t{static_cast<std::uint8_t>(rule.kind)} << kind_shift |
         (static_cast<std::uint64_t>(rule.cfa_offset / 8) & offset) << cfa_shift |
         (static_cast<std::uint64_t>(rule.frame_pointer_offset / 8) & offset);
}

bool FrameRules::can_be_packed(const FrameRule& rule) {
  constexpr std::int32_t end = 8 << (offset_bits - 1);
  const auto fits = [](std::int32_t offset) { return offset % 8 == 0 && offset > -end && offset < end; };
  return fits(rule.cfa_offset) && fits(rule.frame_pointer_offset);
}

// Adds in the first place that is free or has a rule from before an unload, otherwise in the last place tried.
void FrameRules::add(std::uint64_t return_address, const FrameRule& rule) const {
  if (!can_be_packed(rule) || !adding.try_lock()) return;
  Place* places = all_places.load(std::memory_order_acquire);
  if (places == nullptr && !has_no_memory) {
    constexpr std::size_t bytes = places_max * sizeof(Place);  // Only written pages need memory.
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    has_no_memory = memory == MAP_FAILED;
    if (!has_no_memory) {
      madvise(memory, bytes, MADV_DONTDUMP);
      places = static_cast<Place*>(memory);  // All zeros is an empty table.
      all_places.store(places, std::memory_order_release);
    }
  }
  if (places != nullptr) {
    Place* place = nullptr;
    for (std::size_t i = 0; i < tries_max; ++i) {
      place = &places[(first_place(return_address) + i) % places_max];
      const std::uint64_t there = place->key.load(std::memory_order_relaxed);
      if (there == 0 || (there ^ unloads_) >> address_bits != 0) break;
    }
    place->key.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    place->rule.store(packed(rule) | more_unloads_ | check_of(return_address), std::memory_order_relaxed);
    place->key.store(return_address | unloads_, std::memory_order_release);
  }
  adding.unlock();
}

FrameRule FrameRules::find_elsewhere(std::uint64_t return_address) const {
  std::uint64_t word = 0;
  for (std::size_t i = 1; places_ != nullptr && i < tries_max; ++i)
    if (read(places_[(first_place(return_address) + i) % places_max], return_address, word)) return unpacked(word);
  const FrameRule rule = find_frame_rule(return_address - 1);
  add(return_address, rule);
  return rule;
}

void forget_frame_rules() {
  adding.unlock();
}

}  // namespace hbmscope::inject
