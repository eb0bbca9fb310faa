// Every range of addresses that the driver has handed out, so that any address can be traced back to its memory.
#pragma once

#include <map>
#include <optional>

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

enum class Kind {
  device,      // cuMemAlloc
  array,       // cuArrayCreate, cuMipmappedArrayCreate: the address is the handle
  pooled,      // cuMemAllocAsync: a block of a pool
  mapped,      // cuMemMap: physical memory under reserved addresses
  imported,    // cuIpcOpenMemHandle: another process owns it
  managed,     // cuMemAllocManaged: counts as no device's memory, as nothing moves it to one
  host,        // cuMemHostAlloc
  registered,  // cuMemHostRegister: the program's own memory
};
constexpr bool is_device_memory(Kind kind) {
  return kind <= Kind::imported;
}

struct Range {
  Address begin;
  Bytes bytes;  // As requested.
  Kind kind;
  int device;        // The device that holds it, or was current.
  std::uint64_t id;  // Never used twice in a process.
  // The pool of pooled memory, the physical memory under mapped addresses, the context of all others. Without one it is
  // 0.
  std::uint64_t owner = 0;
};

class Ranges {
 public:
  void add(Address begin, Bytes bytes, Kind kind, int device, std::uint64_t owner = 0) {
    by_begin_[begin] = Range{begin, bytes, kind, device, ++ids_, owner};
  }
  void remove(Address begin) { by_begin_.erase(begin); }

  // The range that contains the address; the one that begins there; and the first one that begins there or later.
  std::optional<Range> find(Address address) const {
    auto next = by_begin_.upper_bound(address);
    if (next == by_begin_.begin()) return std::nullopt;
    const Range& range = std::prev(next)->second;
    return address - range.begin < range.bytes ? std::optional(range) : std::nullopt;
  }
  std::optional<Range> find_beginning(Address address) const {
    const auto found = by_begin_.find(address);
    return found == by_begin_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Range> find_next(Address address) const {
    const auto next = by_begin_.lower_bound(address);
    return next == by_begin_.end() ? std::nullopt : std::optional(next->second);
  }

 private:
  std::map<Address, Range> by_begin_;
  std::uint64_t ids_ = 0;
};

}  // namespace hbmscope::device
