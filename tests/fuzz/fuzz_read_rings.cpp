// Any bytes as the memory that a job shares with its observer: whatever they contain, draining terminates, and the
// result is a stream that a reader accepts.
//
// The first byte selects a valid header (as the collector writes it, with small sizes) or one from the input. Then
// follow the ends of the filled parts, then the contents of definitions, listing and rings.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/serve/process_drain.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

constexpr std::uint64_t area_bytes = 4096;  // For each of definitions, listing, and the bytes of a ring.
constexpr std::uint64_t rings = 2, rings_offset = 3 * area_bytes;
constexpr std::uint64_t size_of_all = rings_offset + rings * wire::ring_stride(area_bytes);

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  void take(void* to, std::size_t count) {
    const std::size_t some = std::min(count, size_);
    if (some > 0) std::memcpy(to, data_, some);
    data_ += some;
    size_ -= some;
  }
  std::uint64_t number() {
    std::uint16_t number = 0;
    take(&number, sizeof(number));
    return number;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

std::vector<std::uint8_t> memory_from(Bytes bytes) {
  std::vector<std::uint8_t> memory(size_of_all);
  wire::RingsHeader header;
  header.rings = rings;
  header.ring_bytes = area_bytes;
  header.definitions_offset = area_bytes;
  header.definitions_bytes = area_bytes;
  header.listing_offset = 2 * area_bytes;
  header.listing_bytes = area_bytes;
  header.rings_offset = rings_offset;
  std::uint8_t kind = 0;
  bytes.take(&kind, 1);
  header.ticks_are_ns = kind & 1;
  header.definitions_end = bytes.number();
  header.listing_end = bytes.number();
  if ((kind & 2) != 0) bytes.take(&header, sizeof(header));
  std::memcpy(memory.data(), &header, sizeof(header));
  for (std::uint64_t i = 0; i < rings; ++i) {
    wire::RingHeader ring;
    ring.head = bytes.number();
    ring.lost = bytes.number();
    std::memcpy(memory.data() + rings_offset + i * wire::ring_stride(area_bytes), &ring, sizeof(ring));
  }
  // Evenly, so that a short input reaches all of them.
  std::uint8_t* areas[] = {memory.data() + area_bytes, memory.data() + 2 * area_bytes,
                           memory.data() + rings_offset + sizeof(wire::RingHeader),
                           memory.data() + rings_offset + wire::ring_stride(area_bytes) + sizeof(wire::RingHeader)};
  for (std::uint64_t at = 0; at < area_bytes; at += 256)
    for (std::uint8_t* area : areas) bytes.take(area + at, 256);
  return memory;
}

}  // namespace

FUZZ_TARGET(fuzz_read_rings, data, size) {
  const std::vector<std::uint8_t> bytes = memory_from(Bytes(data, size));
  const int file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
              fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0,
          "the memory was not made");
  std::string wrong;
  auto memory = serve::RingMemory::map(file, wrong);
  if (!memory) return 0;
  Stream stream;
  serve::ProcessDrain drain(std::move(memory), 0, [&](const wire::SharedBlock& block) {
    const auto refused = stream.append(block);
    require(!refused, "a block of the drain is refused: " + refused.value_or(""));
  });
  drain.drain(false);
  drain.drain(true);
  return 0;
}
