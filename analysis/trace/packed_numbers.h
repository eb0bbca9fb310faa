// Packs some hundred numbers into a few bits each: relative to the smallest, without the low bits that they share, with
// as many bits as most of them need. The upper bits of the larger ones follow, with their row numbers.
//
// For memory only: one process writes and reads a keyframe. Ten times as fast as columns under zstd at about the same
// size, because these values (slots, allocation times) hardly repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope {

constexpr std::size_t packed_numbers_max = 256;   // Per call.
constexpr std::size_t packed_numbers_behind = 8;  // That many readable bytes must follow the last numbers.

// The smallest is found by signed comparison, so that -1 is near 0.
void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::uint8_t>& out);
// Reads as many as were packed. Returns where the next ones begin.
const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint64_t> numbers);
const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint32_t> numbers);  // Their lower halves.

}  // namespace hbmscope
