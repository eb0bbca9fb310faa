#include "app/cli/remote/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "collector/link/link.h"
#include "collector/link/meeting_place.h"
#include "collector/view/live_link.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t part_bytes = std::size_t{256} << 10;

bool write_all(int file, const void* bytes, std::size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = write(file, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

// A file that grows while it is being read.
class Output {
 public:
  Output(const std::string& path, std::uint64_t from, link::FrameKind kind)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), place_(from), kind_(kind) {}
  ~Output() {
    if (file_ >= 0) close(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Sends part of the output, so that a job that prints without end leaves time for requests and for its recording.
  // False if the reader is gone.
  bool carry(std::vector<char>& part) {
    constexpr int parts_max = 4;
    has_more_ = true;
    for (int i = 0; i < parts_max; ++i) {
      const ssize_t count = file_ < 0 ? 0 : pread(file_, part.data(), part.size(), static_cast<off_t>(place_));
      has_more_ = count > 0;
      if (count <= 0) return true;
      link::FrameHeader header;
      header.kind = kind_;
      header.bytes = static_cast<std::uint64_t>(count);
      if (!write_all(STDOUT_FILENO, &header, sizeof(header)) ||
          !write_all(STDOUT_FILENO, part.data(), static_cast<std::size_t>(count)))
        return false;
      place_ += static_cast<std::uint64_t>(count);
    }
    return true;
  }
  bool has_more() const { return has_more_; }

 private:
  int file_;
  bool has_more_ = false;
  std::uint64_t place_;
  link::FrameKind kind_;
};

class Relay {
 public:
  Relay(const RelayOptions& options, int observer)
      : observer_(observer),
        output_(options.output + "/stdout.txt", options.output_from, link::FrameKind::output),
        errors_(options.output + "/stderr.txt", options.errors_from, link::FrameKind::errors) {}

  int run() {
    constexpr int round_ms = 50;
    bool is_there = true;
    while (is_there) {
      std::array<pollfd, 2> waited{pollfd{observer_, POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
      poll(waited.data(), waited.size(), output_.has_more() || errors_.has_more() ? 0 : round_ms);
      if (waited[1].revents != 0 && !carry_there()) return exit_ok;  // The other end has closed.
      if (!carry_output()) return exit_ok;
      if (waited[0].revents != 0 && !carry_here(is_there)) return exit_ok;
    }
    wait_for_its_end();
    while (carry_output() && (output_.has_more() || errors_.has_more())) {
    }
    return exit_ok;
  }

 private:
  bool carry_there() const {
    std::array<char, 4096> said{};
    const ssize_t count = read(STDIN_FILENO, said.data(), said.size());
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    // An observer reads small messages immediately; if it does not, treat it as gone.
    return send(observer_, said.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
  }

  // Observer frames are passed on whole; our own frames go between them.
  bool carry_here(bool& is_there) {
    const ssize_t count = recv(observer_, part_.data(), part_.size(), 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    is_there = count > 0;
    for (ssize_t at = 0; at < count;) {
      // Output that was printed before the observer's frame is sent before it.
      if (left_ == 0 && head_bytes_ == 0 && is_welcome_ && !carry_output()) return false;
      const auto now = static_cast<std::size_t>(count - at);
      const std::size_t taken = left_ > 0 ? std::min<std::size_t>(now, left_) : take_head(part_.data() + at, now);
      if (!write_all(STDOUT_FILENO, part_.data() + at, taken)) return false;
      if (left_ > 0 && !is_head_) left_ -= taken;
      is_head_ = false;
      at += static_cast<ssize_t>(taken);
    }
    return true;
  }

  // Collects the welcome or a frame's header. Returns how many of the bytes belong to it.
  std::size_t take_head(const char* bytes, std::size_t count) {
    const std::size_t wanted = is_welcome_ ? sizeof(link::FrameHeader) : sizeof(link::Welcome);
    const std::size_t taken = std::min(count, wanted - head_bytes_);
    std::memcpy(head_.data() + head_bytes_, bytes, taken);
    head_bytes_ += taken;
    is_head_ = true;
    if (head_bytes_ < wanted) return taken;
    head_bytes_ = 0;
    if (is_welcome_) {
      link::FrameHeader header;
      std::memcpy(&header, head_.data(), sizeof(header));
      left_ = header.bytes;
    }
    is_welcome_ = true;
    return taken;
  }

  bool carry_output() {
    if (!is_welcome_ || left_ > 0 || head_bytes_ > 0) return true;
    return output_.carry(output_part_) && errors_.carry(output_part_);
  }

  // Waits for the observer to exit, since it prints its last lines after it has closed the link.
  void wait_for_its_end() const {
    std::string wrong;
    const auto peer = link::trusted_peer(observer_, wrong);
    constexpr int patience_ms = 3000;
    for (int waited = 0; peer && waited < patience_ms && kill(static_cast<pid_t>(peer->pid), 0) == 0; ++waited) {
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
  }

  int observer_;
  Output output_, errors_;
  std::vector<char> part_ = std::vector<char>(part_bytes), output_part_ = std::vector<char>(part_bytes);
  std::array<char, sizeof(link::Welcome)> head_{};
  std::size_t head_bytes_ = 0;
  std::uint64_t left_ = 0;  // Remaining bytes of the frame.
  bool is_welcome_ = false, is_head_ = false;
};

}  // namespace

int run_relay(const RelayOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string socket = view::socket_of("live:" + options.job);
  std::string wrong;
  const int observer =
      socket.starts_with('/') && access(socket.c_str(), F_OK) == 0 ? link::connect_to(socket, SOCK_STREAM, wrong) : -1;
  if (observer < 0 || !link::trusted_peer(observer, wrong))
    return fail(refusal(fmt::format("no job {} is observed there by a hbmscope of yours{}", options.job,
                                    wrong.empty() ? "" : ": " + wrong),
                        "hbmscope ps HOST lists jobs."));
  const int code = Relay(options, observer).run();
  close(observer);
  return code;
}

}  // namespace hbmscope::cli
