// A connection to an observer. One thread, the caller's: it reads, and another one may wake it or ask for something.
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

#include "collector/link/link.h"
#include "collector/view/far_line.h"
#include "collector/view/link_reader.h"

namespace hbmscope::view {

// "live:4711", the observer of that number, or of the process of that number; "live:/path/to/socket";
// "live:HOST:4711", of another machine; "tcp:HOST:9000", one that was told to listen there. What open() takes; empty:
// it is no such name, but a file's.
std::string socket_of(std::string_view name);

// A far observer's line may be lost and come back: nothing is lost with it, as it goes on where it was, and whoever
// reads is told both. Meanwhile read() says that the link is there.
class LiveLink {
 public:
  LiveLink(LinkReader::BlockSink blocks, LinkReader::StatusSink statuses);
  ~LiveLink();
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;

  // Before open(). What is said of a line that was lost, and of its return.
  void set_news(std::function<void(const std::string&)> news) { news_ = std::move(news); }
  // Before open(), of a far observer: what its job prints is wanted, from the folder where it is kept there.
  void set_output(const std::string& folder, LinkReader::OutputSink output);

  // Nothing, or why not, in words: of another machine once it has answered. After an end, to the same observer: goes on
  // where it was.
  std::optional<std::string> open(const std::string& socket);
  // Waits until something comes, wake() is called, or the time is over, and hands out what came: at most some
  // megabytes, so that who shows it gets its turn. False: the link has ended; why() says whether something was wrong.
  bool read(int wait_ms);
  const std::string& why() const { return why_; }  // Empty: the observer has hung up.
  // Far, and being tried again: until the observer has answered, nothing that is said gets there.
  bool is_lost() const { return has_no_line() || (far_ && was_welcome_ && !reader_.is_welcome()); }
  std::uint64_t place() const { return reader_.place(); }  // Bytes of blocks that have come.
  // With each status, by who wants nothing of what happened before: asks to skip to now, until it has. A line that is
  // lost meanwhile loses the question.
  void skip_what_was(const link::Status& told);

  // From any thread.
  void wake();
  void cancel();  // An open() that waits for another machine gives up.
  // From any thread, while it is open; nothing happens while it is lost.
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
  std::vector<std::uint8_t> bytes_;  // What one recv() fills.

  std::optional<FarJob> far_;
  std::unique_ptr<FarLine> line_;  // Owns the connection.
  std::function<void(const std::string&)> news_;
  LinkReader::OutputSink output_;
  std::string output_folder_;
  std::uint64_t output_bytes_ = 0, error_bytes_ = 0;
  bool was_welcome_ = false, is_told_lost_ = false;
  Clock::time_point next_try_, lost_at_;
  Clock::duration pause_{};
};

}  // namespace hbmscope::view
