// A connection to an observer. One thread, the caller's: it reads, and another one may wake it or ask for something.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/link/link.h"
#include "collector/view/link_reader.h"

namespace hbmscope::view {

// "live:4711", the observer of that number, or of the process of that number; "live:/path/to/socket". Empty: it is no
// such name, but a file's.
std::string socket_of(std::string_view name);

class LiveLink {
 public:
  LiveLink(LinkReader::BlockSink blocks, LinkReader::StatusSink statuses);
  ~LiveLink();
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;

  // Nothing, or why not, in words. After an end, to the same observer: goes on where it was.
  std::optional<std::string> open(const std::string& socket);
  // Waits until something comes, wake() is called, or the time is over, and hands out what came: at most some
  // megabytes, so that who shows it gets its turn. False: the link has ended; why() says whether something was wrong.
  bool read(int wait_ms);
  const std::string& why() const { return why_; }  // Empty: the observer has hung up.

  // From any thread.
  void wake();
  // From any thread, while it is open.
  void request(link::RequestKind kind);

 private:
  bool end(std::string why);

  LinkReader reader_;
  int connection_ = -1, wake_ = -1;
  std::string why_;
  std::vector<std::uint8_t> bytes_;  // What one recv() fills.
};

}  // namespace hbmscope::view
