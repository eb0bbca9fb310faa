// A frame of a stack that is being captured, and the hashes used for stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hbmscope::inject {

struct StackFrame {
  std::uint64_t place = 0;  // A code address, or a Python code object.
  std::uint64_t key = 0;    // For a Python frame: a hash of its names, never 0. For a native frame: 0.
  std::uint32_t instruction = 0;
};

// A 64 x 64 bit product, folded in half, mixes all bits of both into all bits of the result.
inline std::uint64_t hash_pair(std::uint64_t one, std::uint64_t other) {
  using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(one ^ 0x9e3779b97f4a7c15U) * (other ^ 0xd1b54a32d192ed03U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ one;
}

inline std::uint64_t hash_bytes(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t hash = bytes;
  std::uint64_t word = 0;
  for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
    std::memcpy(&word, at, sizeof(word));
    hash = hash_pair(hash, word);
  }
  word = 0;
  std::memcpy(&word, at, bytes);
  return hash_pair(hash, word);
}

}  // namespace hbmscope::inject
