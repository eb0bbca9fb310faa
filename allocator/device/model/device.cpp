#include "allocator/device/model/device.h"

#include "allocator/device/model/address_space.h"

namespace hbmscope::device {

Outcome Device::open_context() {
  if (!ledger_.take(context_bytes_)) return ledger_.noted(context_bytes_, Outcome::out_of_memory);
  ++contexts_;
  return Outcome::ok;
}

void Device::close_context() {
  if (contexts_ == 0) return;
  --contexts_;
  ledger_.give_back(context_bytes_);
}

Answer Device::allocate(Ranges& ranges, Bytes bytes, std::uint64_t context, Kind kind) {
  if (bytes == 0) return {Outcome::invalid, 0};
  Answer answer;
  if (small_.is_small(bytes)) {
    answer = small_.allocate(ledger_, bytes);
  } else {
    if (bytes > ledger_.total_bytes()) return {Outcome::out_of_memory, 0};  // Rounding up must not overflow.
    const Bytes taken = round_up(bytes, granularity_);
    if (!ledger_.take(taken)) return {Outcome::out_of_memory, 0};
    answer.address = reserve_addresses(taken, granularity_, Access::read_write);
    if (answer.address == 0) {
      ledger_.give_back(taken);
      return {Outcome::out_of_memory, 0};
    }
  }
  if (answer.outcome == Outcome::ok) ranges.add(answer.address, bytes, kind, ordinal_, context);
  return answer;
}

void Device::free(Ranges& ranges, const Range& range) {
  ranges.remove(range.begin);
  if (small_.is_small(range.bytes)) {
    small_.free(ledger_, range.begin, range.bytes);
    return;
  }
  const Bytes taken = round_up(range.bytes, granularity_);
  release_addresses(range.begin, taken);
  ledger_.give_back(taken);
}

}  // namespace hbmscope::device
