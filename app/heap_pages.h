// A short command spends half of its time in page faults: 10,000 samples touch 2,600 pages of 4 KiB, one fault each.
#pragma once

namespace hbmscope {

// Asks for large pages under the first part of the heap, before anything big is allocated. A hint: where the system
// has none, or is no Linux with glibc, nothing happens.
void use_large_heap_pages();

}  // namespace hbmscope
