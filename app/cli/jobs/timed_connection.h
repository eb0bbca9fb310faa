// A connection over which little is said, all of it until a deadline, so that no peer holds up a thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace hbmscope::cli {

class TimedConnection {
 public:
  // Closes the nonblocking socket at its end.
  TimedConnection(int connection, std::chrono::milliseconds patience);
  ~TimedConnection();
  TimedConnection(const TimedConnection&) = delete;
  TimedConnection& operator=(const TimedConnection&) = delete;

  // From now on.
  void set_patience(std::chrono::milliseconds patience);
  bool send_all(std::string_view text);
  // Waits for more, and appends it. False: no more comes.
  bool receive(std::string& text);
  // "Connection reset by peer". Empty if none, or the peer has ended the connection.
  const std::string& fault() const { return fault_; }

 private:
  bool wait(short events);
  bool note_fault();

  const int connection_;
  std::chrono::steady_clock::time_point deadline_;
  std::string fault_;
};

}  // namespace hbmscope::cli
