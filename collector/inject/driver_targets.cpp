#include "collector/inject/driver_targets.h"

#include "collector/inject/driver_symbols.h"
#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject {
namespace {

constexpr unsigned order_bits = 4, order_mask = (1U << order_bits) - 1, place_mask = (1U << place_bits) - 1;

TargetsOfEntry& targets_of(Entry entry) {
  return targets[static_cast<std::size_t>(entry)];
}

std::uint32_t without(std::uint32_t order, unsigned place) {
  std::uint32_t left = 0;
  for (unsigned shift = 0; order != 0; order >>= order_bits)
    if ((order & order_mask) != place) {
      left |= (order & order_mask) << shift;
      shift += order_bits;
    }
  return left;
}

std::uint32_t at_the_end(std::uint32_t order, unsigned place) {
  unsigned shift = 0;
  while (order >> shift != 0) shift += order_bits;
  return order | place << shift;
}

unsigned last_of(std::uint32_t order) {
  while (order >> order_bits != 0) order >>= order_bits;
  return order;
}

// Its place; a new one if it has none. The last one in the order makes room.
unsigned place_of(TargetsOfEntry& known, void* function, bool& is_new) {
  for (unsigned place = 1; place <= TargetsOfEntry::places; ++place)
    if (known.functions[place].load(std::memory_order_acquire) == function) return place;
  is_new = true;
  for (unsigned place = 1; place <= TargetsOfEntry::places; ++place) {
    void* nothing = nullptr;
    if (known.functions[place].compare_exchange_strong(nothing, function, std::memory_order_acq_rel)) return place;
  }
  const unsigned place = last_of(known.order.load(std::memory_order_acquire));
  known.functions[place].store(function, std::memory_order_release);
  return place;
}

// How often the calls in progress on this thread call each place of the entry.
struct InProgress {
  unsigned times[TargetsOfEntry::places + 1] = {};
  bool is_full = false;  // There may be more.
};
InProgress calls_of(Entry entry) {
  InProgress found;
  std::uint64_t calls = calls_in_progress;
  found.is_full = calls >> (3 * call_bits) != 0;
  for (; calls != 0; calls >>= call_bits) {
    const auto call = static_cast<unsigned>(calls) & ((1U << call_bits) - 1);
    const unsigned place = call & place_mask;
    if (call >> place_bits == static_cast<unsigned>(entry) && place <= TargetsOfEntry::places) ++found.times[place];
  }
  return found;
}

}  // namespace

__thread std::uint64_t calls_in_progress = 0;
TargetsOfEntry targets[entry_count];

Target find_other_target(Entry entry) {
  TargetsOfEntry& known = targets_of(entry);
  const InProgress calls = calls_of(entry);
  Target first, last, next;
  for (std::uint32_t order = known.order.load(std::memory_order_acquire); order != 0; order >>= order_bits) {
    const unsigned place = order & order_mask;
    const Target one{known.functions[place].load(std::memory_order_acquire), place};
    if (one.function == nullptr) continue;
    if (first.function == nullptr) first = one;
    if (next.function == nullptr && calls.times[place] == 0) next = one;
    last = one;
  }
  if (calls.is_full && calls.times[first.place] != 0) return last;  // It does not forward.
  if (next.function != nullptr) return next;
  if (first.function != nullptr) {
    // A signal's handler calls what it has interrupted. If this happens again and again, it is a forwarding library
    // that did not look up what is behind it.
    void* behind = calls.times[last.place] > 1 ? find_next_function(name_of(entry), last.function) : nullptr;
    return behind != nullptr && add_target(entry, behind, Position::last) ? find_other_target(entry) : first;
  }
  void* found = find_next_function(name_of(entry));
  if (found == nullptr) return {};
  add_target(entry, found, Position::first);
  note_driver(api_of(entry), found);
  const std::uint32_t order = known.order.load(std::memory_order_acquire);
  return {found, order & order_mask};
}

bool add_target(Entry entry, void* function, Position position) {
  TargetsOfEntry& known = targets_of(entry);
  bool is_new = false;
  const unsigned place = place_of(known, function, is_new);
  std::uint32_t before = known.order.load(std::memory_order_acquire), after = 0;
  do {
    const std::uint32_t others = without(before, place);
    if (position == Position::first)
      after = others << order_bits | place;
    else
      after = others == before || is_new ? at_the_end(others, place) : before;
  } while (!known.order.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  return is_new || before != after;
}

bool is_target(Entry entry, const void* function) {
  for (const std::atomic<void*>& one : targets_of(entry).functions)
    if (one.load(std::memory_order_acquire) == function) return true;
  return false;
}

// For example, the library S2 looks up the driver's function while S1 loads it, then S1 looks up S2's: the order is
// first S2's, the driver's, and then S1's, S2's, the driver's.
bool add_behind_own(Entry entry, void* function, const void* caller) {
  void* own = find_function_in_object_of(caller, name_of(entry));
  if (own == nullptr) return false;
  const bool is_known = is_target(entry, function), is_own_known = is_target(entry, own);
  if (own == function) {
    add_target(entry, function, Position::last);
  } else if (!is_known) {
    // Others that were known before are behind the two.
    if (!is_own_known) {
      add_target(entry, function, Position::first);
      add_target(entry, own, Position::first);
    } else {
      add_target(entry, function, Position::last);
    }
  } else if (!is_own_known && find_next_function(name_of(entry)) == own) {
    add_target(entry, own, Position::first);  // A program that is linked with the driver calls this one.
  }
  return true;
}

const void* forget_targets(Api api, bool (*is_gone)(const void* function)) {
  const void* left = nullptr;
  for (std::size_t entry = 0; entry < entry_count; ++entry) {
    if (api_of(static_cast<Entry>(entry)) != api) continue;
    TargetsOfEntry& known = targets[entry];
    for (unsigned place = 1; place <= TargetsOfEntry::places; ++place) {
      void* function = known.functions[place].load(std::memory_order_acquire);
      if (function == nullptr) continue;
      if (!is_gone(function)) {
        left = function;
        continue;
      }
      std::uint32_t before = known.order.load(std::memory_order_acquire);
      while (!known.order.compare_exchange_weak(before, without(before, place), std::memory_order_acq_rel)) {
      }
      known.functions[place].compare_exchange_strong(function, nullptr, std::memory_order_acq_rel);
    }
  }
  return left;
}

}  // namespace hbmscope::inject
