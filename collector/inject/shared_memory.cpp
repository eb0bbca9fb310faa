#include "collector/inject/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "collector/inject/memory_room.h"

namespace hbmscope::inject {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
constexpr std::uint64_t ring_bytes_for_bursts = 256 * kib, ring_bytes_min = 32 * kib, definitions_bytes_min = 2 * mib;
constexpr std::uint32_t own_rings_min = 32, smallest_share = 32;

}  // namespace

SharedSizes affordable_sizes(std::uint64_t group_bytes_left) {
  SharedSizes sizes;
  const std::uint64_t most = group_bytes_left / 16;
  while (sizes.bytes() > most) {
    if (sizes.ring_bytes > ring_bytes_for_bursts) {
      sizes.ring_bytes /= 2;
    } else if (sizes.definitions_bytes > definitions_bytes_min) {
      sizes.definitions_bytes /= 2;
      sizes.listing_bytes /= 2;
    } else if (sizes.own_rings > own_rings_min) {
      sizes.own_rings /= 2;
      sizes.lent_rings /= 2;
    } else if (sizes.ring_bytes > ring_bytes_min) {
      sizes.ring_bytes /= 2;
    } else {
      break;
    }
  }
  return sizes;
}

const char* create_shared_memory(SharedMemory& memory) {
  memory.descriptor = static_cast<int>(syscall(SYS_memfd_create, "hbmscope", 3U /* close on exec, may be sealed */));
  if (memory.descriptor < 0) return "cannot allocate shared memory";
  const std::uint64_t bytes_max = shared_bytes_max();
  memory.group_bytes_left = group_bytes_left();
  const SharedSizes affordable = affordable_sizes(memory.group_bytes_left);
  void* at = MAP_FAILED;
  // A process with a limit on addresses or files gets fewer rings, and less room for rare records.
  for (std::uint32_t share = 1; at == MAP_FAILED && share <= smallest_share; share *= 2) {
    SharedSizes& sizes = memory.sizes = affordable;
    sizes.own_rings /= share;
    sizes.lent_rings = sizes.lent_rings > share ? sizes.lent_rings / share : 1;
    sizes.definitions_bytes /= share;
    sizes.listing_bytes /= share;
    if (sizes.bytes() <= bytes_max && ftruncate(memory.descriptor, static_cast<off_t>(sizes.bytes())) == 0)
      at = mmap(nullptr, sizes.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.descriptor, 0);
  }
  const SharedSizes& sizes = memory.sizes;
  if (at == MAP_FAILED || fcntl(memory.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    if (at != MAP_FAILED) munmap(at, sizes.bytes());
    close(memory.descriptor);
    return sizes.bytes() > file_bytes_max()
               ? "its limit on the size of files (ulimit -f) leaves no room for shared memory"
               : "cannot allocate shared memory";
  }
  madvise(at, sizes.bytes(), MADV_DONTDUMP);  // It does not belong in the job's core file.
  memory.bytes = static_cast<std::uint8_t*>(at);
  auto* header = new (at) wire::RingsHeader;
  header->rings = sizes.own_rings + sizes.lent_rings;
  header->ring_bytes = sizes.ring_bytes;
  header->definitions_offset = SharedSizes::definitions_offset;
  header->definitions_bytes = sizes.definitions_bytes;
  header->listing_offset = sizes.listing_offset();
  header->listing_bytes = sizes.listing_bytes;
  header->rings_offset = sizes.rings_offset();
  return nullptr;
}

}  // namespace hbmscope::inject
