#include "allocator/reference/xla_gpu/memory_dump.h"

#include <bit>
#include <cmath>

namespace hbmscope::allocator {
namespace {

// A protocol buffers message. Fields of value 0 are omitted, as in proto3.
class Message {
 public:
  void add_number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    add_varint(field << 3);
    add_varint(value);
  }
  void add_bytes(unsigned field, const std::string& bytes) {
    add_varint(field << 3 | 2);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  void add_float(unsigned field, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (bits == 0) return;
    add_varint(field << 3 | 5);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

std::string bin_summary(unsigned bin, const xla_gpu::BinTotals& totals) {
  Message message;
  message.add_number(1, bin);
  message.add_number(2, totals.bytes_in_use);
  message.add_number(3, totals.bytes);
  message.add_number(4, totals.chunks_in_use);
  message.add_number(5, totals.chunks);
  return message.bytes();
}

std::string mem_chunk(const xla_gpu::Chunk& chunk, int bin) {
  Message message;
  message.add_number(1, chunk.address);
  message.add_number(2, chunk.bytes);
  message.add_number(3, chunk.requested_bytes);
  message.add_number(4, static_cast<std::uint64_t>(std::int64_t{bin}));
  message.add_number(8, chunk.in_use ? 1 : 0);
  return message.bytes();
}

std::string allocator_stats(const Statistics& statistics) {
  Message message;
  message.add_number(1, statistics.allocations);
  message.add_number(2, statistics.in_use_bytes);
  message.add_number(3, statistics.peak_in_use_bytes);
  message.add_number(4, statistics.largest_allocation_bytes);
  const auto fragmentation = static_cast<float>(fragmentation_of(statistics));
  // On the machines that XLA runs on, 0 / 0 is a NaN with its sign bit set.
  message.add_float(5, std::isnan(fragmentation) ? std::bit_cast<float>(0xffc00000U) : fragmentation);
  return message.bytes();
}

}  // namespace

std::string memory_dump(const xla_gpu::Bfc& allocator, const std::string& allocator_name) {
  Message dump;
  dump.add_bytes(1, allocator_name);
  const auto totals = allocator.bin_totals();
  for (unsigned bin = 0; bin < xla_gpu::bin_count; ++bin) dump.add_bytes(2, bin_summary(bin, totals[bin]));
  allocator.for_each_chunk([&](xla_gpu::ChunkIndex index, const xla_gpu::Chunk& chunk) {
    dump.add_bytes(3, mem_chunk(chunk, allocator.bin_number_of(index)));
  });
  dump.add_bytes(5, allocator_stats(allocator.statistics()));
  return dump.bytes();
}

}  // namespace hbmscope::allocator
