#include "allocator/device/model/address_space.h"

#include <sys/mman.h>

#include <cstring>

namespace hbmscope::device {
namespace {

constexpr Bytes host_page_bytes = 4096;

void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}
int protection(Access access) {
  return access == Access::none ? PROT_NONE : PROT_READ | PROT_WRITE;
}

}  // namespace

Address reserve_addresses(Bytes bytes, Bytes alignment, Access access) {
  if (alignment < host_page_bytes) alignment = host_page_bytes;
  const Bytes needed = round_up(bytes, host_page_bytes);
  const Bytes with_slack = needed + alignment;
  void* mapped = mmap(nullptr, with_slack, protection(access), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  const Address begin = reinterpret_cast<Address>(mapped);
  const Address aligned = round_up(begin, alignment);
  if (aligned > begin) munmap(mapped, aligned - begin);
  const Address end = aligned + needed;
  if (begin + with_slack > end) munmap(pointer(end), begin + with_slack - end);
  return aligned;
}

void release_addresses(Address begin, Bytes bytes) {
  munmap(pointer(begin), round_up(bytes, host_page_bytes));
}

void set_access(Address begin, Bytes bytes, Access access) {
  mprotect(pointer(begin), round_up(bytes, host_page_bytes), protection(access));
}

void discard_contents(Address begin, Bytes bytes) {
  const Address first_page = round_up(begin, host_page_bytes);
  const Address end = begin + bytes;
  const Address last_page = round_down(end, host_page_bytes);
  if (first_page >= last_page) {
    std::memset(pointer(begin), 0, bytes);
    return;
  }
  std::memset(pointer(begin), 0, first_page - begin);
  madvise(pointer(first_page), last_page - first_page, MADV_DONTNEED);
  std::memset(pointer(last_page), 0, end - last_page);
}

void discard_contents_and_access(Address begin, Bytes bytes) {
  madvise(pointer(begin), bytes, MADV_DONTNEED);
  set_access(begin, bytes, Access::none);
}

}  // namespace hbmscope::device
