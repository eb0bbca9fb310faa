// A connection to an observer. It reads on the caller's thread; other threads may wake it or make a request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "collector/link/link.h"
#include "collector/view/far_host.h"
#include "collector/view/link_reader.h"

namespace hbmscope::view {

// The connection to an observer on another machine: ssh, which starts a relay there, and ssh's standard error.
// Everything runs on the caller's thread.
class FarLine {
 public:
  // `words`: the relay's arguments. Returns null on failure, with the reason in `wrong`.
  static std::unique_ptr<FarLine> start(const FarJob& job, const std::vector<std::string>& words, std::string& wrong);
  ~FarLine();  // Ends the connection.
  FarLine(const FarLine&) = delete;
  FarLine& operator=(const FarLine&) = delete;

  int socket() const { return socket_; }  // Nonblocking, in both directions.
  // Reads ssh's standard error, so that ssh never waits for us; the last part of it is kept.
  void read_errors();
  // After the end of the connection: how it ended. `is_lost`: ssh failed or was killed, and a retry may succeed.
  struct End {
    bool is_lost = false;
    std::string words;  // From ssh or from the command. Empty: the other side hung up, without an error.
  };
  End finish();

 private:
  FarLine(pid_t process, int socket, int errors) : process_(process), socket_(socket), errors_(errors) {}
  pid_t process_;
  int socket_, errors_;
  std::string said_;
};

// The socket or address that open() takes, from a name: "live:4711", the observer with that number, or of the process
// with that number; "live:/path/to/socket"; "live:HOST:4711", on another machine; "tcp:HOST:9000", an observer that
// listens there. Empty: it is not such a name, but that of a file.
std::string socket_of(std::string_view name);

// The connection to another machine may be lost and restored. No data is lost, because it continues at the same
// position, and the owner is notified of both. Meanwhile read() reports that the link exists.
class LiveLink {
 public:
  LiveLink(LinkReader::BlockSink blocks, LinkReader::StatusSink statuses);
  ~LiveLink();
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;

  // Set before open(). Receives a message when a connection is lost, and when it is back.
  void set_news(std::function<void(const std::string&)> news) { news_ = std::move(news); }
  // Set before open(), for another machine: requests the job's output, from the folder where it is kept there.
  void set_output(const std::string& folder, LinkReader::OutputSink output);

  // Returns no value on success, otherwise the reason; for another machine, once it has answered. After the link has
  // ended, opening it again to the same observer continues at the same position.
  std::optional<std::string> open(const std::string& socket);
  // Waits until something arrives, wake() is called, or the time is over, and passes on what arrived: at most some
  // megabytes, so that the display gets its turn. False: the link has ended, and why() has the error, if any.
  bool read(int wait_ms);
  const std::string& why() const { return why_; }  // Empty: the observer has hung up.
  // Another machine whose connection is being retried: until the observer has answered, no request reaches it.
  bool is_lost() const { return has_no_line() || (far_ && was_welcome_ && !reader_.is_welcome()); }
  std::uint64_t place() const { return reader_.place(); }  // Bytes of blocks that have arrived.
  // Called with each status, by a viewer that does not need the past: requests a skip to now, until it has skipped. If
  // the connection is lost meanwhile, the request is lost.
  void skip_what_was(const link::Status& status);

  // From any thread.
  void wake();
  void cancel();  // Ends an open() that waits for another machine.
  // From any thread, while it is open; has no effect while the connection is lost.
  void request(link::RequestKind kind);

 private:
  using Clock = std::chrono::steady_clock;
  bool has_no_line() const { return far_ && was_welcome_ && line_ == nullptr; }
  bool greet(std::string& wrong);
  bool open_line(std::string& wrong);
  std::optional<std::string> open_tcp(const std::string& address);
  std::optional<std::string> wait_for_answer(std::chrono::seconds patience, const std::string& when_hung_up);
  bool receive();
  bool try_again();
  bool end(std::string why);
  void hang_up();
  void take_wake() const;
  std::vector<std::string> relay_words() const;

  LinkReader reader_;
  std::atomic<int> connection_ = -1;
  std::atomic<bool> is_cancelled_ = false;
  int wake_ = -1;
  bool has_skipped_ = false;
  std::string why_;
  std::vector<std::uint8_t> bytes_;  // The buffer of recv().

  std::optional<FarJob> far_;
  std::unique_ptr<FarLine> line_;  // Owns the connection.
  std::function<void(const std::string&)> news_;
  LinkReader::OutputSink output_;
  std::string output_folder_;
  std::uint64_t output_bytes_ = 0, error_bytes_ = 0;
  bool was_welcome_ = false, is_loss_reported_ = false;
  Clock::time_point next_try_, lost_at_;
  Clock::duration pause_{};
};

}  // namespace hbmscope::view
