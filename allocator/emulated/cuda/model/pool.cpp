#include "allocator/emulated/cuda/model/pool.h"

#include <algorithm>
#include <iterator>

#include "allocator/emulated/cuda/model/address_space.h"

namespace hbmscope::device {
namespace {

constexpr Bytes block_unit_bytes = 512;
constexpr Bytes growth_units = 16;

}  // namespace

Bytes Pool::rounded(Bytes bytes) const {
  return round_up(bytes, std::min(block_unit_bytes, granularity_));
}

std::map<Address, Holes>::iterator Pool::find_chunk(Bytes bytes) {
  auto best = chunks_.end();
  Bytes best_size = 0;
  for (auto chunk = chunks_.begin(); chunk != chunks_.end(); ++chunk) {
    const auto size = chunk->second.find_best_fit(bytes);
    if (!size || (best != chunks_.end() && *size >= best_size)) continue;
    best = chunk;
    best_size = *size;
  }
  return best;
}

bool Pool::grow(Ledger& ledger, Bytes bytes) {
  if (bytes > ledger.total_bytes() || (bytes_max_ != 0 && bytes_.reserved + bytes > bytes_max_)) return false;
  if (!ledger.take(bytes)) return false;
  const Address begin = reserve_addresses(bytes, granularity_, Access::read_write);
  if (begin == 0) {
    ledger.give_back(bytes);
    return false;
  }
  chunks_.emplace(begin, Holes(bytes));
  bytes_.reserved += bytes;
  bytes_.reserved_peak = std::max(bytes_.reserved_peak, bytes_.reserved);
  return true;
}

Answer Pool::allocate(Ledger& ledger, Ranges& ranges, Bytes bytes) {
  if (bytes == 0) return {Outcome::invalid, 0};
  if (bytes > ledger.total_bytes()) return {Outcome::out_of_memory, 0};
  const Bytes size = rounded(bytes);
  auto chunk = find_chunk(size);
  if (chunk == chunks_.end()) {
    const bool has_grown = grow(ledger, round_up(size, growth_units * granularity_)) ||
                           grow(ledger, round_up(size, granularity_)) ||
                           (trim(ledger, 0), grow(ledger, round_up(size, granularity_)));
    if (!has_grown) return {Outcome::out_of_memory, 0};
    chunk = find_chunk(size);
  }
  const Address address = chunk->first + *chunk->second.take_best_fit(size);
  bytes_.used += size;
  bytes_.used_peak = std::max(bytes_.used_peak, bytes_.used);
  ranges.add(address, bytes, Kind::pooled, device_, id_);
  return {Outcome::ok, address};
}

void Pool::free(Ranges& ranges, const Range& range) {
  const Bytes size = rounded(range.bytes);
  const auto chunk = std::prev(chunks_.upper_bound(range.begin));
  chunk->second.put_back(range.begin - chunk->first, size);
  bytes_.used -= size;
  ranges.remove(range.begin);
}

void Pool::trim(Ledger& ledger, Bytes kept_bytes) {
  for (auto chunk = chunks_.begin(); chunk != chunks_.end() && bytes_.reserved > kept_bytes;) {
    if (!chunk->second.nothing_is_taken()) {
      ++chunk;
      continue;
    }
    const Bytes size = chunk->second.size();
    release_addresses(chunk->first, size);
    ledger.give_back(size);
    bytes_.reserved -= size;
    chunk = chunks_.erase(chunk);
  }
}

}  // namespace hbmscope::device
