// Address ranges of this process that stand for device memory. They cost no memory until somebody writes to them, and
// a read of what was never written gives zeros (mmap with MAP_NORESERVE). The same requests give the same addresses
// each time that a program runs, as far as nobody else has got them.
#pragma once

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

enum class Access { none, read_write };

// `alignment` is a power of two; less than a page (4 KiB) means a page. Returns 0 if the process has no such range
// left.
Address reserve_addresses(Bytes bytes, Bytes alignment, Access access);
void release_addresses(Address begin, Bytes bytes);
void set_access(Address begin, Bytes bytes, Access access);
// Gives the host memory behind the range back; it reads as zeros afterwards.
void discard_contents(Address begin, Bytes bytes);
// As after reserve_addresses with Access::none. Whole pages only.
void discard_contents_and_access(Address begin, Bytes bytes);

}  // namespace hbmscope::device
