// Turns a call reported by CUPTI into the same rows as interposition (driver_rows.h): both are generated from
// driver_entries.inc.
#pragma once

#include "collector/abi/cupti.h"
#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::cupti {

using namespace hbmscope::cupti;

// Entry::count if the call is not reported.
Entry entry_from_id(CallbackId id);
// 0 if the call is not reported, because it only returns entry points.
CallbackId id_of(Entry entry);
bool frees_memory(Entry entry);
// CUPTI is not asked to report the call (RUNS in driver_entries.inc).
bool is_left_to_us(Entry entry);

// For a call that succeeded.
void report(const DriverCall& call, const void* parameters);
// For a call that ran out of memory.
RefusedRequest requested_by_call(Entry entry, const void* parameters);

}  // namespace hbmscope::inject::cupti
