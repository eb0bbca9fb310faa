// Turns what CUPTI reports of a call into the rows that interposition makes of it (driver_rows.h): both are made from
// driver_entries.inc.
#pragma once

#include "collector/inject/cupti_types.h"
#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::cupti {

// Entry::count if the call is not reported.
Entry entry_from_id(CallbackId id);
// 0 if the call is not reported, because it only hands out entry points.
CallbackId id_of(Entry entry);
bool gives_back(Entry entry);

// For a call that succeeded.
void tell(const DriverCall& call, const void* parameters);
// For a call that found no memory: the requested bytes; 0 if the call has none.
std::uint64_t asked_bytes(Entry entry, const void* parameters);

}  // namespace hbmscope::inject::cupti
