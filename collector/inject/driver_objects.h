// A small table of the driver's objects, for all threads, without a lock. What does not fit is not found. Two threads
// that add one object at once may get two places for it, of which find() knows the first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hbmscope::inject {

template <std::size_t size>
struct DriverObjects {
  static constexpr std::size_t none = size;
  std::atomic<void*> objects[size];
  std::atomic<std::uint32_t> values[size];

  std::size_t find(void* object) const {
    std::size_t place = 0;
    while (place < size && objects[place].load(std::memory_order_acquire) != object) ++place;
    return place;
  }
  std::size_t find_or_add(void* object) {
    if (const std::size_t place = find(object); place != none) return place;
    for (std::size_t place = 0; place < size; ++place) {
      void* nothing = nullptr;
      if (objects[place].compare_exchange_strong(nothing, object)) return place;
    }
    return none;
  }
  void forget(void* object) {
    for (auto& one : objects)
      if (one.load(std::memory_order_relaxed) == object) one.store(nullptr, std::memory_order_release);
  }
};

}  // namespace hbmscope::inject
