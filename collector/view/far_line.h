// The connection to an observer on another machine: ssh, which starts a relay there, and ssh's standard error.
// Everything runs on the caller's thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/view/far_host.h"

namespace hbmscope::view {

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

}  // namespace hbmscope::view
