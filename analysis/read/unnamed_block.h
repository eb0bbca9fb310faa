// Memory that a source counts, but whose blocks it does not name: shown as one block without an address, so that sums
// agree with the source's own.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

// `Record`: LiveRecord or AllocRecord. `address` only identifies the block, so no other block may have it. `text`
// becomes its tag and its only frame.
template <class Record>
Record unnamed_block(wire::StreamWriter& writer, std::uint32_t heap, std::uint64_t address, std::uint64_t bytes,
                     std::string_view text) {
  Record block;
  block.heap = heap;
  block.address = address;
  block.size = bytes;
  block.requested = wire::unknown_bytes;
  block.stack = writer.define_stack(0, writer.define_frame(text, "<unknown>", 0));
  block.tag = writer.define_string(text);
  block.flags = wire::block_flag::has_no_address;
  return block;
}

}  // namespace hbmscope
