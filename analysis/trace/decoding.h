// The buffers for decoding blocks one after another: a decoder, and the rows of the current block. Each thread keeps
// one. The decoder does not rewrite fields that are the same in all rows of a kind (block_decoder.h), and no memory has
// to be cleared; together that saves as much as the decoding costs.
#pragma once

#include <optional>
#include <string>

#include "collector/wire/block_decoder.h"

namespace hbmscope {

class Decoding {
 public:
  // Returns nothing, or the fault of the block; rows() is empty then.
  std::optional<std::string> decode(const wire::Block& block, const wire::FieldChoice& choice = {}) {
    is_large_ |= block.header.records > block_records_max || block.header.raw_bytes > block_bytes_max;
    return decoder_.decode(block, rows_, choice);
  }
  const wire::DecodedBlock& rows() const { return rows_; }

  // Some megabytes; replaced after blocks larger than usual. A caller that holds it must not call anything that decodes
  // on this thread, nor any callback.
  static Decoding& of_this_thread() {
    thread_local Decoding decoding;
    if (decoding.is_large_) decoding = Decoding();
    return decoding;
  }

 private:
  static constexpr std::uint32_t block_records_max = wire::block_events_max + wire::block_events_max / 4;
  static constexpr std::uint64_t block_bytes_max = std::uint64_t{8} << 20;

  wire::BlockDecoder decoder_;
  wire::DecodedBlock rows_;
  bool is_large_ = false;  // Its memory has grown beyond the usual.
};

}  // namespace hbmscope
