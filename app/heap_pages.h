// Half of a command's time can go into page faults of 4 KiB: 10,000 samples touch 2,600 pages, a million 80,000. Large
// allocations therefore ask for pages of 2 MiB by themselves, through this program's `operator new`; the small ones lie
// in the first part of the heap, for which the function below asks.
#pragma once

namespace hbmscope {

// Asks for large pages under the first part of the heap, before anything big is allocated. A hint: where the system
// has none, or is no Linux with glibc, nothing happens.
void use_large_heap_pages();

}  // namespace hbmscope
