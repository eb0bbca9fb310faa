// The emulated machine: its devices, and all memory that this process has on them. Requests that do not fit change
// nothing, and memory_info agrees with every answer before it. Not thread-safe: the driver takes the lock below.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "allocator/device/model/contents.h"
#include "allocator/device/model/device.h"
#include "allocator/device/model/graph_memory.h"
#include "allocator/device/model/pool.h"
#include "allocator/device/model/settings.h"
#include "allocator/device/model/virtual_memory.h"

namespace hbmscope::device {

class Machine {
 public:
  explicit Machine(const Settings& settings);

  int device_count() const { return static_cast<int>(devices_.size()); }
  // 0 <= ordinal < device_count().
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }

  // `context` is a number that the caller gives to a context, for free_all_of; 0: the memory belongs to none.
  Answer allocate(int device, Bytes bytes, std::uint64_t context = 0, Kind kind = Kind::device);
  // Memory of the host: it never counts as a device's. `device` is the one that is current.
  Answer allocate_host(int device, Bytes bytes, Kind kind, std::uint64_t context = 0);
  Outcome register_host(int device, Address begin, Bytes bytes);
  Outcome unregister_host(Address begin);
  // Of any kind but mapped; `begin` as it was handed out.
  Outcome free(Address begin);
  // The context has ended, and with it the memory that was allocated in it: not pools, nor physical memory.
  void free_all_of(std::uint64_t context);

  Answer reserve(Bytes bytes, Bytes alignment) { return virtual_memory_.reserve(bytes, alignment); }
  Outcome release_reservation(Address begin, Bytes bytes) { return virtual_memory_.release_reservation(begin, bytes); }
  // `device` -1: on the host.
  Answer create_physical(int device, Bytes bytes);
  // Physical memory of another process, which counts for that one alone.
  Answer import_physical(Bytes bytes) { return virtual_memory_.create(nullptr, -1, bytes); }
  Outcome retain_physical(std::uint64_t id) { return virtual_memory_.retain(id); }
  Outcome release_physical(std::uint64_t id);
  const Physical* find_physical(std::uint64_t id) const { return virtual_memory_.find(id); }
  Outcome map(Address begin, Bytes bytes, std::uint64_t id) { return virtual_memory_.map(ranges_, begin, bytes, id); }
  // Unmaps every mapping that lies in the range.
  Outcome unmap(Address begin, Bytes bytes);
  Outcome set_access(Address begin, Bytes bytes);

  // Pools live until they are destroyed and their last block is freed; a device's default pool lives for ever.
  Pool& create_pool(int device, Bytes bytes_max);
  Pool* find_pool(std::uint64_t id);
  Pool& default_pool(int device);
  Pool& current_pool(int device);
  void set_current_pool(int device, std::uint64_t id) { current_pools_[device] = id; }
  Outcome destroy_pool(std::uint64_t id);
  Answer allocate_from_pool(Pool& pool, Bytes bytes);
  void trim_pool(Pool& pool, Bytes kept_bytes) { pool.trim(device(pool.device()).ledger(), kept_bytes); }
  // The program has waited for work: pools return what lies above their threshold.
  void has_synchronized();

  GraphMemory& graph_memory(int device) { return graph_memory_[device]; }
  Bytes granularity() const { return granularity_; }

  // Memory that another process owns: addresses of that size, which count for no device here.
  Answer open_import(int device, Bytes bytes) { return allocate_host(device, bytes, Kind::imported); }

  std::optional<Range> find(Address address) const { return ranges_.find(address); }
  Contents& contents() { return contents_; }

 private:
  Answer noted(int device, Bytes requested_bytes, Answer answer);
  void give_back(const VirtualMemory::Gone& gone);

  Bytes granularity_;
  std::vector<std::unique_ptr<Device>> devices_;
  Ranges ranges_;
  VirtualMemory virtual_memory_;
  Contents contents_;
  std::map<int, GraphMemory> graph_memory_;
  std::map<std::uint64_t, Pool> pools_;
  std::map<int, std::uint64_t> default_pools_, current_pools_;
  std::uint64_t pool_ids_ = 0;
};

// The machine of this process, locked while the object lives.
class LockedMachine {
 public:
  LockedMachine();
  Machine* operator->() const { return &machine_; }
  Machine& operator*() const { return machine_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Machine& machine_;
};

}  // namespace hbmscope::device
