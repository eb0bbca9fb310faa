// One block as it is stored and sent: header and payload. Immutable once sealed; streams share blocks by pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collector/wire/payload_file.h"
#include "collector/wire/wire.h"

namespace hbmscope::wire {

struct Block {
  BlockHeader header;
  std::vector<std::uint8_t> payload;  // The stored bytes. Empty if they are in a file.
  std::shared_ptr<const PayloadFile> file;
  std::uint64_t file_offset = 0;

  std::uint64_t end_event() const { return header.first_event + header.events; }
};

using SharedBlock = std::shared_ptr<const Block>;

// The payload in memory, or read from its file into `room`. No value: it can't be read.
std::optional<std::span<const std::uint8_t>> find_payload(const Block& block, std::vector<std::uint8_t>& room);

// The hash that header and payload should have. The header's own hash field is not included.
std::uint64_t compute_block_hash(const BlockHeader& header, std::span<const std::uint8_t> payload);
inline std::uint64_t compute_block_hash(const Block& block) {
  return compute_block_hash(block.header, block.payload);
}

}  // namespace hbmscope::wire
