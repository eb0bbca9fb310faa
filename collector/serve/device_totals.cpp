#include "collector/serve/device_totals.h"

namespace hbmscope::serve {

HeldMemory held_by(pid_t process, const DeviceTotals& device) {
  HeldMemory held;
  for (const DeviceTotals::Holder& holder : device.holders) {
    if (holder.process != process) continue;
    if (!held.is_reported)
      held.bytes = holder.bytes;
    else if (held.bytes && holder.bytes)
      *held.bytes += *holder.bytes;
    else
      held.bytes.reset();
    held.is_reported = true;
  }
  return held;
}

}  // namespace hbmscope::serve
