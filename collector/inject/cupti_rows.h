// What CUPTI tells of a call, as the rows that interposition makes of it (driver_rows.h): both are made from
// driver_entries.inc.
#pragma once

#include "collector/inject/cupti_types.h"
#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::cupti {

// Entry::count: none that is told of.
Entry entry_from_id(CallbackId id);
// 0: it is none that is told of, as it only hands out entry points.
CallbackId id_of(Entry entry);
bool gives_back(Entry entry);

// Of a call that has succeeded.
void tell(const DriverCall& call, const void* parameters);
// Of one that found no memory: the bytes that it asked for; 0: it does not say.
std::uint64_t asked_bytes(Entry entry, const void* parameters);

}  // namespace hbmscope::inject::cupti
