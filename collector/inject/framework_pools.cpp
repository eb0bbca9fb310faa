#include "collector/inject/framework_pools.h"

#include "collector/inject/collector.h"
#include "collector/inject/driver_rows.h"
#include "collector/inject/marked_places.h"
#include "collector/inject/pjrt_plugins.h"
#include "collector/inject/pjrt_programs.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/python_agent.h"
#include "collector/inject/torch_pool.h"
#include "collector/inject/torch_requests.h"
#include "collector/inject/xla_pool.h"

namespace hbmscope::inject {

void look_for_pools() {
  if (!has_observer() && !came_late()) return;
  look_for_xla_pools();
  look_for_torch_pools();
  driver::watch_new_memory([] { track_torch_requests(false); });
}

void leave_pools() {
  leave_agent();
  leave_xla_pools();
  leave_torch_pools();
  leave_pjrt();
  pools::forget_ids();
  forget_places();
  forget_pjrt_programs();
}

void forget_pools() {
  forget_agent();
  forget_xla_pool_locks();
  forget_torch_pool_locks();
  pools::forget_ids();
  forget_places();
  forget_pjrt_locks();
  forget_pjrt_programs();
}

}  // namespace hbmscope::inject
