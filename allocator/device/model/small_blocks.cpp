#include "allocator/device/model/small_blocks.h"

#include <iterator>

#include "allocator/device/model/address_space.h"

namespace hbmscope::device {

Answer SmallBlocks::allocate(Ledger& ledger, Bytes bytes) {
  bytes = round_up(bytes, small_unit_bytes);
  for (auto& [begin, holes] : pages_)
    if (const auto offset = holes.take_first_fit(bytes)) return {Outcome::ok, begin + *offset};
  if (!ledger.take(page_bytes_)) return {Outcome::out_of_memory, 0};
  const Address begin = reserve_addresses(page_bytes_, page_bytes_, Access::read_write);
  if (begin == 0) {
    ledger.give_back(page_bytes_);
    return {Outcome::out_of_memory, 0};
  }
  pages_.emplace(begin, Holes(page_bytes_)).first->second.take_first_fit(bytes);
  return {Outcome::ok, begin};
}

void SmallBlocks::free(Ledger& ledger, Address address, Bytes bytes) {
  const auto page = std::prev(pages_.upper_bound(address));
  page->second.put_back(address - page->first, round_up(bytes, small_unit_bytes));
  if (!page->second.nothing_is_taken()) return;
  release_addresses(page->first, page_bytes_);
  pages_.erase(page);
  ledger.give_back(page_bytes_);
}

}  // namespace hbmscope::device
