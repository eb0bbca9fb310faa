#include "collector/attach/room_in_job.h"

#include <elf.h>

#include <algorithm>
#include <random>
#include <string>

namespace hbmscope::attach {
namespace {

constexpr std::uint64_t page_bytes = 4096;

}  // namespace

std::vector<Gap> find_gaps(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < modules.all.size(); ++i) {
    const std::string name = modules.all[i].name.substr(modules.all[i].name.rfind('/') + 1);
    bool is_kept = i == 0;
    for (const char* begin : {"libc.so", "libc-2", "ld-", "libm.so", "libm-2", "libpthread", "libdl", "libstdc++"})
      is_kept = is_kept || name.starts_with(begin);
    if (!is_kept) continue;
    for (const Segment& segment : read_segments(memory, modules.all[i])) {
      if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
      const std::uint64_t end = segment.begin + std::max(segment.file_bytes, segment.bytes);
      const std::uint64_t begin = (end + 15) / 16 * 16, page_end = (end + page_bytes - 1) / page_bytes * page_bytes;
      const Mapping* mapping = find_mapping(mappings, end - 1);
      if (begin < page_end && mapping != nullptr && mapping->can_execute && mapping->is_private &&
          mapping->end >= page_end)
        gaps.push_back({begin, page_end - begin});
    }
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.bytes > b.bytes; });
  return gaps;
}

// In the widest unmapped range, far below its end: the job's next mappings go right to the end. If the job maps it all
// the same before its thread does, that thread goes on as if nothing had happened, and attaching fails.
//
// The kernel returns the list in parts, and mappings that the job creates meanwhile can hide another mapping from one
// reading. So a mapping counts if any of several readings shows it.
std::uint64_t find_free_range(pid_t process, std::uint64_t bytes_wanted) {
  constexpr int readings = 3;
  std::vector<Mapping> mappings;
  for (int i = 0; i < readings; ++i) {
    const std::vector<Mapping> more = read_mappings(process);
    mappings.insert(mappings.end(), more.begin(), more.end());
  }
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
  std::uint64_t taken = 0, end = 0, bytes = 0;
  for (const Mapping& mapping : mappings) {
    if (mapping.begin >> 47 != 0) break;
    if (taken != 0 && mapping.begin > taken && mapping.begin - taken > bytes) {
      end = mapping.begin;
      bytes = mapping.begin - taken;
    }
    taken = std::max(taken, mapping.end);
  }
  // So far from what is mapped that the job does not map it in the next milliseconds, though drivers reserve the
  // addresses of a whole device at once; not so far that a sanitizer keeps its own memory there (0x7e8000000000 and
  // below).
  constexpr std::uint64_t far = std::uint64_t{160} << 30;
  const std::uint64_t distance = std::min(bytes / 4, far);
  const std::uint64_t span = std::min(bytes / 2, far) / page_bytes;
  if (bytes < 8 * bytes_wanted) return 0;
  std::random_device random;
  const std::uint64_t drawn = (std::uint64_t{random()} << 32 | random()) % span;
  return end - (distance / page_bytes + drawn) * page_bytes - bytes_wanted;
}

}  // namespace hbmscope::attach
