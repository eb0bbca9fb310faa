// The functions behind each of our entry points: usually one, the driver's.
//
// There are more if a library in front of the driver has the driver's names and forwards the calls, as HAMi-core and
// WSL's libcuda.so.1 do. It looks up the driver's functions and finds our entry points, like everybody. So a call takes
// this way: the program, ours, the forwarding library's, ours again, and this time the driver's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/abi/hip.h"

namespace hbmscope::inject {

// Rows of the tables name these types.
namespace driver {
using namespace cuda;
using namespace hip;
}  // namespace driver

#define ALLOCATES(name, ...) name,
#define FREES(name, ...) name,
#define REFUSES(name, ...) name,
#define RESOLVES(name, ...) name,
enum class Entry : unsigned {
#include "collector/inject/all_entries.inc"
  count
};
constexpr std::size_t entry_count = static_cast<std::size_t>(Entry::count);

// Whose entry point it is. A process may use both.
enum class Api : unsigned { cuda, hip, count };
constexpr std::size_t api_count = static_cast<std::size_t>(Api::count);
#define ALLOCATES(...) +1
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES ALLOCATES
constexpr std::size_t cuda_entry_count = 0
#include "collector/inject/driver_entries.inc"
    ;
constexpr Api api_of(Entry entry) {
  return static_cast<std::size_t>(entry) < cuda_entry_count ? Api::cuda : Api::hip;
}

const char* name_of(Entry entry);

// A function to call, and its place in the entry's table, which begins at 1.
struct Target {
  void* function = nullptr;
  unsigned place = 0;
};

// The calls of our entry points in progress on this thread, the innermost one in the lowest 16 bits: the entry's number
// times 8, plus the place of the function that it calls. 0: none. Calls further out than the fourth are not in it.
extern __thread std::uint64_t calls_in_progress __attribute__((tls_model("initial-exec"), visibility("hidden")));
constexpr unsigned call_bits = 16, place_bits = 3;
static_assert(entry_count << place_bits < 1U << call_bits);

struct alignas(64) TargetsOfEntry {
  static constexpr unsigned places = 4;
  // Their places in the order in which they call each other, in four bits each, the first one in the lowest. 0: the
  // end.
  std::atomic<std::uint32_t> order;
  std::atomic<void*> functions[places + 1];  // [0] stays null.
};
extern TargetsOfEntry targets[entry_count] __attribute__((visibility("hidden")));

Target find_other_target(Entry entry);

// The function to call next, or null if no such function is loaded. Inside a call of the same entry point, it is the
// next one in the order.
inline Target find_target(Entry entry) {
  const TargetsOfEntry& known = targets[static_cast<std::size_t>(entry)];
  const unsigned place = known.order.load(std::memory_order_acquire) & ((1U << place_bits) - 1);
  void* function = known.functions[place].load(std::memory_order_acquire);
  if (__builtin_expect(function != nullptr && calls_in_progress == 0, 1)) return {function, place};
  return find_other_target(entry);
}

// The places of an entry's functions.
enum class Position { first, last };
// A known function stays where it is if it is to be the last one. Returns whether this changed anything.
bool add_target(Entry entry, void* function, Position position);
// The code at `caller` has looked up `function`. If its library has such a function itself, adds that one before
// `function` and returns true.
bool add_behind_own(Entry entry, void* function, const void* caller);
bool is_target(Entry entry, const void* function);
// Forgets functions of the API for which `is_gone` returns true. Returns one that is left, or null.
const void* forget_targets(Api api, bool (*is_gone)(const void* function));

}  // namespace hbmscope::inject
