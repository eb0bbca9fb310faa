#include "collector/inject/marked_places.h"

#include <stdlib.h>

#include <atomic>

#include "collector/inject/driver_rows.h"
#include "collector/inject/line.h"
#include "collector/inject/rings.h"
#include "collector/inject/stacks.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject {
namespace {

// Ids of stacks: a place's number is its index, plus 1.
constexpr std::uint32_t places_max = 512;
std::atomic<std::uint32_t> stacks[places_max];
SpinLock adding;
std::atomic<std::uint32_t> remembered{0};  // A stack, or 0.

bool is_on_emulated_device() {
  static const bool is = getenv("HBMSCOPE_DEVICE_REPORT") != nullptr;
  return is;
}

void report(std::uint32_t number, std::uint32_t stack) {
  Line name;
  wire::MarkerRecord record;
  record.name = rings.define_string(name.add(wire::value_read_mark.data()).add_number(number).text);
  record.device = wire::no_device;
  record.stack = stack;
  rings.add_of_driver(record);
}

std::uint32_t number_of(std::uint32_t stack) {
  std::uint32_t i = 0;
  for (; i < places_max; ++i) {
    const std::uint32_t known = stacks[i].load(std::memory_order_acquire);
    if (known == stack) return i + 1;
    if (known == 0) break;
  }
  adding.lock();
  for (; i < places_max; ++i) {
    const std::uint32_t known = stacks[i].load(std::memory_order_relaxed);
    if (known == stack) break;
    if (known != 0) continue;
    report(i + 1, stack);
    stacks[i].store(stack, std::memory_order_release);
    break;
  }
  adding.unlock();
  return i < places_max ? i + 1 : 0;
}

}  // namespace

std::uint32_t mark_place() {
  if (!is_observed()) return 0;
  std::uint32_t stack = is_in_python() ? 0 : remembered.load(std::memory_order_relaxed);
  if (stack == 0) stack = take_stack();
  return stack != 0 ? number_of(stack) : 0;
}

void remember_place() {
  if (is_on_emulated_device() && is_observed()) remembered.store(take_stack(), std::memory_order_relaxed);
}

void forget_places() {
  adding.unlock();
  remembered.store(0, std::memory_order_relaxed);
  for (auto& stack : stacks) stack.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject
