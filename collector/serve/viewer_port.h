// Offers the stream to viewers, at a socket in the private folder (collector/link/link.h has what is said there).
//
// One thread, the caller's, and nothing waits: every call sends what each viewer's socket takes and goes on. The bytes
// come from the recording's file, so that a viewer is a place in it and no more. Whatever a viewer does (never reads,
// sends anything, comes ten thousand times), it costs a socket at most.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/link/link.h"
#include "collector/link/tcp.h"
#include "collector/link/token.h"
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
  // Beside it, only where somebody asked for it, to whoever knows the token. The port that it got is put into
  // `address`.
  std::optional<std::string> open_tcp(link::TcpAddress& address, const link::Token& token);

  // What a viewer needs that goes on with the next block: keyframes of all streams. All that was recorded before is in
  // the recorder when it returns. Without it no viewer can skip anything. Called once a second
  // at most, and a twentieth of the time.
  using MakeKeyframes = std::function<std::vector<wire::SharedBlock>()>;
  void set_keyframes(MakeKeyframes make) { make_keyframes_ = std::move(make); }

  // Takes in who came, reads what was asked, and sends: all blocks that were recorded, and, some times a second, the
  // status, of which the recorder knows its part.
  void serve(link::Status status);
  // What was asked since the last call.
  std::vector<link::RequestKind> take_requests();
  // Until every viewer has all; one that has taken nothing of the recording for so long is hung up on, and all are
  // after twenty times as long.
  void finish(link::Status status, int patience_ms);

  std::size_t viewers() const;  // Strangers are none: who came by TCP and has not said the token.
  const std::vector<std::string>& refused() const { return refused_; }
  // Strangers that had said nothing, and were hung up on because more came than there are places for.
  std::uint64_t crowded_out() const { return crowded_out_; }

 private:
  class Viewer;
  void refuse(const std::string& why);
  void add_viewer(int connection, const link::Token* token);
  std::size_t strangers() const;
  void accept_some();
  void accept_strangers(const link::Status& status);
  void make_room_for_stranger(const link::Status& status);
  void skip_where_wanted();
  bool serve_viewer(Viewer& viewer, const link::Status& status);  // False: it goes.

  const Recorder& recorder_;
  std::string path_;
  MakeKeyframes make_keyframes_;
  std::int64_t next_skip_ns_ = 0;
  std::uint64_t session_ = 0;
  int listening_ = -1, listening_by_tcp_ = -1;
  link::Token token_{};
  std::vector<std::unique_ptr<Viewer>> viewers_;
  std::vector<link::RequestKind> requests_;
  std::vector<std::string> refused_;
  std::uint64_t crowded_out_ = 0;
};

}  // namespace hbmscope::serve
