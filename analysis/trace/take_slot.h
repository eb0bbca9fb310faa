// The slot that the next allocation of a stream takes, as collector/wire/stream_writer.h numbers them: the one
// that was vacated last, or else a new one.
#pragma once

#include <cstdint>
#include <vector>

namespace hbmscope {

// `free_slots`: the vacant ones, used as a stack. A new slot is made of `contents`.
template <class Slot, class... Contents>
std::uint32_t take_slot(std::vector<Slot>& slots, std::vector<std::uint32_t>& free_slots, const Contents&... contents) {
  if (free_slots.empty()) {
    slots.emplace_back(contents...);
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
  const std::uint32_t slot = free_slots.back();
  free_slots.pop_back();
  // Of a million that were vacated at once, each is far from the one before.
  if (constexpr std::size_t ahead = 8; free_slots.size() > ahead)
    __builtin_prefetch(&slots[free_slots[free_slots.size() - 1 - ahead]], 1);
  return slot;
}

}  // namespace hbmscope
