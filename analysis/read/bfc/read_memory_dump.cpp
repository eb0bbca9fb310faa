#include "analysis/read/bfc/read_memory_dump.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::bfc {
namespace {

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::varint_key;
using protobuf::WireCursor;
using protobuf::WireField;
using protobuf::WireProblem;

std::string_view text_of(ByteRange bytes) {
  return {reinterpret_cast<const char*>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin)};
}

class DumpReader {
 public:
  bool read(ByteRange bytes) {
    WireField field;
    WireCursor cursor(bytes);
    while (cursor.next_field(field)) {
      bool is_good = true;
      switch (field.key) {
        case bytes_key(1): dump_.allocator = text_of(field.bytes); break;
        case bytes_key(2): is_good = read_bin(field.bytes); break;
        case bytes_key(3): is_good = read_chunk(field.bytes); break;
        case bytes_key(5): is_good = read_statistics(field.bytes); break;
        default: break;
      }
      if (!is_good) return fail(field.bytes.begin);
    }
    return cursor.problem() == WireProblem::none || fail(nullptr);
  }

  const std::uint8_t* failed_at() const { return failed_at_; }

  Dump take() {
    std::stable_sort(chunks_.begin(), chunks_.end(),
                     [](const Chunk& a, const Chunk& b) { return a.address < b.address; });
    for (const Chunk& chunk : chunks_) {
      const Chunk* before = dump_.regions.empty() ? nullptr : &dump_.regions.back().chunks.back();
      if (before == nullptr || before->address + before->size != chunk.address) dump_.regions.emplace_back();
      dump_.regions.back().chunks.push_back(chunk);
    }
    dump_.has_list_end = dump_.is_finished = true;
    return std::move(dump_);
  }

 private:
  bool fail(const std::uint8_t* at) {
    failed_at_ = at;
    return false;
  }

  static bool read_numbers(ByteRange bytes, std::initializer_list<std::uint64_t*> fields) {
    WireField field;
    WireCursor cursor(bytes);
    while (cursor.next_field(field)) {
      const std::uint32_t number = field.key >> 3;
      if (field.key == varint_key(number) && number <= fields.size()) *fields.begin()[number - 1] = field.varint;
    }
    return cursor.problem() == WireProblem::none;
  }

  bool read_bin(ByteRange bytes) {
    std::uint64_t bin = 0, in_use = 0, all = 0, chunks_in_use = 0, chunks = 0;
    if (!read_numbers(bytes, {&bin, &in_use, &all, &chunks_in_use, &chunks})) return false;
    Bin& row = dump_.bins.emplace_back();
    row.size = bin < 48 ? std::uint64_t{256} << bin : 0;
    row.chunks = chunks;
    row.chunks_in_use = chunks_in_use;
    row.bytes = PrintedBytes{all, 0};
    row.in_use = PrintedBytes{in_use, 0};
    return true;
  }

  bool read_chunk(ByteRange bytes) {
    Chunk chunk;
    std::uint64_t requested = 0;
    std::string_view op;
    WireField field;
    WireCursor cursor(bytes);
    while (cursor.next_field(field)) {
      switch (field.key) {
        case varint_key(1): chunk.address = field.varint; break;
        case varint_key(2): chunk.size = field.varint; break;
        case varint_key(3): requested = field.varint; break;
        case bytes_key(5): op = text_of(field.bytes); break;
        case varint_key(8): chunk.is_in_use = field.varint != 0; break;
        default: break;
      }
    }
    if (cursor.problem() != WireProblem::none) return false;
    if (chunk.is_in_use) chunk.requested = requested;  // That of a free chunk is of its last use.
    chunk.op = op_number(op);
    chunks_.push_back(chunk);
    return true;
  }

  bool read_statistics(ByteRange bytes) {
    std::uint64_t allocations = 0, in_use = 0, peak = 0, largest = 0;
    if (!read_numbers(bytes, {&allocations, &in_use, &peak, &largest})) return false;
    dump_.allocations = allocations;
    dump_.in_use = PrintedBytes{in_use, 0};
    dump_.peak_in_use = PrintedBytes{peak, 0};
    dump_.largest_allocation = PrintedBytes{largest, 0};
    return true;
  }

  std::uint32_t op_number(std::string_view op) {
    if (op.empty()) return 0;
    const auto [found, is_new] = ops_.try_emplace(std::string(op), static_cast<std::uint32_t>(dump_.ops.size()));
    if (is_new) dump_.ops.emplace_back(op);
    return found->second;
  }

  Dump dump_;
  std::vector<Chunk> chunks_;
  std::unordered_map<std::string, std::uint32_t> ops_;
  const std::uint8_t* failed_at_ = nullptr;
};

}  // namespace

bool looks_like_memory_dump(std::span<const std::uint8_t> bytes) {
  // Field 1, a name of printable characters; then field 2 (a bin) or 3 (a chunk), whose first field is a number.
  if (bytes.size() < 6 || bytes[0] != bytes_key(1)) return false;
  const std::size_t length = bytes[1], next = 2 + length;
  if (length == 0 || length >= 128 || next + 3 > bytes.size()) return false;
  const auto is_name = [](std::uint8_t byte) { return byte > ' ' && byte <= '~'; };
  if (!std::all_of(bytes.begin() + 2, bytes.begin() + static_cast<std::ptrdiff_t>(next), is_name)) return false;
  const bool is_bin = bytes[next] == bytes_key(2), is_chunk = bytes[next] == bytes_key(3);
  if (!is_bin && !is_chunk) return false;
  if (is_bin && bytes[next + 1] == 0) return true;  // The bin of the smallest chunks, if it has none.
  const std::uint8_t inner = bytes[next + 2];
  return (inner & 7) == 0 && inner >> 3 >= 1 && inner >> 3 <= 9;
}

Result<Dump> read_memory_dump(std::span<const std::uint8_t> bytes, const std::string& name) {
  DumpReader reader;
  if (!reader.read({bytes.data(), bytes.data() + bytes.size()})) {
    const auto at =
        reader.failed_at() != nullptr ? static_cast<std::uint64_t>(reader.failed_at() - bytes.data()) : bytes.size();
    return Failure(Error{"the memory dump of a BFC allocator is damaged here",
                         "It was cut off while it was written or copied; XLA writes one file per attempt, so there may "
                         "be another of the same failure.",
                         name, at, false});
  }
  return reader.take();
}

}  // namespace hbmscope::bfc
