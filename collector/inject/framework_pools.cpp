#include "collector/inject/framework_pools.h"

#include "collector/inject/collector.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/torch_pool.h"
#include "collector/inject/xla_pool.h"

namespace hbmscope::inject {

void look_for_pools() {
  if (!has_observer() && !came_late()) return;
  look_for_xla_pools();
  look_for_torch_pools();
}

void leave_pools() {
  leave_xla_pools();
  leave_torch_pools();
  pools::forget_heaps();
}

void forget_pools() {
  forget_xla_pool_locks();
  forget_torch_pool_locks();
  pools::forget_heaps();
}

}  // namespace hbmscope::inject
