// Offers the stream to viewers, at a socket in the private folder (collector/link/link.h describes the exchange).
//
// Everything runs on the caller's thread, and nothing waits: every call sends what each viewer's socket takes, and
// returns. The bytes come from the recording's file, so a viewer is only a position in it. Whatever a viewer does
// (never reads, sends garbage, connects ten thousand times), it costs at most a socket.
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
  // The recorder must outlive it.
  explicit ViewerPort(const Recorder& recorder);
  ~ViewerPort();
  ViewerPort(const ViewerPort&) = delete;
  ViewerPort& operator=(const ViewerPort&) = delete;

  // Opens the socket of this process. Returns no value on success, otherwise the reason.
  std::optional<std::string> open();
  const std::string& socket_path() const { return path_; }
  // Also listens on TCP, on request only, for viewers with the token. The chosen port is written to `address`.
  std::optional<std::string> open_tcp(link::TcpAddress& address, const link::Token& token);

  // Makes what a viewer needs to start with the next block: keyframes of all streams. When it returns, the recorder
  // must have everything that was recorded before. Without it no viewer can skip. Called at most once a second, and for
  // at most a twentieth of the time.
  using MakeKeyframes = std::function<std::vector<wire::SharedBlock>()>;
  void set_keyframes(MakeKeyframes make) { make_keyframes_ = std::move(make); }

  // Accepts new viewers, reads their requests, and sends all recorded blocks and, several times a second, the status,
  // part of which the recorder fills in.
  void serve(link::Status status);
  // The requests since the last call.
  std::vector<link::RequestKind> take_requests();
  // Serves until every viewer has received everything. A viewer that takes nothing for `patience_ms` is disconnected,
  // and all are after twenty times as long.
  void finish(link::Status status, int patience_ms);

  std::size_t viewers() const;  // Without strangers, which are TCP connections that have not sent the token.
  const std::vector<std::string>& refused() const { return refused_; }
  // Silent strangers that were disconnected because more came than there are places for.
  std::uint64_t crowded_out() const { return crowded_out_; }

 private:
  class Viewer;
  void refuse(const std::string& why);
  void add_viewer(int connection, const link::Token* token);
  std::size_t strangers() const;
  void accept_some();
  void accept_strangers(const link::Status& status);
  void make_room_for_stranger(const link::Status& status);
  bool has_place_for_tcp() const;
  void skip_where_wanted();
  bool serve_viewer(Viewer& viewer, const link::Status& status);  // False: disconnect it.

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
