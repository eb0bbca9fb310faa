// hbmscope_source_lines: finds the source lines of addresses for hbmscope. It is a program of its own, so that a
// damaged file can end this program at most, and so that hbmscope itself needs no libdw. It ends when its input ends.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "collector/source_lines/dwarf_lines.h"
#include "collector/source_lines/line_protocol.h"

namespace hbmscope::source_lines {
namespace {

// What is mapped does not count; what libdw makes of it does, and so do compressed sections.
[[maybe_unused]] constexpr rlim_t memory_bytes_max = rlim_t{4} << 30;
constexpr std::uint64_t memory_bytes_enough = std::uint64_t{1}
                                              << 30;  // Beyond it this program ends and is started again.

template <class What>
void limit(What what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min(now.rlim_max, most);
  setrlimit(what, &now);
}

std::uint64_t used_bytes() {
  unsigned long total = 0, resident = 0, shared = 0;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "re"), std::fclose);
  if (file == nullptr || std::fscanf(file.get(), "%lu %lu %lu", &total, &resident, &shared) != 3) return 0;
  return (std::uint64_t{resident} - shared) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

struct Message {
  LineRequest request;
  int descriptor = -1;
};

struct File {
  int descriptor = -1;  // Until it is read.
  std::unique_ptr<DwarfLines> lines;
};

// False: the other end has closed.
bool receive(Message& message) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{&message.request, sizeof(message.request)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = 0;
  do got = recvmsg(STDIN_FILENO, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  message.descriptor = -1;
  const cmsghdr* attached = CMSG_FIRSTHDR(&header);
  if (attached != nullptr && attached->cmsg_level == SOL_SOCKET && attached->cmsg_type == SCM_RIGHTS)
    std::memcpy(&message.descriptor, CMSG_DATA(attached), sizeof(int));
  return got == static_cast<ssize_t>(sizeof(message.request));
}

bool reply(LineReply head, const std::string& path) {
  std::array<char, sizeof(LineReply) + path_bytes_max> packet;
  std::memcpy(packet.data(), &head, sizeof(head));
  std::memcpy(packet.data() + sizeof(head), path.data(), path.size());
  const std::size_t bytes = sizeof(head) + path.size();
  return send(STDIN_FILENO, packet.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

int answer_all() {
  constexpr int look_every = 256;
  std::map<std::uint32_t, File> files;
  Message message;
  for (int answers = 1; receive(message);) {
    File& file = files[message.request.file];
    if (message.descriptor >= 0) {
      file.descriptor = message.descriptor;
      continue;
    }
    // Only now is it read: if this program crashes, hbmscope knows which file it was.
    if (file.descriptor >= 0) file.lines = DwarfLines::open(std::exchange(file.descriptor, -1));
    LineReply head;
    auto found = file.lines != nullptr ? file.lines->find(message.request.address) : std::nullopt;
    if (!found || found->file.size() > path_bytes_max) found = SourceLine{};
    head.line = static_cast<std::uint32_t>(found->line);
    head.is_last = answers++ % look_every == 0 && used_bytes() > memory_bytes_enough ? 1 : 0;
    if (!reply(head, found->file) || head.is_last != 0) break;
  }
  return 0;
}

}  // namespace
}  // namespace hbmscope::source_lines

int main() {
  using namespace hbmscope::source_lines;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
#if !defined(HAS_NO_MEMORY_LIMIT)
  limit(RLIMIT_DATA, memory_bytes_max);
#endif
  limit(RLIMIT_NOFILE, 65'536);  // A job may load more libraries than a program may open by default.
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // Nothing but replies goes to the socket.
  const int end = answer_all();
  _exit(end);  // Without giving back memory piece by piece.
}
