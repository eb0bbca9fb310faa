#include "allocator/emulated/cuda/model/virtual_memory.h"

#include <algorithm>
#include <iterator>

#include "allocator/emulated/cuda/model/address_space.h"

namespace hbmscope::device {

Answer VirtualMemory::reserve(Bytes bytes, Bytes alignment) {
  if (bytes == 0 || bytes % granularity_ != 0) return {Outcome::invalid, 0};
  const Address begin = reserve_addresses(bytes, std::max(alignment, granularity_), Access::none);
  if (begin == 0) return {Outcome::out_of_memory, 0};
  reservations_[begin] = bytes;
  return {Outcome::ok, begin};
}

Outcome VirtualMemory::release_reservation(Address begin, Bytes bytes) {
  const auto found = reservations_.find(begin);
  if (found == reservations_.end() || found->second != bytes) return Outcome::invalid;
  release_addresses(begin, bytes);
  reservations_.erase(found);
  return Outcome::ok;
}

bool VirtualMemory::is_reserved(Address begin, Bytes bytes) const {
  auto next = reservations_.upper_bound(begin);
  if (next == reservations_.begin()) return false;
  const auto& [reserved, size] = *std::prev(next);
  return begin - reserved < size && bytes <= size - (begin - reserved);
}

Answer VirtualMemory::create(Ledger* ledger, int device, Bytes bytes) {
  if (bytes == 0 || bytes % granularity_ != 0) return {Outcome::invalid, 0};
  if (ledger != nullptr && !ledger->take(bytes)) return {Outcome::out_of_memory, 0};
  physical_[++ids_] = Physical{bytes, device};
  return {Outcome::ok, ids_};
}

const Physical* VirtualMemory::find(std::uint64_t id) const {
  const auto found = physical_.find(id);
  return found == physical_.end() ? nullptr : &found->second;
}

Outcome VirtualMemory::retain(std::uint64_t id) {
  const auto found = physical_.find(id);
  if (found == physical_.end()) return Outcome::invalid;
  ++found->second.owners;
  return Outcome::ok;
}

VirtualMemory::Gone VirtualMemory::let_go(std::map<std::uint64_t, Physical>::iterator physical) {
  const Physical copy = physical->second;
  if (copy.owners > 0 || copy.mappings > 0) return {Outcome::ok, 0, -1};
  physical_.erase(physical);
  return {Outcome::ok, copy.bytes, copy.device};
}

VirtualMemory::Gone VirtualMemory::release(std::uint64_t id) {
  const auto found = physical_.find(id);
  if (found == physical_.end() || found->second.owners == 0) return {};
  --found->second.owners;
  return let_go(found);
}

Outcome VirtualMemory::map(Ranges& ranges, Address begin, Bytes bytes, std::uint64_t id) {
  const auto found = physical_.find(id);
  if (found == physical_.end() || bytes == 0 || bytes > found->second.bytes || !is_reserved(begin, bytes))
    return Outcome::invalid;
  if (ranges.find(begin)) return Outcome::invalid;
  if (const auto next = ranges.find_next(begin); next && next->begin < begin + bytes) return Outcome::invalid;
  ++found->second.mappings;
  ranges.add(begin, bytes, Kind::mapped, std::max(found->second.device, 0), id);
  return Outcome::ok;
}

VirtualMemory::Gone VirtualMemory::unmap(Ranges& ranges, const Range& mapped) {
  const auto found = physical_.find(mapped.owner);
  ranges.remove(mapped.begin);
  discard_contents_and_access(mapped.begin, mapped.bytes);
  if (found == physical_.end()) return {};
  --found->second.mappings;
  return let_go(found);
}

}  // namespace hbmscope::device
