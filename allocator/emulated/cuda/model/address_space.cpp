#include "allocator/emulated/cuda/model/address_space.h"

#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

namespace hbmscope::device {
namespace {

constexpr Bytes host_page_bytes = 4096;

void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}
int protection(Access access) {
  return access == Access::none ? PROT_NONE : PROT_READ | PROT_WRITE;
}

// The addresses that are handed out: always the lowest that are free, so that a program gets the same ones each time
// it runs. The range lies below what Linux gives to other mappings on x86-64, and where ThreadSanitizer and
// AddressSanitizer expect a program's memory: 384 GiB, with more memory the rest is wherever the kernel finds room.
constexpr Address first_address = 0x7e80'1000'0000, last_address = 0x7ee0'0000'0000;

class Addresses {
 public:
  // 0: none are left.
  Address take(Bytes bytes, Bytes alignment) {
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      const Address begin = round_up(hole->first, alignment), end = hole->first + hole->second;
      if (begin >= end || end - begin < bytes) continue;
      const Address hole_begin = hole->first;
      holes_.erase(hole);
      if (begin > hole_begin) holes_[hole_begin] = begin - hole_begin;
      if (end > begin + bytes) holes_[begin + bytes] = end - begin - bytes;
      return begin;
    }
    const Address begin = round_up(next_, alignment);
    if (begin > last_address || bytes > last_address - begin) return 0;
    if (begin > next_) holes_[next_] = begin - next_;
    next_ = begin + bytes;
    return begin;
  }
  void put_back(Address begin, Bytes bytes) {
    auto after = holes_.upper_bound(begin);
    if (after != holes_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == begin) {
        begin = before->first;
        bytes += before->second;
        holes_.erase(before);
      }
    }
    if (after != holes_.end() && begin + bytes == after->first) {
      bytes += after->second;
      holes_.erase(after);
    }
    if (begin + bytes == next_)
      next_ = begin;
    else
      holes_[begin] = bytes;
  }

  std::mutex mutex;

 private:
  Address next_ = first_address;
  std::map<Address, Bytes> holes_;
};
Addresses& addresses() {
  static Addresses* all = new Addresses;  // Never destroyed: other threads outlive main.
  return *all;
}

void* map(Address wanted, Bytes bytes, Access access, int flags) {
  return mmap(pointer(wanted), bytes, protection(access), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

// Where the kernel finds room: for ranges that somebody else has got.
Address reserve_anywhere(Bytes bytes, Bytes alignment, Access access) {
  const Bytes with_slack = bytes + alignment;
  void* mapped = map(0, with_slack, access, 0);
  if (mapped == MAP_FAILED) return 0;
  const Address begin = reinterpret_cast<Address>(mapped);
  const Address aligned = round_up(begin, alignment);
  if (aligned > begin) munmap(mapped, aligned - begin);
  const Address end = aligned + bytes;
  if (begin + with_slack > end) munmap(pointer(end), begin + with_slack - end);
  return aligned;
}

}  // namespace

Address reserve_addresses(Bytes bytes, Bytes alignment, Access access) {
  if (alignment < host_page_bytes) alignment = host_page_bytes;
  const Bytes needed = round_up(bytes, host_page_bytes);
  if (needed < bytes) return 0;
  const std::lock_guard lock(addresses().mutex);
  const Address begin = addresses().take(needed, alignment);
  if (begin == 0) return reserve_anywhere(needed, alignment, access);
  void* mapped = map(begin, needed, access, MAP_FIXED_NOREPLACE);
  if (mapped == pointer(begin)) return begin;
  // These addresses are left alone from now on. An old kernel takes them as a hint and maps others.
  if (mapped != MAP_FAILED) munmap(mapped, needed);
  return reserve_anywhere(needed, alignment, access);
}

void release_addresses(Address begin, Bytes bytes) {
  const Bytes whole = round_up(bytes, host_page_bytes);
  const std::lock_guard lock(addresses().mutex);
  munmap(pointer(begin), whole);
  if (begin >= first_address && begin < last_address) addresses().put_back(begin, whole);
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
