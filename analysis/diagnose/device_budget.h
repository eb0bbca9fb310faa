// Where all memory of a device was at a time: parts that add up to its total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Which processes held memory of the device when a request failed, as the text of the failure says. PyTorch names them:
// "Process 3567 has 60.00 GiB memory in use. Including non-PyTorch memory, this process has 10.50 GiB memory in use."
// (c10/cuda/CUDACachingAllocator.cpp)
struct NamedProcess {
  std::string name;         // "process 3567"
  std::uint64_t bytes = 0;  // As printed, so to about half a percent.
  bool is_own = false;      // The one whose request failed; its pool is part of these bytes.
  bool is_certain = true;   // Otherwise the figures say that it is the own one: in a container a process doesn't know
                            // the number that the driver has for it, and PyTorch lists it among the others.
  bool is_alike = false;    // Several hold as much, and one of them is the own one: most often ranks on the same GPU.
};
std::vector<NamedProcess> find_named_processes(const FailureRow& row,
                                               std::optional<std::uint64_t> device_bytes = std::nullopt);

// What others hold of the device, as far as the text of a failure says it: the processes that it lists, or what its
// figures leave.
struct HeldElsewhere {
  std::uint64_t bytes = 0;
  std::vector<NamedProcess> processes;  // Largest first. Empty if only their sum is known, to about 1 GiB.
};
std::optional<HeldElsewhere> find_held_elsewhere(const FailureRow& row, std::optional<std::uint64_t> device_bytes);

enum class BudgetPart : std::uint8_t {
  requested,  // In use in frameworks' pools, without rounding as far as that is known.
  rounding,   // What their blocks have beyond that.
  pool_free,  // Free in these pools.
  outside,    // Allocated from the driver by this process, but not for the pools: one row for each owner.
  process,    // Held by another process, as the text of a failure says.
  kept,       // By the driver's own memory pools: reserved, and in no block.
  unseen,     // The rest: contexts, loaded code, other processes, what is not recorded, and what is free if unknown.
  free,       // On the device, as the driver said.
};
std::string_view text_from_part(BudgetPart part);  // "requested"

struct BudgetRow {
  BudgetPart part = BudgetPart::requested;
  std::string name;  // "in use in the pool", "cuBLAS"
  std::uint64_t bytes = 0;
  bool is_derived = false;  // From the others. False: recorded or reported.
};

struct DeviceBudget {
  std::uint64_t total_bytes = 0;
  std::vector<BudgetRow> rows;   // Their sum is total_bytes, but for over_bytes. Rows of 0 bytes are left out.
  std::uint64_t over_bytes = 0;  // More than the total: the sources contradict each other.
};

// A heap of a device, at a time.
struct DeviceTime {
  std::size_t stream = 0;
  std::uint32_t heap = 0;
  std::uint64_t position = 0;               // In the stream.
  std::optional<std::uint64_t> free_bytes;  // On the device, as the driver said then. Absent if it is in the rest.
  std::vector<NamedProcess> processes;      // As the text of a failure names them.
};
// `states`: at that time. Nothing where the device's size or the pool's size is unknown.
std::optional<DeviceBudget> find_device_budget(const Trace& trace, const std::vector<StreamState>& states,
                                               const DeviceTime& time);

}  // namespace hbmscope
