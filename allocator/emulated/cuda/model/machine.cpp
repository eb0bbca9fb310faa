#include "allocator/emulated/cuda/model/machine.h"

#include <algorithm>
#include <iterator>

#include "allocator/emulated/cuda/model/address_space.h"

namespace hbmscope::device {

Outcome GraphMemory::hold(Ledger& ledger, const void* executable, Bytes bytes) {
  if (bytes > reserved_ && !ledger.take(bytes - reserved_)) return Outcome::out_of_memory;
  reserved_ = std::max(reserved_, bytes);
  reserved_peak_ = std::max(reserved_peak_, reserved_);
  held_by_[executable] = bytes;
  used_peak_ = std::max(used_peak_, bytes);
  return Outcome::ok;
}

void GraphMemory::trim(Ledger& ledger) {
  const Bytes kept = used();
  ledger.give_back(reserved_ - kept);
  reserved_ = kept;
}

Bytes GraphMemory::used() const {
  Bytes largest = 0;
  for (const auto& [executable, bytes] : held_by_) largest = std::max(largest, bytes);
  return largest;
}

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

Machine::Machine(const Settings& settings)
    : granularity_(settings.granularity), virtual_memory_(settings.granularity), contents_(settings.host_bytes_max) {
  Accounts* accounts =
      settings.report_folder.empty() ? nullptr : Accounts::open(settings.report_folder + "/" + accounts_file_name);
  for (std::size_t i = 0; i < settings.visible_devices.size(); ++i)
    devices_.push_back(std::make_unique<Device>(static_cast<int>(i),
                                                Ledger(settings.total_bytes, accounts, settings.visible_devices[i]),
                                                settings.context_bytes, settings.granularity));
}

Answer Machine::allocate(int device, Bytes bytes, std::uint64_t context, Kind kind) {
  return noted(device, bytes, this->device(device).allocate(ranges_, bytes, context, kind));
}

Answer Machine::noted(int device, Bytes requested_bytes, Answer answer) {
  this->device(device).ledger().noted(requested_bytes, answer.outcome);
  return answer;
}

Answer Machine::allocate_host(int device, Bytes bytes, Kind kind, std::uint64_t context) {
  if (bytes == 0) return {Outcome::invalid, 0};
  const Address begin = reserve_addresses(bytes, granularity_, Access::read_write);
  if (begin == 0) return {Outcome::out_of_memory, 0};
  ranges_.add(begin, bytes, kind, device, context);
  return {Outcome::ok, begin};
}

Outcome Machine::register_host(int device, Address begin, Bytes bytes) {
  if (bytes == 0 || ranges_.find(begin)) return Outcome::invalid;
  ranges_.add(begin, bytes, Kind::registered, device);
  return Outcome::ok;
}

Outcome Machine::unregister_host(Address begin) {
  const auto range = ranges_.find_beginning(begin);
  if (!range || range->kind != Kind::registered) return Outcome::invalid;
  ranges_.remove(begin);
  return Outcome::ok;
}

Outcome Machine::free(Address begin) {
  const auto range = ranges_.find_beginning(begin);
  if (!range) return Outcome::invalid;
  if (is_device_memory(range->kind) && range->kind != Kind::mapped) contents_.forget(begin, range->bytes);
  switch (range->kind) {
    case Kind::device:
    case Kind::array: device(range->device).free(ranges_, *range); break;
    case Kind::pooled: {
      Pool* pool = find_pool(range->owner);
      if (pool == nullptr) return Outcome::invalid;
      pool->free(ranges_, *range);
      break;
    }
    case Kind::imported:
    case Kind::managed:
    case Kind::host:
      ranges_.remove(begin);
      release_addresses(begin, range->bytes);
      break;
    case Kind::mapped:
    case Kind::registered: return Outcome::invalid;
  }
  return Outcome::ok;
}

void Machine::free_all_of(std::uint64_t context) {
  for (auto range = ranges_.find_next(0); range; range = ranges_.find_next(range->begin + 1))
    if (range->kind != Kind::pooled && range->kind != Kind::mapped && range->owner == context) free(range->begin);
}

Answer Machine::create_physical(int device, Bytes bytes) {
  if (device < 0) return virtual_memory_.create(nullptr, device, bytes);
  return noted(device, bytes, virtual_memory_.create(&this->device(device).ledger(), device, bytes));
}

void Machine::give_back(const VirtualMemory::Gone& gone) {
  if (gone.bytes != 0 && gone.device >= 0) device(gone.device).ledger().give_back(gone.bytes);
}

Outcome Machine::release_physical(std::uint64_t id) {
  const auto gone = virtual_memory_.release(id);
  give_back(gone);
  return gone.outcome;
}

Outcome Machine::unmap(Address begin, Bytes bytes) {
  bool found_any = false;
  for (auto range = ranges_.find_next(begin); range && range->begin < begin + bytes;
       range = ranges_.find_next(range->begin + 1)) {
    if (range->kind != Kind::mapped) continue;
    found_any = true;
    contents_.forget(range->begin, range->bytes);
    give_back(virtual_memory_.unmap(ranges_, *range));
  }
  return found_any ? Outcome::ok : Outcome::invalid;
}

Outcome Machine::set_access(Address begin, Bytes bytes) {
  if (!virtual_memory_.is_reserved(begin, bytes)) return Outcome::invalid;
  device::set_access(begin, bytes, Access::read_write);
  return Outcome::ok;
}

Pool& Machine::create_pool(int device, Bytes bytes_max) {
  const std::uint64_t id = ++pool_ids_;
  return pools_.emplace(id, Pool(id, device, bytes_max, granularity_)).first->second;
}

Pool* Machine::find_pool(std::uint64_t id) {
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : &found->second;
}

Pool& Machine::default_pool(int device) {
  auto& id = default_pools_[device];
  if (id == 0) id = create_pool(device, 0).id();
  return pools_.at(id);
}

Pool& Machine::current_pool(int device) {
  const auto current = current_pools_.find(device);
  Pool* pool = current == current_pools_.end() ? nullptr : find_pool(current->second);
  return pool != nullptr ? *pool : default_pool(device);
}

Outcome Machine::destroy_pool(std::uint64_t id) {
  Pool* pool = find_pool(id);
  if (pool == nullptr || &default_pool(pool->device()) == pool) return Outcome::invalid;
  trim_pool(*pool, 0);
  pool->set_release_threshold(0);
  if (pool->bytes().reserved == 0) pools_.erase(id);
  return Outcome::ok;
}

Answer Machine::allocate_from_pool(Pool& pool, Bytes bytes) {
  return noted(pool.device(), bytes, pool.allocate(device(pool.device()).ledger(), ranges_, bytes));
}

void Machine::has_synchronized() {
  for (auto& [id, pool] : pools_) pool.trim_to_threshold(device(pool.device()).ledger());
}

namespace {

std::mutex machine_mutex;

// The lock is held. The machine is made at the first call, when the settings are known.
Machine& machine_of_process() {
  static Machine* one = new Machine(settings());  // Never destroyed: other threads outlive main.
  return *one;
}

}  // namespace

LockedMachine::LockedMachine() : lock_(machine_mutex), machine_(machine_of_process()) {}

}  // namespace hbmscope::device
