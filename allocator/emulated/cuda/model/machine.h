// The emulated machine: its devices, and all memory that this process has on them. Requests that do not fit change
// nothing, and memory_info agrees with every answer before it. Not thread-safe: the driver takes the lock below.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "allocator/emulated/cuda/model/contents.h"
#include "allocator/emulated/cuda/model/holes.h"
#include "allocator/emulated/cuda/model/ledger.h"
#include "allocator/emulated/cuda/model/pool.h"
#include "allocator/emulated/cuda/model/ranges.h"
#include "allocator/emulated/cuda/model/settings.h"
#include "allocator/emulated/cuda/model/virtual_memory.h"

namespace hbmscope::device {

// Memory of the allocation nodes of all graphs of one device. Documented: graphs that don't run at the same time share
// physical memory; it is taken when a graph is uploaded or launched, stays with the device afterwards, and is returned
// by cuDeviceGraphMemTrim. Here work runs at once, so the largest graph decides: one of 3 MiB and one of 5 MiB take 5
// MiB.
class GraphMemory {
 public:
  // `executable` identifies a graph that is uploaded or launched and needs that many bytes at its peak.
  [[nodiscard]] Outcome hold(Ledger& ledger, const void* executable, Bytes bytes);
  // The executable graph has been destroyed: what it held can be trimmed.
  void forget(const void* executable) { held_by_.erase(executable); }
  // Returns what no executable graph needs.
  void trim(Ledger& ledger);

  Bytes reserved() const { return reserved_; }
  Bytes reserved_peak() const { return reserved_peak_; }
  Bytes used() const;  // By executable graphs that were uploaded or launched.
  Bytes used_peak() const { return used_peak_; }
  void reset_reserved_peak() { reserved_peak_ = reserved_; }
  void reset_used_peak() { used_peak_ = used(); }

 private:
  std::map<const void*, Bytes> held_by_;
  Bytes reserved_ = 0, reserved_peak_ = 0, used_peak_ = 0;
};

// Small requests share pages of 2 MiB: two requests for 512 B take 2 MiB of a device, not 4 MiB. Assumed, because the
// driver's rules are not public: requests of less than half a page share, they are rounded up to 512 B, the lowest
// place that is large enough is used, and an empty page is freed at once. Pages are as large as the granularity;
// if that is 1 KiB or less, nothing shares.
inline constexpr Bytes small_unit_bytes = 512;

class SmallBlocks {
 public:
  explicit SmallBlocks(Bytes page_bytes) : page_bytes_(page_bytes) {}

  bool is_small(Bytes bytes) const { return page_bytes_ / 2 > small_unit_bytes && bytes < page_bytes_ / 2; }
  // `bytes` is small and not 0. A new page is taken from the ledger.
  Answer allocate(Ledger& ledger, Bytes bytes);
  // `bytes` as in the request.
  void free(Ledger& ledger, Address address, Bytes bytes);

 private:
  Bytes page_bytes_;
  std::map<Address, Holes> pages_;
};

// One device: its memory as a number, and the blocks of cuMemAlloc in it.
class Device {
 public:
  Device(int ordinal, Ledger ledger, Bytes context_bytes, Bytes granularity = granularity_bytes)
      : ordinal_(ordinal),
        context_bytes_(context_bytes),
        granularity_(granularity),
        ledger_(ledger),
        small_(granularity) {}

  // A context needs memory for itself: the heap of printf and malloc, code, page tables. Each of a device's contexts
  // takes as much as the first.
  Outcome open_context();
  void close_context();
  int contexts() const { return contexts_; }
  Bytes context_bytes() const { return context_bytes_; }

  // Small requests share pages (SmallBlocks), others are rounded up to the granularity. `kind` is device or array.
  Answer allocate(Ranges& ranges, Bytes bytes, std::uint64_t context, Kind kind = Kind::device);
  // `range` is on this device, and of one of those kinds.
  void free(Ranges& ranges, const Range& range);

  int ordinal() const { return ordinal_; }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  int ordinal_;
  Bytes context_bytes_, granularity_;
  int contexts_ = 0;
  Ledger ledger_;
  SmallBlocks small_;
};

class Machine {
 public:
  explicit Machine(const Settings& settings);

  int device_count() const { return static_cast<int>(devices_.size()); }
  // 0 <= ordinal < device_count().
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }

  // `context` is a number that the caller gives to a context, for free_all_of. With 0 the memory belongs to none.
  Answer allocate(int device, Bytes bytes, std::uint64_t context = 0, Kind kind = Kind::device);
  // Memory of the host: it never counts as a device's. `device` is the one that is current.
  Answer allocate_host(int device, Bytes bytes, Kind kind, std::uint64_t context = 0);
  Outcome register_host(int device, Address begin, Bytes bytes);
  Outcome unregister_host(Address begin);
  // Frees memory of any kind but mapped. `begin` is as it was handed out.
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
