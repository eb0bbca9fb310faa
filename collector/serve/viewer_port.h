// Offers the stream to viewers, at a socket in the private folder (collector/link/link.h has what is said there).
//
// One thread, the caller's, and nothing waits: every call sends what each viewer's socket takes and goes on. The bytes
// come from the recording's file, so that a viewer is a place in it and no more. Whatever a viewer does (never reads,
// sends anything, comes ten thousand times), it costs a socket at most.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/link/link.h"
#include "collector/serve/recorder.h"

namespace hbmscope::serve {

class ViewerPort {
 public:
  // The recorder outlives it.
  explicit ViewerPort(const Recorder& recorder);
  ~ViewerPort();
  ViewerPort(const ViewerPort&) = delete;
  ViewerPort& operator=(const ViewerPort&) = delete;

  // The socket of this process. Nothing, or why not, in words.
  std::optional<std::string> open();
  const std::string& socket_path() const { return path_; }

  // Takes in who came, reads what was asked, and sends: all blocks that were recorded, and, some times a second, the
  // status, of which the recorder knows its part.
  void serve(link::Status status);
  // What was asked since the last call.
  std::vector<link::RequestKind> take_requests();
  // Until every viewer has all; one that has taken nothing of the recording for so long is hung up on, and all are
  // after twenty times as long.
  void finish(link::Status status, int patience_ms);

  std::size_t viewers() const;
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  class Viewer;
  void accept_all();

  const Recorder& recorder_;
  std::string path_;
  std::uint64_t session_ = 0;
  int listening_ = -1;
  std::vector<std::unique_ptr<Viewer>> viewers_;
  std::vector<link::RequestKind> requests_;
  std::vector<std::string> refused_;
};

}  // namespace hbmscope::serve
