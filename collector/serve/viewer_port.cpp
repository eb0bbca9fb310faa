#include "collector/serve/viewer_port.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "collector/link/meeting_place.h"

namespace hbmscope::serve {
namespace {

constexpr std::size_t viewers_max = 64, refused_max = 100;
// Whoever has the token may be on any machine; the places that remain are for the user's own viewers on this one.
constexpr std::size_t tcp_viewers_max = 48;
// TCP connections that have not sent the token: a silent one makes room for the next, and none takes a viewer's place.
constexpr std::size_t strangers_max = 16;
// By the time they are accepted, most connections of a flood have closed again, or have sent everything.
constexpr int accepted_a_turn = 64, strangers_a_turn = 256;
constexpr std::int64_t status_age_ns = 100'000'000;
constexpr std::int64_t greeting_patience_ns = 5'000'000'000;
constexpr int socket_bytes = 1 << 20;
// Limits for one viewer in one turn: a viewer that requests or receives without end must not keep the rings waiting.
constexpr int requests_a_turn = 16;
constexpr std::uint64_t bytes_a_turn = 4U << 20;
// Making keyframes takes as long as draining some ten thousand events.
constexpr std::int64_t skip_pause_ns = 1'000'000'000, skip_pause_times = 20;

// All keyframes of one time, as they are sent, and the position after them.
struct SkipBytes {
  std::uint64_t place = 0;
  std::vector<std::uint8_t> bytes;
};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// What it has sent is read first: a TCP connection that is closed with unread bytes loses the answer.
void say_that_there_is_no_place(int connection) {
  link::Welcome full;
  full.session = link::no_place;
  send(connection, &full, sizeof(full), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(connection, SHUT_WR);
  std::array<char, 256> unread{};
  for (int turn = 0; turn < 4 && recv(connection, unread.data(), unread.size(), MSG_DONTWAIT) > 0; ++turn) {
  }
}

}  // namespace

class ViewerPort::Viewer {
 public:
  // `token` must be received first, unless it is null.
  Viewer(int connection, std::uint64_t session, const link::Token* token)
      : connection_(connection), since_ns_(now_ns()), session_(session), is_by_tcp_(token != nullptr), token_(token) {}
  ~Viewer() { close(connection_); }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  bool is_greeted() const { return is_greeted_; }
  bool is_stranger() const { return token_ != nullptr; }
  bool is_by_tcp() const { return is_by_tcp_; }
  bool is_silent() const { return said_bytes_ == 0; }
  int connection() const { return connection_; }
  bool has_all(std::uint64_t bytes) const { return place_ == bytes && !is_in_frame(); }
  // Whether it has taken nothing of the recording for that long, as far as it was checked.
  bool stands_still(std::int64_t now, std::int64_t patience_ns) {
    if (const std::uint64_t moved = place_ + skip_sent_; moved_ns_ == 0 || moved != moved_to_) {
      moved_to_ = moved;
      moved_ns_ = now;
    }
    return now - moved_ns_ > patience_ns;
  }

  // False: it has gone, is not a viewer, or speaks no version of ours.
  bool read(const Recorder& recorder, std::vector<link::RequestKind>& requests, bool can_skip) {
    for (int turn = 0; turn < requests_a_turn; ++turn) {
      const std::size_t wanted = is_stranger() ? sizeof(link::TokenGreeting)
                                 : is_greeted_ ? sizeof(link::Request)
                                               : sizeof(link::Greeting);
      const ssize_t bytes = recv(connection_, said_.data() + said_bytes_, wanted - said_bytes_, 0);
      if (bytes == 0) return false;
      if (bytes < 0) {
        if (errno == EINTR) continue;
        const bool is_late = !is_greeted_ && now_ns() - since_ns_ > greeting_patience_ns;
        return (errno == EAGAIN || errno == EWOULDBLOCK) && !is_late;
      }
      said_bytes_ += static_cast<std::size_t>(bytes);
      if (said_bytes_ < wanted) continue;
      said_bytes_ = 0;
      if (is_stranger() ? !take_token()
                        : !(is_greeted_ ? take_request(requests, can_skip) : take_greeting(recorder.end_place())))
        return false;
    }
    return true;
  }

  bool wants_to_skip() const { return wants_to_skip_; }
  // Null: no position to continue at. A viewer that has everything does not need one.
  void skip(const std::shared_ptr<const SkipBytes>& skip) {
    wants_to_skip_ = false;
    if (!skip_ && skip && place_ + skip->bytes.size() < skip->place) skip_ = skip;
  }

  // False: it has gone.
  bool send(const Recorder& recorder, const link::Status& status) {
    if (!is_greeted_) return true;
    for (const std::uint64_t enough = sent_ + bytes_a_turn; sent_ < enough;) {
      if (head_bytes_ > head_sent_) {
        const ssize_t bytes =
            ::send(connection_, head_.data() + head_sent_, head_bytes_ - head_sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes < 0) return is_full();
        note_sent(bytes);
        head_sent_ += static_cast<std::size_t>(bytes);
        if (head_sent_ == head_bytes_) head_sent_ = head_bytes_ = 0;
      } else if (frame_left_ > 0 && is_skipping_) {
        const ssize_t bytes =
            ::send(connection_, skip_->bytes.data() + skip_sent_, frame_left_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes < 0) return is_full();
        note_sent(bytes);
        skip_sent_ += static_cast<std::size_t>(bytes);
        frame_left_ -= static_cast<std::size_t>(bytes);
        if (skip_sent_ == skip_->bytes.size()) end_skip();
      } else if (frame_left_ > 0) {
        const Recorder::Part& part = *part_of(recorder, place_);
        auto offset = static_cast<off_t>(part.offset + (place_ - part.place));
        const ssize_t bytes = sendfile(connection_, part.file, &offset, frame_left_);
        if (bytes < 0) return is_full();
        if (bytes == 0) return false;  // The file was truncated.
        note_sent(bytes);
        place_ += static_cast<std::uint64_t>(bytes);
        frame_left_ -= static_cast<std::size_t>(bytes);
      } else if (status.now_ns - status_ns_ >= status_age_ns || status.flags != status_flags_) {
        begin_frame(link::FrameKind::status, sizeof(status));
        append(status);
        status_ns_ = status.now_ns;
        status_flags_ = status.flags;
      } else if (is_skipping_) {
        frame_left_ = std::min<std::uint64_t>(skip_->bytes.size() - skip_sent_, link::frame_bytes_max);
        begin_frame(link::FrameKind::recording, frame_left_);
      } else if (skip_) {
        begin_frame(link::FrameKind::skip, sizeof(link::Skip));
        append(link::Skip{skip_->place, skip_->bytes.size()});
        is_skipping_ = true;
        skip_sent_ = 0;
      } else if (place_ < status.blocks_bytes) {
        const auto next = std::next(part_of(recorder, place_));
        const std::uint64_t end = next == recorder.parts().end() ? status.blocks_bytes : next->place;
        frame_left_ = std::min<std::uint64_t>(end - place_, link::frame_bytes_max);
        begin_frame(link::FrameKind::recording, frame_left_);
      } else {
        break;
      }
    }
    return true;
  }

 private:
  static std::vector<Recorder::Part>::const_iterator part_of(const Recorder& recorder, std::uint64_t place) {
    const auto after = std::upper_bound(recorder.parts().begin(), recorder.parts().end(), place,
                                        [](std::uint64_t wanted, const auto& part) { return wanted < part.place; });
    return std::prev(after);
  }
  static bool is_full() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
  void end_skip() {
    place_ = skip_->place;
    skip_sent_ = 0;
    is_skipping_ = false;
    skip_.reset();
  }
  bool is_in_frame() const { return head_bytes_ > 0 || frame_left_ > 0; }
  void note_sent(ssize_t bytes) { sent_ += static_cast<std::uint64_t>(bytes); }
  template <class Struct>
  void append(const Struct& from) {
    static_assert(sizeof(link::FrameHeader) + sizeof(from) <= sizeof(head_));
    std::memcpy(head_.data() + head_bytes_, &from, sizeof(from));
    head_bytes_ += sizeof(from);
  }
  void begin_frame(link::FrameKind kind, std::uint64_t bytes) {
    link::FrameHeader header;
    header.kind = kind;
    header.bytes = bytes;
    append(header);
  }

  bool take_token() {
    link::TokenGreeting greeting;
    std::memcpy(&greeting, said_.data(), sizeof(greeting));
    link::Token token;
    std::memcpy(token.data(), greeting.token, token.size());
    if (std::memcmp(greeting.magic, link::TokenGreeting{}.magic, sizeof(greeting.magic)) != 0 ||
        !link::is_same(token, *token_))
      return false;
    token_ = nullptr;
    return true;
  }

  bool take_greeting(std::uint64_t end_place) {
    link::Greeting greeting;
    std::memcpy(&greeting, said_.data(), sizeof(greeting));
    if (std::memcmp(greeting.magic, link::Greeting{}.magic, sizeof(greeting.magic)) != 0) return false;
    link::Welcome welcome;
    if (greeting.oldest_version <= link::version) welcome.version = std::min(greeting.newest_version, link::version);
    welcome.session = session_;
    // A peer may send any position: one inside a block gives garbage to this viewer only.
    if (greeting.session == session_ && greeting.place <= end_place) place_ = welcome.place = greeting.place;
    append(welcome);
    is_greeted_ = true;
    if (welcome.version != 0) return true;
    ::send(connection_, &welcome, sizeof(welcome), MSG_NOSIGNAL | MSG_DONTWAIT);
    return false;
  }

  bool take_request(std::vector<link::RequestKind>& requests, bool can_skip) {
    link::Request request;
    std::memcpy(&request, said_.data(), sizeof(request));
    if (request.magic != link::Request{}.magic) return false;
    if (request.kind == link::RequestKind::skip_to_now)
      wants_to_skip_ = can_skip && !skip_;  // The skip that is on its way serves as well.
    else if (requests.size() < viewers_max)
      requests.push_back(request.kind);
    return true;
  }

  int connection_;
  std::int64_t since_ns_;
  std::uint64_t session_;
  bool is_by_tcp_;
  const link::Token* token_;
  bool is_greeted_ = false;
  std::array<char, std::max(sizeof(link::Greeting), sizeof(link::TokenGreeting))> said_{};
  std::size_t said_bytes_ = 0;
  std::array<std::uint8_t, 128>
      head_{};                  // Sent before the frame's bytes of the file: a frame's header and status, or a welcome.
  std::size_t head_bytes_ = 0;  // Bytes of head_ that are used.
  std::size_t head_sent_ = 0;
  std::uint64_t place_ = 0;  // In the blocks of the recording.
  std::size_t frame_left_ = 0;
  std::uint64_t sent_ = 0;
  bool wants_to_skip_ = false;
  std::shared_ptr<const SkipBytes> skip_;  // To be sent before the next frame of the recording.
  std::size_t skip_sent_ = 0;
  bool is_skipping_ = false;    // Its sending has begun.
  std::uint64_t moved_to_ = 0;  // The position when it last moved, and when that was.
  std::int64_t moved_ns_ = 0;
  std::int64_t status_ns_ = 0;
  std::uint32_t status_flags_ = 0;
};

ViewerPort::ViewerPort(const Recorder& recorder) : recorder_(recorder) {}

ViewerPort::~ViewerPort() {
  viewers_.clear();
  if (listening_ >= 0) close(listening_);
  if (listening_by_tcp_ >= 0) close(listening_by_tcp_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<std::string> ViewerPort::open() {
  const std::string folder = link::private_folder();
  if (folder.empty()) return "found no private folder, neither in XDG_RUNTIME_DIR nor in /tmp nor in the home folder";
  session_ = (static_cast<std::uint64_t>(now_ns()) << 22 ^ static_cast<std::uint64_t>(getpid())) | 1;
  link::forget_dead_observers();
  const std::string path = link::viewer_socket(folder, getpid());
  std::string wrong;
  listening_ = link::listen_at(path, SOCK_STREAM, wrong);
  if (listening_ < 0) return wrong;
  path_ = path;
  return std::nullopt;
}

std::optional<std::string> ViewerPort::open_tcp(link::TcpAddress& address, const link::Token& token) {
  std::string wrong;
  listening_by_tcp_ = link::listen_at(address, wrong);
  if (listening_by_tcp_ < 0) return address.text() + " can't be used to listen: " + wrong;
  token_ = token;
  return std::nullopt;
}

void ViewerPort::refuse(const std::string& why) {
  if (refused_.size() < refused_max) refused_.push_back(why);
}

void ViewerPort::add_viewer(int connection, const link::Token* token) {
  setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &socket_bytes, sizeof(socket_bytes));
  viewers_.push_back(std::make_unique<Viewer>(connection, session_, token));
}

std::size_t ViewerPort::strangers() const {
  return static_cast<std::size_t>(
      std::count_if(viewers_.begin(), viewers_.end(), [](const auto& one) { return one->is_stranger(); }));
}

void ViewerPort::accept_some() {
  for (int turn = 0; turn < accepted_a_turn; ++turn) {
    const int connection = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return;
    std::string wrong;
    const bool is_trusted = link::trusted_peer(connection, wrong).has_value();
    if (!is_trusted || viewers() >= viewers_max) {
      refuse(is_trusted ? "a viewer: there are too many" : wrong);
      if (is_trusted) say_that_there_is_no_place(connection);
      close(connection);
      continue;
    }
    add_viewer(connection, nullptr);
  }
}

// Each is read at once: a viewer with the token has usually sent it by then. At most as many others are accepted as
// there are places, so that each gets at least one turn to send it.
void ViewerPort::accept_strangers(const link::Status& status) {
  std::size_t read_so_far = 0;
  for (int turn = 0; listening_by_tcp_ >= 0 && turn < strangers_a_turn && read_so_far < strangers_max; ++turn) {
    const int connection = link::accept_at(listening_by_tcp_);
    if (connection < 0) return;
    add_viewer(connection, &token_);
    if (!serve_viewer(*viewers_.back(), status))
      viewers_.pop_back();
    else if (viewers_.back()->is_stranger())
      ++read_so_far;
    if (strangers() > strangers_max) make_room_for_stranger(status);
  }
}

// Each is read once more before it is dropped, because the token may be waiting in its socket. Those that have begun to
// send are dropped last.
void ViewerPort::make_room_for_stranger(const link::Status& status) {
  while (strangers() > strangers_max) {
    const auto is_stranger = [](const auto& one) { return one->is_stranger(); };
    auto oldest = std::find_if(viewers_.begin(), viewers_.end(),
                               [&](const auto& one) { return is_stranger(one) && one->is_silent(); });
    const bool is_silent = oldest != viewers_.end();
    if (!is_silent) oldest = std::find_if(viewers_.begin(), viewers_.end(), is_stranger);
    const bool stays = serve_viewer(**oldest, status);
    if (stays && (!(*oldest)->is_stranger() || (*oldest)->is_silent() != is_silent)) continue;
    if (stays) ++crowded_out_;
    viewers_.erase(oldest);
  }
}

// A TCP connection must have sent the right token, and there must be a viewer's place left.
bool ViewerPort::serve_viewer(Viewer& viewer, const link::Status& status) {
  const bool was_stranger = viewer.is_stranger();
  bool stays = viewer.read(recorder_, requests_, make_keyframes_ != nullptr);
  if (was_stranger && !viewer.is_stranger() && stays && !has_place_for_tcp()) {
    refuse(link::peer_text(viewer.connection()) + ": there are too many viewers");
    say_that_there_is_no_place(viewer.connection());
    return false;
  }
  if (stays && viewer.wants_to_skip()) skip_where_wanted();  // Before it is sent what it does not want.
  stays = stays && viewer.send(recorder_, status);
  if (stays || !viewer.is_stranger()) return stays;
  refuse(link::peer_text(viewer.connection()) + ": its token is missing or wrong");
  return false;
}

// The one that has just sent its token counts already.
bool ViewerPort::has_place_for_tcp() const {
  const auto by_tcp = std::count_if(viewers_.begin(), viewers_.end(),
                                    [](const auto& one) { return one->is_by_tcp() && !one->is_stranger(); });
  return static_cast<std::size_t>(by_tcp) <= tcp_viewers_max && viewers() <= viewers_max;
}

void ViewerPort::skip_where_wanted() {
  const std::int64_t begun_ns = now_ns();
  if (!make_keyframes_ || begun_ns < next_skip_ns_) return;
  auto skip = std::make_shared<SkipBytes>();
  for (const wire::SharedBlock& block : make_keyframes_()) {
    const auto* const header = reinterpret_cast<const std::uint8_t*>(&block->header);
    skip->bytes.insert(skip->bytes.end(), header, header + sizeof(block->header));
    skip->bytes.insert(skip->bytes.end(), block->payload.begin(), block->payload.end());
  }
  skip->place = recorder_.end_place();
  const bool is_possible = !skip->bytes.empty() && skip->bytes.size() <= link::skip_bytes_max;
  for (const auto& viewer : viewers_)
    if (viewer->wants_to_skip()) viewer->skip(is_possible ? skip : nullptr);
  const std::int64_t ended_ns = now_ns();
  next_skip_ns_ = ended_ns + std::max(skip_pause_ns, skip_pause_times * (ended_ns - begun_ns));
}

void ViewerPort::serve(link::Status status) {
  if (listening_ < 0) return;
  status.now_ns = now_ns();
  status.blocks_bytes = recorder_.end_place();
  status.recording_bytes = recorder_.bytes();
  if (recorder_.is_recording()) status.flags |= link::status_flag::is_recording;
  if (make_keyframes_) status.flags |= link::status_flag::can_skip;
  accept_some();
  accept_strangers(status);
  // Not std::erase_if(): which ones remain decides who may stay.
  for (auto viewer = viewers_.begin(); viewer != viewers_.end();)
    viewer = serve_viewer(**viewer, status) ? viewer + 1 : viewers_.erase(viewer);
}

std::vector<link::RequestKind> ViewerPort::take_requests() {
  return std::exchange(requests_, {});
}

void ViewerPort::finish(link::Status status, int patience_ms) {
  const std::int64_t patience_ns = std::int64_t{patience_ms} * 1'000'000, begun_ns = now_ns();
  for (;;) {
    serve(status);
    const std::int64_t now = now_ns();
    std::erase_if(viewers_, [&](const std::unique_ptr<Viewer>& viewer) {
      return !viewer->is_greeted() || viewer->has_all(recorder_.end_place()) || viewer->stands_still(now, patience_ns);
    });
    if (viewers_.empty() || now - begun_ns > 20 * patience_ns) break;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  viewers_.clear();
}

std::size_t ViewerPort::viewers() const {
  return viewers_.size() - strangers();
}

}  // namespace hbmscope::serve
