#include "collector/inject/memory_room.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "collector/inject/file_text.h"
#include "collector/inject/line.h"

namespace hbmscope::inject {
namespace {

// False: there is none, as in "max".
bool read_number(const char* at, std::uint64_t& number) {
  if (*at < '0' || *at > '9') return false;
  for (number = 0; *at >= '0' && *at <= '9'; ++at) {
    if (number > unlimited_bytes) return true;
    number = number * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return true;
}

// Bytes of address space that RLIMIT_AS still allows.
std::uint64_t addresses_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited_bytes;
  std::uint64_t pages = 0;  // The first number of the file.
  read_number(FileText("/proc/self/statm").text(), pages);
  const std::uint64_t taken = pages * static_cast<std::uint64_t>(getpagesize());
  return taken < limit.rlim_cur ? limit.rlim_cur - taken : 0;
}

struct GroupFiles {
  const char *limit, *used, *droppable_key;
};
constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "},
    version_2{"/memory.max", "/memory.current", "inactive_file "};

// If a path is too long for a line, only its beginning is looked at, where there is no such file.
bool read_group_number(const Line& folder, const char* file, std::uint64_t& number) {
  return read_number(FileText(Line(folder).add(file).text).text(), number);
}

std::uint64_t droppable_bytes(const Line& folder, const char* key) {
  const FileText stat(Line(folder).add("/memory.stat").text);
  std::uint64_t bytes = 0;
  for (const char* line = stat.text(); line != nullptr && *line != 0;) {
    if (std::strncmp(line, key, std::strlen(key)) == 0) read_number(line + std::strlen(key), bytes);
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return bytes;
}

std::uint64_t left_in_folder(const Line& folder, const GroupFiles& files) {
  std::uint64_t limit = 0, used = 0;
  if (!read_group_number(folder, files.limit, limit) || !read_group_number(folder, files.used, used))
    return unlimited_bytes;
  if (limit >= unlimited_bytes) return unlimited_bytes;
  const std::uint64_t droppable = droppable_bytes(folder, files.droppable_key);
  used -= droppable < used ? droppable : used;
  return used < limit ? limit - used : 0;
}

// What is left in the group and in all around it, up to the root. In a container the path may be the host's: then only
// the root exists here, and it is the container's group.
std::uint64_t left_in_all(const Line& root, const char* group, const GroupFiles& files) {
  std::uint64_t least = unlimited_bytes;
  for (std::size_t length = std::strlen(group);; --length) {
    if (length > 0 && group[length] != 0 && group[length] != '/') continue;
    const std::uint64_t left = left_in_folder(Line(root).add(group, length), files);
    if (left < least) least = left;
    if (length == 0) return least;
  }
}

// Whether the comma-separated list has the word.
bool has_word(const char* list, std::size_t length, const char* word) {
  const std::size_t size = std::strlen(word);
  for (std::size_t at = 0; at + size <= length; ++at) {
    const bool begins = at == 0 || list[at - 1] == ',', ends = at + size == length || list[at + size] == ',';
    if (begins && ends && std::strncmp(list + at, word, size) == 0) return true;
  }
  return false;
}

}  // namespace

std::uint64_t file_bytes_max() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? unlimited_bytes : limit.rlim_cur;
}

std::uint64_t shared_bytes_max() {
  const std::uint64_t of_addresses = addresses_left() / 4, of_file = file_bytes_max();
  return of_addresses < of_file ? of_addresses : of_file;
}

// Each line: "number:controllers:path"; the one without controllers is that of version 2.
std::uint64_t group_bytes_left(const char* groups, const char* root) {
  FileText lines(groups);
  const Line root_2 = Line().add(root), root_1 = Line(root_2).add("/memory");
  std::uint64_t least = unlimited_bytes;
  for (char* line = lines.begin(); line != nullptr && *line != 0;) {
    char* end = std::strchr(line, '\n');
    if (end != nullptr) *end = 0;
    const char* controllers = std::strchr(line, ':');
    const char* path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (path != nullptr && path[1] == '/') {
      const auto length = static_cast<std::size_t>(path - controllers - 1);
      std::uint64_t left = unlimited_bytes;
      if (length == 0) left = left_in_all(root_2, path + 1, version_2);
      if (has_word(controllers + 1, length, "memory")) left = left_in_all(root_1, path + 1, version_1);
      if (left < least) least = left;
    }
    if (end == nullptr) break;
    line = end + 1;
  }
  return least;
}

}  // namespace hbmscope::inject
