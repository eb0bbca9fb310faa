#include "collector/view/link_reader.h"

#include <algorithm>
#include <cstring>

#include "collector/wire/block_decoder.h"

namespace hbmscope::view {

void LinkReader::begin() {
  is_welcome_ = false;
  frame_left_ = 0;
  part_.clear();
  block_.clear();
  skip_left_ = 0;
  keyframes_.clear();
}

std::optional<std::string> LinkReader::feed(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t status_bytes_max = 4096;
  while (!bytes.empty()) {
    if (frame_left_ > 0 && frame_.kind == link::FrameKind::recording) {
      const auto now = bytes.first(std::min<std::size_t>(bytes.size(), frame_left_));
      if (auto wrong = take_blocks(now)) return wrong;
      frame_left_ -= now.size();
      bytes = bytes.subspan(now.size());
      continue;
    }
    if (frame_left_ > 0 && (frame_.kind == link::FrameKind::output || frame_.kind == link::FrameKind::errors)) {
      const auto now = bytes.first(std::min<std::size_t>(bytes.size(), frame_left_));
      if (output_) output_(now, frame_.kind == link::FrameKind::errors);
      frame_left_ -= now.size();
      bytes = bytes.subspan(now.size());
      continue;
    }
    const bool is_in_frame = frame_left_ > 0;
    const std::size_t head_bytes = is_welcome_ ? sizeof(link::FrameHeader) : sizeof(link::Welcome);
    const std::size_t wanted = is_in_frame ? frame_left_ : head_bytes - part_.size();
    const auto now = bytes.first(std::min(bytes.size(), wanted));
    bytes = bytes.subspan(now.size());
    // Bytes that a newer observer sends beyond this are ignored.
    const std::size_t kept = std::min(now.size(), status_bytes_max - std::min(part_.size(), status_bytes_max));
    part_.insert(part_.end(), now.begin(), now.begin() + static_cast<std::ptrdiff_t>(kept));
    if (is_in_frame) frame_left_ -= now.size();
    if (now.size() < wanted) break;
    std::optional<std::string> wrong;
    if (is_in_frame) {
      if (frame_.kind == link::FrameKind::status) take_status();
      if (frame_.kind == link::FrameKind::skip) wrong = begin_skip();
    } else {
      wrong = is_welcome_ ? begin_frame() : take_welcome();
    }
    if (wrong) return wrong;
    part_.clear();
  }
  return std::nullopt;
}

std::optional<std::string> LinkReader::take_welcome() {
  link::Welcome welcome;
  std::memcpy(&welcome, part_.data(), sizeof(welcome));
  if (std::memcmp(welcome.magic, link::Welcome{}.magic, sizeof(welcome.magic)) != 0)
    return "the program that answered is not hbmscope";
  if (welcome.version == 0 && welcome.session == link::no_place)
    return "it has as many viewers as it serves; close one of them";
  if (welcome.version == 0)
    return "the hbmscope there uses version " + std::to_string(welcome.newest_version) +
           " of the link, this one version " + std::to_string(link::version);
  if (welcome.place != place_) return "the observer there is a different one now";
  session_ = welcome.session;
  is_welcome_ = true;
  return std::nullopt;
}

std::optional<std::string> LinkReader::begin_frame() {
  std::memcpy(&frame_, part_.data(), sizeof(frame_));
  if (frame_.magic != link::FrameHeader{}.magic || frame_.bytes > link::frame_bytes_max)
    return "invalid data: no frame begins where one should";
  frame_left_ = frame_.bytes;
  return std::nullopt;
}

std::optional<std::string> LinkReader::take_blocks(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    std::size_t wanted = sizeof(wire::BlockHeader);
    wire::BlockHeader header;
    const bool has_header = block_.size() >= sizeof(header);
    if (has_header) {
      std::memcpy(&header, block_.data(), sizeof(header));
      wanted += header.stored_bytes;
    }
    const auto now = bytes.first(std::min(bytes.size(), wanted - block_.size()));
    block_.insert(block_.end(), now.begin(), now.end());
    bytes = bytes.subspan(now.size());
    if (block_.size() < wanted) break;
    if (!has_header) {
      std::memcpy(&header, block_.data(), sizeof(header));
      if (auto fault = wire::find_header_fault(header)) return "invalid data: " + *fault;
      if (header.stored_bytes > 0) continue;
    }
    constexpr std::size_t keyframes_max = 1U << 16;
    const bool is_skip = skip_left_ > 0;
    if (keyframes_.size() > keyframes_max) return "invalid data: a keyframe has too many blocks";
    if (is_skip && block_.size() > skip_left_) return "invalid data: a keyframe is too long";
    if (wire::is_known(header) && header.type == (is_skip ? wire::BlockType::keyframe : wire::BlockType::events)) {
      auto block = std::make_shared<wire::Block>();
      block->header = header;
      block->payload.assign(block_.begin() + sizeof(header), block_.end());
      if (is_skip)
        keyframes_.push_back(std::move(block));
      else
        blocks_(std::move(block));
    }
    if (is_skip)
      skip_left_ -= block_.size();
    else
      place_ += block_.size();
    block_.clear();
    if (is_skip && skip_left_ == 0) end_skip();
  }
  return std::nullopt;
}

std::optional<std::string> LinkReader::begin_skip() {
  link::Skip skip;
  std::memcpy(&skip, part_.data(), std::min(part_.size(), sizeof(skip)));
  if (part_.size() < sizeof(skip) || skip.keyframe_bytes > link::skip_bytes_max || skip.place < place_ ||
      skip_left_ > 0)
    return "invalid data: nothing can be skipped here";
  block_.clear();
  skip_to_ = skip.place;
  skip_left_ = skip.keyframe_bytes;
  if (skip_left_ == 0) end_skip();
  return std::nullopt;
}

void LinkReader::end_skip() {
  place_ = skip_to_;
  ++skips_;
  for (wire::SharedBlock& block : keyframes_) blocks_(std::move(block));
  keyframes_.clear();
}

void LinkReader::take_status() {
  link::Status status;
  std::memcpy(&status, part_.data(), std::min(part_.size(), sizeof(status)));
  statuses_(status);
}

}  // namespace hbmscope::view
