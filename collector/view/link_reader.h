// Parses what an observer sends. The bytes are untrusted: whatever they contain, the result is blocks for a decoder,
// statuses, or an error text. It never stores more than the largest block, or the keyframes of a skip.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/link/link.h"
#include "collector/wire/block.h"

namespace hbmscope::view {

class LinkReader {
 public:
  using BlockSink = std::function<void(wire::SharedBlock)>;
  using StatusSink = std::function<void(const link::Status&)>;
  // What the job printed on its standard output or standard error, if a relay sends it.
  using OutputSink = std::function<void(std::span<const std::uint8_t>, bool is_error)>;
  LinkReader(BlockSink blocks, StatusSink statuses) : blocks_(std::move(blocks)), statuses_(std::move(statuses)) {}

  // Feeds the next bytes, cut anywhere. Returns no value on success, otherwise the error; then nothing more may be fed.
  std::optional<std::string> feed(std::span<const std::uint8_t> bytes);
  void set_output(OutputSink output) { output_ = std::move(output); }
  bool is_welcome() const { return is_welcome_; }  // The observer has answered.
  // The next bytes come from a new connection; a block that had not arrived completely is sent again. Blocks continue
  // at the same position if the observer is the same; otherwise there is an error.
  void begin();
  // For the greeting of that connection.
  std::uint64_t session() const { return session_; }
  std::uint64_t place() const { return place_; }  // Bytes of complete blocks so far.
  std::uint64_t skips() const { return skips_; }  // Skips that have arrived completely.

 private:
  std::optional<std::string> take_welcome();
  std::optional<std::string> begin_frame();
  std::optional<std::string> take_blocks(std::span<const std::uint8_t> bytes);
  void take_status();
  std::optional<std::string> begin_skip();
  void end_skip();

  BlockSink blocks_;
  StatusSink statuses_;
  OutputSink output_;
  bool is_welcome_ = false;
  std::uint64_t session_ = 0, place_ = 0;
  link::FrameHeader frame_;
  std::uint64_t frame_left_ = 0;     // Bytes of the frame that have not arrived yet.
  std::vector<std::uint8_t> part_;   // What has arrived of a welcome, a frame's header, or a status.
  std::vector<std::uint8_t> block_;  // The part of a block that has arrived.
  // Keyframes are passed on when all of them have arrived. If the connection is lost before, the old position
  // continues.
  std::uint64_t skip_left_ = 0, skip_to_ = 0, skips_ = 0;
  std::vector<wire::SharedBlock> keyframes_;
};

}  // namespace hbmscope::view
