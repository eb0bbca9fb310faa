#include "collector/view/live_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/link/meeting_place.h"
#include "collector/link/tcp.h"
#include "collector/link/token.h"

namespace hbmscope::view {
namespace {

constexpr std::size_t said_max = 2000;

// Our own message, or else ssh's last line: a greeting may come before it.
std::string words_of(std::string said) {
  constexpr std::string_view program = "hbmscope: ";
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  if (said.size() > said_max) said.erase(0, said.size() - said_max);
  for (std::size_t at = 0; (at = said.find('\r', at)) != std::string::npos;) said.erase(at, 1);
  const std::size_t ours = said.rfind(program);
  if (ours != std::string::npos && (ours == 0 || said[ours - 1] == '\n')) return said.substr(ours + program.size());
  return said.substr(said.rfind('\n') + 1);
}

constexpr std::string_view far_prefix = "ssh:";  // No path begins like this: paths begin with a slash.
constexpr std::string_view tcp_prefix = "tcp:";
constexpr std::chrono::seconds tcp_patience{10};
constexpr std::chrono::milliseconds first_pause{250}, longest_pause{15'000};
constexpr std::chrono::seconds answer_patience{60};  // ssh may ask for a password.

}  // namespace

std::unique_ptr<FarLine> FarLine::start(const FarJob& job, const std::vector<std::string>& words, std::string& wrong) {
  const auto bundle = find_bundle();
  if (!bundle) {
    wrong = "this hbmscope has no server bundle to copy to " + job.host + "; build it with make bundle";
    return nullptr;
  }
  int ends[2] = {-1, -1}, errors[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
    wrong = std::strerror(errno);
    for (const int one : {ends[0], ends[1]})
      if (one >= 0) close(one);
    return nullptr;
  }
  fcntl(errors[1], F_SETFL, fcntl(errors[1], F_GETFL) & ~O_NONBLOCK);  // ssh's end may block.
  const pid_t process =
      start_ssh(job.host, far_command(bundle->identity, words), ends[1], ends[1], errors[1], true, wrong);
  close(ends[1]);
  close(errors[1]);
  if (process > 0) {
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    return std::unique_ptr<FarLine>(new FarLine(process, ends[0], errors[0]));
  }
  close(ends[0]);
  close(errors[0]);
  return nullptr;
}

FarLine::~FarLine() {
  close(socket_);
  close(errors_);
  if (process_ <= 0) return;
  constexpr int patience_ms = 300;  // The relay ends when nobody listens.
  for (int waited = 0; waitpid(process_, nullptr, WNOHANG) == 0; ++waited) {
    if (waited == patience_ms) kill(process_, SIGTERM);
    if (waited == 4 * patience_ms) kill(process_, SIGKILL);
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void FarLine::read_errors() {
  char part[4096];
  for (ssize_t count = 0; (count = read(errors_, part, sizeof(part))) > 0;) {
    said_.append(part, static_cast<std::size_t>(count));
    if (said_.size() > 2 * said_max) said_.erase(0, said_.size() - said_max);
  }
}

FarLine::End FarLine::finish() {
  constexpr int patience_ms = 2000;
  int status = 0;
  pid_t ended = 0;
  for (int waited = 0; (ended = waitpid(process_, &status, WNOHANG)) == 0 && waited < patience_ms; ++waited) {
    read_errors();
    pollfd more{errors_, POLLIN, 0};
    poll(&more, 1, 1);
    const timespec pause{0, 500'000};
    nanosleep(&pause, nullptr);
  }
  if (ended == 0) {  // The connection has ended, but ssh has not.
    kill(process_, SIGKILL);
    waitpid(process_, &status, 0);
  }
  process_ = -1;
  read_errors();
  End end;
  end.is_lost = !WIFEXITED(status) || WEXITSTATUS(status) == ssh_failed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
  end.words = words_of(said_);
  if (!end.words.empty()) return end;
  end.words = WIFEXITED(status)
                  ? "ssh ended with exit code " + std::to_string(WEXITSTATUS(status)) + " and printed no reason"
                  : "ssh was killed by signal " + std::to_string(WTERMSIG(status));
  return end;
}

std::string socket_of(std::string_view name) {
  constexpr std::string_view prefix = "live:";
  if (name.starts_with(tcp_prefix) && link::connect_address_from(name.substr(tcp_prefix.size())))
    return std::string(name);
  if (!name.starts_with(prefix)) return {};
  const std::string_view rest = name.substr(prefix.size());
  if (rest.starts_with('/')) return std::string(rest);
  std::int64_t observer = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), observer);
  if (error == std::errc() && end == rest.data() + rest.size() && observer > 0)
    return link::find_viewer_socket(link::find_observer_of(observer).value_or(observer));
  if (const auto far = far_job_from(rest)) return std::string(far_prefix) + far->host + ":" + far->process;
  return {};
}

LiveLink::LiveLink(LinkReader::BlockSink blocks, LinkReader::StatusSink statuses)
    : reader_(std::move(blocks), std::move(statuses)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      bytes_(std::size_t{256} << 10) {}

LiveLink::~LiveLink() {
  hang_up();
  if (wake_ >= 0) close(wake_);
}

void LiveLink::set_output(const std::string& folder, LinkReader::OutputSink output) {
  output_folder_ = folder;
  output_ = std::move(output);
  reader_.set_output([this](std::span<const std::uint8_t> bytes, bool is_error) {
    (is_error ? error_bytes_ : output_bytes_) += bytes.size();
    output_(bytes, is_error);
  });
}

void LiveLink::hang_up() {
  const int connection = connection_.exchange(-1);
  if (line_ == nullptr && connection >= 0) close(connection);
  line_.reset();
}

std::optional<std::string> LiveLink::open(const std::string& socket) {
  hang_up();
  why_.clear();
  std::string wrong;
  if (socket.starts_with(far_prefix)) {
    far_ = far_job_from(std::string_view(socket).substr(far_prefix.size()));
    if (!far_) return "there is no such job: " + socket;
    was_welcome_ = false;
    if (!open_line(wrong)) return wrong;
    return wait_for_answer(answer_patience, "it closed the connection before it answered");
  }
  if (socket.starts_with(tcp_prefix)) return open_tcp(socket.substr(tcp_prefix.size()));
  connection_ = link::connect_to(socket, SOCK_STREAM, wrong);
  if (connection_ < 0) return wrong;
  if (!link::trusted_peer(connection_, wrong) || !greet(wrong)) {
    end(wrong);
    return why_;
  }
  return std::nullopt;
}

// Only its answer shows whether the observer can be reached at all.
std::optional<std::string> LiveLink::wait_for_answer(std::chrono::seconds patience, const std::string& when_hung_up) {
  for (const auto until = Clock::now() + patience; !reader_.is_welcome();) {
    if (!read(100)) return why_.empty() ? when_hung_up : why_;
    if (Clock::now() > until || is_cancelled_) {
      end(is_cancelled_ ? "nobody waits for it any more" : "nothing answers");
      return why_;
    }
  }
  return std::nullopt;
}

std::optional<std::string> LiveLink::open_tcp(const std::string& address) {
  std::string wrong;
  const auto to = link::connect_address_from(address);
  const auto token = link::find_token(wrong);
  if (!token) return wrong;
  connection_ = to ? link::connect_to(*to, wrong, &is_cancelled_) : -1;
  if (is_cancelled_) {
    end("nobody waits for it any more");
    return why_;
  }
  if (connection_ < 0) return wrong + "; check that hbmscope run --listen uses this port there";
  link::TokenGreeting greeting;
  std::memcpy(greeting.token, token->data(), token->size());
  if (send(connection_, &greeting, sizeof(greeting), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(greeting)) ||
      !greet(wrong)) {
    end(std::strerror(errno));
    return why_;
  }
  // A peer that hangs up with our bytes unread resets the connection.
  const std::string hung_up =
      "it closed the connection: the token is of another run, the run has ended, or too "
      "many came at once. Its hbmscope prints the reason when it ends";
  auto failed = wait_for_answer(tcp_patience, hung_up);
  return failed == std::strerror(ECONNRESET) || failed == std::strerror(EPIPE) ? hung_up : failed;
}

std::vector<std::string> LiveLink::relay_words() const {
  std::vector<std::string> words{"relay", far_->process};
  if (!output_folder_.empty())
    words.insert(words.end(), {"--output", output_folder_, "--output-from", std::to_string(output_bytes_),
                               "--errors-from", std::to_string(error_bytes_)});
  return words;
}

bool LiveLink::open_line(std::string& wrong) {
  line_ = FarLine::start(*far_, relay_words(), wrong);
  if (line_ == nullptr) return false;
  connection_ = line_->socket();
  return greet(wrong);
}

bool LiveLink::greet(std::string& wrong) {
  reader_.begin();
  link::Greeting greeting;
  greeting.session = reader_.session();
  greeting.place = reader_.place();
  if (send(connection_, &greeting, sizeof(greeting), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(greeting)))
    return true;
  wrong = std::strerror(errno);
  return far_.has_value() || errno == EPIPE;  // The connection has ended; read() reports it with a better reason.
}

// For another machine only a real end counts: a lost connection is retried.
bool LiveLink::end(std::string why) {
  if (line_ != nullptr) {
    const FarLine::End how = line_->finish();
    hang_up();
    if (how.is_lost && was_welcome_) {
      const auto now = Clock::now();
      if (!is_loss_reported_) {
        lost_at_ = now;
        pause_ = first_pause;
        if (news_) news_("the connection to " + far_->host + " is lost (" + how.words + "); trying again");
      }
      is_loss_reported_ = true;
      next_try_ = now + pause_;
      pause_ = std::min<Clock::duration>(pause_ * 2, longest_pause);
      return true;
    }
    if (!how.words.empty()) why = how.words;
  }
  hang_up();
  was_welcome_ = false;  // A retry would be useless.
  why_ = std::move(why);
  return false;
}

bool LiveLink::try_again() {
  std::string wrong;
  return open_line(wrong) || end(wrong);
}

bool LiveLink::read(int wait_ms) {
  if (has_no_line()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next_try_ - Clock::now()).count();
    pollfd waited{wake_, POLLIN, 0};
    if (left > 0) poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left, wait_ms)));
    if (waited.revents != 0) take_wake();
    return Clock::now() < next_try_ || try_again();
  }
  if (connection_ < 0) return false;
  std::array<pollfd, 2> waited{pollfd{connection_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  poll(waited.data(), waited.size(), wait_ms);
  if (waited[1].revents != 0) take_wake();
  if (line_ != nullptr) line_->read_errors();
  return receive();
}

bool LiveLink::receive() {
  constexpr int turns = 16;
  for (int turn = 0; turn < turns; ++turn) {
    const ssize_t got = recv(connection_, bytes_.data(), bytes_.size(), 0);
    if (got == 0) return end({});
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK || end(std::strerror(errno));
    }
    if (auto wrong = reader_.feed(std::span(bytes_).first(static_cast<std::size_t>(got)))) {
      hang_up();  // Its own end would not say why.
      return end(*wrong);
    }
    if (!far_ || !reader_.is_welcome()) continue;
    was_welcome_ = true;
    if (!is_loss_reported_) continue;
    is_loss_reported_ = false;
    const std::chrono::duration<double> gone = Clock::now() - lost_at_;
    if (news_)
      news_("the connection to " + far_->host + " is back after " +
            std::to_string(static_cast<int>(gone.count() + 0.5)) +
            " s and continues where it stopped; nothing is missing");
  }
  return true;
}

void LiveLink::take_wake() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t bytes = ::read(wake_, &count, sizeof(count));
}

void LiveLink::skip_what_was(const link::Status& status) {
  has_skipped_ = has_skipped_ || reader_.skips() > 0 || reader_.place() >= status.blocks_bytes;
  if (!has_skipped_ && (status.flags & link::status_flag::can_skip) != 0) request(link::RequestKind::skip_to_now);
}

void LiveLink::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = write(wake_, &one, sizeof(one));
}

void LiveLink::cancel() {
  is_cancelled_ = true;
  wake();
}

void LiveLink::request(link::RequestKind kind) {
  link::Request request;
  request.kind = kind;
  send(connection_, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace hbmscope::view
