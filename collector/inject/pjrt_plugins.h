// The plugins of PJRT that are loaded. Each has one table of functions, which is patched in place.
#pragma once

#include <atomic>

#include "collector/abi/pjrt.h"

namespace hbmscope::inject::pjrt {

using namespace hbmscope::pjrt;

class Plugin {
 public:
  // Calls the plugin's own function.
  Error* call(Place place, void* arguments) const { return originals_[place](arguments); }
  // True if there is such a function, and the call succeeded.
  bool succeeds(Place place, void* arguments) const;
  // Its blocks are reported by its own allocator (xla_pool.h), and get names here. Otherwise its arrays are reported,
  // each as a block.
  bool has_pool() const { return has_pool_.load(std::memory_order_relaxed); }

  bool is(const Api* api) const { return api_.load(std::memory_order_relaxed) == api; }
  // Under a lock. `stand_ins`: what is called instead of the functions that are patched (pjrt_plugins.cpp).
  void take(Api* api, bool has_pool, const Function* stand_ins);
  void leave(const Function* stand_ins);

 private:
  std::atomic<Api*> api_{nullptr};
  std::atomic<bool> has_pool_{false};
  Function originals_[places_needed] = {};
};

}  // namespace hbmscope::inject::pjrt

namespace hbmscope::inject {

// `library` is loaded, and any address in it; does nothing if it is no plugin.
void take_pjrt_of(const void* address_in_library, bool has_pool);
// Puts everything back.
void leave_pjrt();
// Called in a child after fork().
void forget_pjrt_locks();

}  // namespace hbmscope::inject
