#include "collector/inject/memory_room.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

namespace hbmscope::inject {
namespace {

// Room for texts that is not on the stack of the job's thread, which may have 16 KiB in all.
struct Room {
  char file[4096], groups[4096], path[1024], folder[1024], root[1024];
};
class Scratch {
 public:
  Scratch() : at_(mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Scratch() {
    if (is_there()) munmap(at_, sizeof(Room));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  bool is_there() const { return at_ != MAP_FAILED; }
  Room& room() const { return *static_cast<Room*>(at_); }

 private:
  void* at_;
};

// Reads the beginning of a small file, with a zero at its end; empty if it can't be read.
template <std::size_t size>
const char* read_text(const char* path, char (&text)[size]) {
  text[0] = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::size_t length = 0;
  while (length + 1 < size) {
    const ssize_t got = read(file, text + length, size - 1 - length);
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  text[length] = 0;
  close(file);
  return text;
}

// False: it does not fit.
template <std::size_t size>
bool join(char (&path)[size], const char* folder, const char* file) {
  const std::size_t first = std::strlen(folder), second = std::strlen(file);
  if (first + second >= size) return false;
  std::memcpy(path, folder, first);
  std::memcpy(path + first, file, second + 1);
  return true;
}

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
  char text[32];
  read_number(read_text("/proc/self/statm", text), pages);
  const std::uint64_t taken = pages * static_cast<std::uint64_t>(getpagesize());
  return taken < limit.rlim_cur ? limit.rlim_cur - taken : 0;
}

struct GroupFiles {
  const char *limit, *used, *droppable_key;
};
constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "},
    version_2{"/memory.max", "/memory.current", "inactive_file "};

bool read_group_number(Room& room, const char* file, std::uint64_t& number) {
  return join(room.path, room.folder, file) && read_number(read_text(room.path, room.file), number);
}

std::uint64_t droppable_bytes(Room& room, const char* key) {
  if (!join(room.path, room.folder, "/memory.stat")) return 0;
  std::uint64_t bytes = 0;
  for (const char* line = read_text(room.path, room.file); line != nullptr && *line != 0;) {
    if (std::strncmp(line, key, std::strlen(key)) == 0) read_number(line + std::strlen(key), bytes);
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return bytes;
}

std::uint64_t left_in_folder(Room& room, const GroupFiles& files) {
  std::uint64_t limit = 0, used = 0;
  if (!read_group_number(room, files.limit, limit) || !read_group_number(room, files.used, used))
    return unlimited_bytes;
  if (limit >= unlimited_bytes) return unlimited_bytes;
  const std::uint64_t droppable = droppable_bytes(room, files.droppable_key);
  used -= droppable < used ? droppable : used;
  return used < limit ? limit - used : 0;
}

// Of the group and of all around it, up to the root. In a container the path may be the host's: then only the root
// exists here, and it is the container's group.
std::uint64_t left_in_all(Room& room, const char* root, const char* group, const GroupFiles& files) {
  if (!join(room.folder, root, group)) return unlimited_bytes;
  const std::size_t root_length = std::strlen(root);
  std::uint64_t least = unlimited_bytes;
  while (true) {
    const std::uint64_t left = left_in_folder(room, files);
    if (left < least) least = left;
    char* slash = std::strrchr(room.folder, '/');
    if (slash == nullptr || std::strlen(room.folder) <= root_length) return least;
    *slash = 0;
    if (std::strlen(room.folder) < root_length) return least;
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
  const Scratch scratch;
  if (!scratch.is_there()) return unlimited_bytes;
  Room& room = scratch.room();
  read_text(groups, room.groups);
  const bool has_root_1 = join(room.root, root, "/memory");
  std::uint64_t least = unlimited_bytes;
  for (char* line = room.groups; *line != 0;) {
    char* end = std::strchr(line, '\n');
    if (end != nullptr) *end = 0;
    const char* controllers = std::strchr(line, ':');
    const char* path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (path != nullptr && path[1] == '/') {
      const auto length = static_cast<std::size_t>(path - controllers - 1);
      std::uint64_t left = unlimited_bytes;
      if (length == 0) left = left_in_all(room, root, path + 1, version_2);
      if (has_root_1 && has_word(controllers + 1, length, "memory"))
        left = left_in_all(room, room.root, path + 1, version_1);
      if (left < least) least = left;
    }
    if (end == nullptr) break;
    line = end + 1;
  }
  return least;
}

}  // namespace hbmscope::inject
