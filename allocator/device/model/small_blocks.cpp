#include "allocator/device/model/small_blocks.h"

#include <iterator>

#include "allocator/device/model/address_space.h"

namespace hbmscope::device {

Answer SmallBlocks::allocate(Ledger& ledger, Bytes bytes) {
  bytes = round_up(bytes, small_unit_bytes);
  for (auto& [begin, holes] : pages_)
    if (const auto offset = holes.take_first_fit(bytes)) return {Outcome::ok, begin + *offset};
  if (!ledger.take(granularity_bytes)) return {Outcome::out_of_memory, 0};
  const Address begin = reserve_addresses(granularity_bytes, granularity_bytes, Access::read_write);
  if (begin == 0) {
    ledger.give_back(granularity_bytes);
    return {Outcome::out_of_memory, 0};
  }
  pages_.emplace(begin, Holes(granularity_bytes)).first->second.take_first_fit(bytes);
  return {Outcome::ok, begin};
}

void SmallBlocks::free(Ledger& ledger, Address address, Bytes bytes) {
  const auto page = std::prev(pages_.upper_bound(address));
  page->second.put_back(address - page->first, round_up(bytes, small_unit_bytes));
  if (!page->second.nothing_is_taken()) return;
  release_addresses(page->first, granularity_bytes);
  pages_.erase(page);
  ledger.give_back(granularity_bytes);
}

}  // namespace hbmscope::device
