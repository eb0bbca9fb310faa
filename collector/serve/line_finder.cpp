#include "collector/serve/line_finder.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "collector/source_lines/line_protocol.h"

namespace hbmscope::serve {
namespace {

using source_lines::LineReply;
using source_lines::LineRequest;

// How often it is started, and how often in a row without a reply: a library that it needs may be missing.
constexpr std::uint32_t starts_max = 100, vain_starts_max = 4;
constexpr std::size_t known_max = 1'000'000;
constexpr std::chrono::seconds patience{5};  // The first question about a file takes longest: its units are listed.

bool send_packet(int socket, const LineRequest& request, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{const_cast<LineRequest*>(&request), sizeof(request)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* attached = CMSG_FIRSTHDR(&header);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attached), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(request));
}

}  // namespace

LineFinder::LineFinder() : program_(source_lines::program_name, SOCK_SEQPACKET) {}

std::uint32_t LineFinder::add_file(const std::string& path, const RegularFile& file) {
  const auto number = static_cast<std::uint32_t>(files_.size());
  files_.push_back({path, 0, false, {}});
  if (start()) send(files_.back(), number, file);
  return number;
}

bool LineFinder::wait_for_reply() const {
  constexpr std::chrono::milliseconds look{50};  // How often to check whether it was cancelled.
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!is_cancelled_ && std::chrono::steady_clock::now() < until) {
    pollfd waited{program_.socket(), POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(look.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

bool LineFinder::start() {
  if (program_.is_started()) return true;
  if (starts_ == starts_max) return false;
  const bool is_started = vain_starts_ < vain_starts_max && program_.start();
  starts_ = is_started ? starts_ + 1 : starts_max;  // If it is not installed, it is not looked for again.
  ++vain_starts_;
  // It reads all that it is sent unless it is busy with a question, whose reply is waited for.
  const timeval patience_of_send{std::chrono::seconds(patience).count(), 0};
  if (is_started) setsockopt(program_.socket(), SOL_SOCKET, SO_SNDTIMEO, &patience_of_send, sizeof(patience_of_send));
  return is_started;
}

bool LineFinder::send(File& file, std::uint32_t number, const RegularFile& opened) {
  if (!opened.is_open()) return false;
  LineRequest request;
  request.file = number;
  if (send_packet(program_.socket(), request, opened.descriptor()))
    file.sent_in = starts_;
  else
    program_.end();
  return file.sent_in == starts_;
}

std::optional<SourceLine> LineFinder::find(std::uint32_t number, std::uint64_t address) {
  File& file = files_[number];
  if (const auto found = file.known.find(address); found != file.known.end()) return found->second;
  if (file.is_bad || is_cancelled_) return std::nullopt;
  if (file.known.size() >= known_max) file.known.clear();
  auto line = ask(file, number, address);
  file.known[address] = line;
  return line;
}

std::optional<SourceLine> LineFinder::ask(File& file, std::uint32_t number, std::uint64_t address) {
  if (!start() || (file.sent_in != starts_ && !send(file, number, RegularFile(file.path)))) return std::nullopt;
  LineRequest request;
  request.file = number;
  request.address = address;
  std::array<char, sizeof(LineReply) + source_lines::path_bytes_max> packet;
  LineReply reply;
  const int socket = program_.socket();
  ssize_t bytes = -1;
  if (send_packet(socket, request, -1) && wait_for_reply()) bytes = recv(socket, packet.data(), packet.size(), 0);
  if (bytes < static_cast<ssize_t>(sizeof(reply))) {
    file.is_bad = !is_cancelled_;
    program_.end();
    return std::nullopt;
  }
  vain_starts_ = 0;
  std::memcpy(&reply, packet.data(), sizeof(reply));
  if (reply.is_last != 0) program_.end();
  const std::string path(packet.data() + sizeof(reply), packet.data() + bytes);
  if (reply.line == 0 || path.empty()) return std::nullopt;
  return SourceLine{path, reply.line};
}

}  // namespace hbmscope::serve
