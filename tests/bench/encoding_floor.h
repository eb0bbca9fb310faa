// The minimum cost of writing and reading such a stream: a match from address to row, four columns of varints and zstd
// -1 in blocks of 65,536 events; no other fields, no other kinds, no checksum. Shares no code with collector/wire.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <zstd.h>

#include "tests/bench/heap_events.h"

namespace hbmscope::bench {

constexpr std::size_t floor_block_events = 65'536;

struct FloorBlock {
  std::vector<std::uint8_t> bytes;
  std::uint32_t raw_bytes = 0, events = 0;
};

class EncodingFloor {
 public:
  explicit EncodingFloor(std::size_t live = usual_live)
      : table_(table_entries_for(live)),
        shift_(64 - static_cast<unsigned>(std::bit_width(table_.size() - 1))),
        raw_(floor_block_events * 24) {}
  ~EncodingFloor() { ZSTD_freeCCtx(context_); }
  EncodingFloor(const EncodingFloor&) = delete;
  EncodingFloor& operator=(const EncodingFloor&) = delete;

  FloorBlock encode(const Event* events, const std::uint64_t* times, const std::uint32_t* stacks, std::size_t count) {
    std::uint8_t* out = raw_.data();
    for (std::size_t i = 0; i < count; ++i) *out++ = events[i].size_256 != 0;
    for (std::size_t i = 0; i < count; ++i) out = put(out, times[i] - (i == 0 ? 0 : times[i - 1]));
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].size_256 == 0) continue;
      const auto difference = static_cast<std::int64_t>(events[i].address - last) >> 8;
      last = events[i].address;
      out = put(out, static_cast<std::uint64_t>(difference << 1 ^ difference >> 63));
    }
    for (std::size_t i = 0; i < count; ++i)
      if (events[i].size_256 != 0) out = put(out, events[i].size_256);
    for (std::size_t i = 0; i < count; ++i)
      if (events[i].size_256 != 0) out = put(out, stacks[i]);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].size_256 != 0)
        add(events[i].address, events[i].row);
      else
        out = put(out, remove(events[i].address));
    }
    FloorBlock block;
    block.raw_bytes = static_cast<std::uint32_t>(out - raw_.data());
    block.events = static_cast<std::uint32_t>(count);
    block.bytes.resize(ZSTD_compressBound(block.raw_bytes));
    block.bytes.resize(
        ZSTD_compressCCtx(context_, block.bytes.data(), block.bytes.size(), raw_.data(), block.raw_bytes, 1));
    return block;
  }

 private:
  struct Slot {
    std::uint64_t address = ~std::uint64_t{0};
    std::uint32_t row = 0;
  };
  static std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 0x80);
    *out++ = static_cast<std::uint8_t>(value);
    return out;
  }
  std::size_t home(std::uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> shift_; }
  std::size_t mask() const { return table_.size() - 1; }
  void add(std::uint64_t address, std::uint32_t row) {
    std::size_t at = home(address);
    while (table_[at].address != ~std::uint64_t{0}) at = (at + 1) & mask();
    table_[at] = {address, row};
  }
  std::uint32_t remove(std::uint64_t address) {
    std::size_t hole = home(address);
    while (table_[hole].address != address) hole = (hole + 1) & mask();
    const std::uint32_t row = table_[hole].row;
    for (std::size_t at = (hole + 1) & mask(); table_[at].address != ~std::uint64_t{0}; at = (at + 1) & mask()) {
      if (((at - home(table_[at].address)) & mask()) < ((at - hole) & mask())) continue;
      table_[hole] = table_[at];
      hole = at;
    }
    table_[hole] = {};
    return row;
  }

  std::vector<Slot> table_;
  unsigned shift_;
  std::vector<std::uint8_t> raw_;
  ZSTD_CCtx* context_ = ZSTD_createCCtx();
};

class DecodingFloor {
 public:
  ~DecodingFloor() { ZSTD_freeDCtx(context_); }
  DecodingFloor() = default;
  DecodingFloor(const DecodingFloor&) = delete;
  DecodingFloor& operator=(const DecodingFloor&) = delete;

  // Calls visit(address, size in 256 bytes, time, stack, row). For a freed block the size is 0 and the row identifies
  // it.
  template <class Visit>
  void decode(const FloorBlock& block, const Visit& visit) {
    raw_.resize(block.raw_bytes);
    if (ZSTD_decompressDCtx(context_, raw_.data(), raw_.size(), block.bytes.data(), block.bytes.size()) != raw_.size())
      std::abort();
    const std::uint8_t* kinds = raw_.data();
    const std::uint8_t* at = kinds + block.events;
    std::size_t taken = 0;
    times_.resize(block.events);
    std::uint64_t time = 0;
    for (std::uint32_t i = 0; i < block.events; ++i) {
      times_[i] = time += get(at);
      taken += kinds[i];
    }
    addresses_.resize(taken);
    sizes_.resize(taken);
    stacks_.resize(taken);
    std::uint64_t address = 0;
    for (std::uint64_t& value : addresses_) {
      const std::uint64_t number = get(at);
      value = address += (number >> 1 ^ (0 - (number & 1))) << 8;
    }
    for (std::uint64_t& value : sizes_) value = get(at);
    for (std::uint64_t& value : stacks_) value = get(at);
    std::size_t row = 0;
    for (std::uint32_t i = 0; i < block.events; ++i) {
      if (kinds[i] != 0) {
        visit(addresses_[row], sizes_[row], times_[i], stacks_[row], std::uint64_t{0});
        ++row;
      } else {
        visit(std::uint64_t{0}, std::uint64_t{0}, times_[i], std::uint64_t{0}, get(at));
      }
    }
  }

 private:
  static std::uint64_t get(const std::uint8_t*& at) {
    std::uint64_t value = *at & 0x7f;
    for (unsigned shift = 7; *at++ >= 0x80; shift += 7) value |= static_cast<std::uint64_t>(*at & 0x7f) << shift;
    return value;
  }
  std::vector<std::uint8_t> raw_;
  std::vector<std::uint64_t> times_, addresses_, sizes_, stacks_;
  ZSTD_DCtx* context_ = ZSTD_createDCtx();
};

}  // namespace hbmscope::bench
