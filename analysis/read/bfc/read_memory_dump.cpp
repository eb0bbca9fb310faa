#include "analysis/read/bfc/read_memory_dump.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/read/decompress.h"
#include "analysis/read/file_groups.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::bfc {
namespace {

constexpr std::size_t time_digits = 16;  // From 2001 to 2286.

std::string_view prefix_of(std::string_view name) {
  name = without_compressed_endings(name);
  return name.substr(0, name.size() - time_digits);
}

// In chunks that both dumps have.
std::uint64_t shared_bytes(const Dump& a, const Dump& b) {
  std::unordered_map<std::uint64_t, std::uint64_t> sizes;
  for (const Region& region : a.regions)
    for (const Chunk& chunk : region.chunks)
      if (chunk.is_in_use) sizes.emplace(chunk.address, chunk.size);
  std::uint64_t shared = 0;
  for (const Region& region : b.regions)
    for (const Chunk& chunk : region.chunks)
      if (const auto found = sizes.find(chunk.address);
          chunk.is_in_use && found != sizes.end() && found->second == chunk.size)
        shared += chunk.size;
  return shared;
}

std::uint64_t bytes_in_use(const Dump& dump) {
  std::uint64_t bytes = 0;
  for (const Region& region : dump.regions)
    for (const Chunk& chunk : region.chunks) bytes += chunk.is_in_use ? chunk.size : 0;
  return bytes;
}

bool can_follow(const NamedDump& before, const NamedDump& after) {
  const Dump &a = *before.dump, &b = *after.dump;
  return a.allocator == b.allocator && prefix_of(before.name) == prefix_of(after.name) &&
         a.allocations.value_or(0) <= b.allocations.value_or(a.allocations.value_or(0)) &&
         shared_bytes(a, b) >= std::max(bytes_in_use(a), bytes_in_use(b)) / 2;
}

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

std::optional<std::int64_t> time_us_of_dump(std::string_view name) {
  name = without_compressed_endings(name);
  const std::string_view digits = name.substr(name.rfind('.') + 1);  // npos + 1 is 0.
  std::int64_t time_us = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), time_us);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  return is_whole && digits.size() == time_digits && digits.size() < name.size() && digits[0] != '-'
             ? std::optional(time_us)
             : std::nullopt;
}

std::vector<std::vector<std::size_t>> find_attempts(std::span<const NamedDump> dumps) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_time;
  std::vector<std::vector<std::size_t>> failures;
  for (std::size_t i = 0; i < dumps.size(); ++i)
    if (const auto time_us = time_us_of_dump(dumps[i].name))
      by_time.emplace_back(*time_us, i);
    else
      failures.emplace_back(1, i);
  std::stable_sort(by_time.begin(), by_time.end());
  for (const auto& [time_us, i] : by_time) {
    const auto found =
        std::find_if(failures.begin(), failures.end(), [&, time_us = time_us, i = i](const auto& attempts) {
          const auto first_us = time_us_of_dump(dumps[attempts.front()].name);
          return first_us && time_us - *first_us <= attempts_us_max && can_follow(dumps[attempts.back()], dumps[i]);
        });
    found != failures.end() ? found->push_back(i) : failures.emplace_back().push_back(i);
  }
  sort_by_first_file(failures);
  return failures;
}

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
