// What it takes to decode one block after the other: a decoder, and the rows of the block at hand. Each thread keeps
// one: what is the same in all rows of a kind is not written again then (block_decoder.h), and no memory has to be
// cleared, which is worth as much as the decoding.
#pragma once

#include <optional>
#include <string>

#include "collector/wire/block_decoder.h"

namespace hbmscope {

class Decoding {
 public:
  // Nothing, or what is wrong with the block; rows() has none then.
  std::optional<std::string> decode(const wire::Block& block, const wire::FieldChoice& choice = {}) {
    is_large_ |= block.header.records > block_records_max || block.header.raw_bytes > block_bytes_max;
    return decoder_.decode(block, rows_, choice);
  }
  const wire::DecodedBlock& rows() const { return rows_; }

  // Some megabytes; anew after larger blocks than there usually are. While a function has it, it calls nothing that
  // decodes on this thread, and no callback.
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
  bool is_large_ = false;  // Its memory, by now.
};

}  // namespace hbmscope
