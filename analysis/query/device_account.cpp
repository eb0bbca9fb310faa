#include "analysis/query/device_account.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/driver_pools.h"
#include "analysis/trace/layers.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

// By the beginning of a library's file name.
constexpr std::pair<std::string_view, std::string_view> known_libraries[] = {
    {"libcublasLt", "cuBLASLt"},
    {"libcublas", "cuBLAS"},
    {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},
    {"libcurand", "cuRAND"},
    {"libcusolver", "cuSOLVER"},
    {"libcusparse", "cuSPARSE"},
    {"libnccl", "NCCL"},
    {"libnvshmem", "NVSHMEM"},
    {"libnvinfer", "TensorRT"},
    {"librmm", "RMM"},
    {"libcupti", "CUPTI"},
    {"libtensorflow", "TensorFlow"},
    {"xla_cuda_plugin", "XLA"},
    {"xla_rocm_plugin", "XLA"},
    {"libc10", "PyTorch"},
    {"libtorch", "PyTorch"},
    {"librccl", "RCCL"},
    {"libMIOpen", "MIOpen"},
    {"librocblas", "rocBLAS"},
    {"libhipblas", "hipBLAS"},
    {"libcupy", "CuPy"},
};
// They pass calls on for others.
constexpr std::string_view passing_libraries[] = {
    "libcudart",  "libcuda.so", "libamdhip64", "libhsa-runtime64", "libhbmscope", "libc.so", "libc-2.",  "ld-linux",
    "libpthread", "libdl",      "libstdc++",   "libgcc_s",         "libffi",      "_ctypes", "libpython"};

bool starts_with_any(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view one) { return name.starts_with(one); });
}

// Where pools' regions are, by address: a block in one of them is the pool's.
class PoolRegions {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) { regions_[address] = address + bytes; }
  bool contain(std::uint64_t address) const {
    const auto after = regions_.upper_bound(address);
    return after != regions_.begin() && address < std::prev(after)->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> regions_;
};

bool is_of_driver(const HeapInfo& heap) {
  return heap.id != 0 && heap.layer == wire::Layer::physical && heap.device != wire::no_device &&
         !is_host_kind(heap.memory_kind);
}

bool is_pool_of_framework(const HeapInfo& heap) {
  return heap.id != 0 && heap.has(wire::heap_flag::is_inside_of_driver) && heap.device != wire::no_device &&
         !is_host_kind(heap.memory_kind);
}

struct Sums {
  std::map<std::string, OwnerBytes, std::less<>> owners;
  void add(std::string owner, std::uint64_t bytes) {
    OwnerBytes& sum = owners[owner];
    sum.owner = std::move(owner);
    sum.bytes = clamped_sum(sum.bytes, bytes);
    ++sum.blocks;
  }
};

class StreamAccounts {
 public:
  StreamAccounts(const Stream& stream, const StreamState& state)
      : stream_(stream), state_(state), is_attached_(!stream.definitions().job_fact(wire::attached_fact).empty()) {}

  std::vector<DeviceAccount> find(std::size_t index) {
    for (const HeapInfo& heap : definitions().heaps()) {
      if (is_pool_of_framework(heap)) note_pool(heap);
      if (is_of_driver(heap)) account_of(heap.device).stream = index;
    }
    add_blocks();
    add_handles();
    std::vector<DeviceAccount> accounts;
    for (auto& [device, account] : accounts_) {
      for (auto& [name, owner] : sums_[device].owners) account.owners.push_back(std::move(owner));
      std::stable_sort(account.owners.begin(), account.owners.end(),
                       [](const OwnerBytes& a, const OwnerBytes& b) { return a.bytes > b.bytes; });
      add_kept(account);
      add_reported(account);
      accounts.push_back(std::move(account));
    }
    return accounts;
  }

 private:
  const Definitions& definitions() const { return stream_.definitions(); }
  DeviceAccount& account_of(std::uint32_t device) {
    DeviceAccount& account = accounts_[device];
    account.device = device;
    return account;
  }

  void note_pool(const HeapInfo& heap) {
    const AddressSpace& space = state_.heap(heap.id).space;
    pools_bytes_[heap.device] = clamped_sum(pools_bytes_[heap.device], space.region_bytes().value_or(0));
    space.for_each_region([&](AddressRange range) { regions_.add(range.begin, range.size()); });
  }

  // Blocks by their owners; what of the pools is not in blocks must be in handles.
  void add_blocks() {
    for (const LiveBlock block : state_.slots()) {
      if (!block.is_live() || !is_of_driver(definitions().heap(block.heap))) continue;
      const std::uint32_t device = definitions().heap(block.heap).device;
      if (block.has_address() && regions_.contain(block.address))
        pools_in_blocks_[device] = clamped_sum(pools_in_blocks_[device], block.size);
      else
        sums_[device].add(owner_of_stack(definitions(), block.stack), block.size);
    }
    for (auto& [device, account] : accounts_) account.pools_bytes = pools_in_blocks_[device];
  }

  // Which handle a pool has mapped is not known of each. If pools have all of them or none, their owners are; after an
  // attach, when a pool may be older, whose code made them says it.
  void add_handles() {
    if (is_attached_) {
      add_handles_by_owner();
      return;
    }
    std::map<std::uint32_t, std::uint64_t> owned;
    for (const PhysicalHandle& handle : state_.physical().handles())
      if (handle.is_live() && !handle.is_imported && is_of_driver(definitions().heap(handle.heap)))
        owned[definitions().heap(handle.heap).device] += handle.size;
    for (const auto& [device, bytes] : owned) {
      DeviceAccount& account = account_of(device);
      const std::uint64_t of_pools =
          std::min(bytes, pools_bytes_[device] - std::min(pools_bytes_[device], pools_in_blocks_[device]));
      account.pools_bytes = clamped_sum(account.pools_bytes, of_pools);
      if (of_pools != 0 && of_pools != bytes) {
        sums_[device].add("mapped memory (cuMemCreate)", bytes - of_pools);
        continue;
      }
      if (of_pools != 0) continue;
      for (const PhysicalHandle& handle : state_.physical().handles())
        if (handle.is_live() && !handle.is_imported && is_of_driver(definitions().heap(handle.heap)) &&
            definitions().heap(handle.heap).device == device)
          sums_[device].add(owner_of_stack(definitions(), handle.stack), handle.size);
    }
  }

  void add_handles_by_owner() {
    for (const PhysicalHandle& handle : state_.physical().handles()) {
      const HeapInfo& heap = definitions().heap(handle.heap);
      if (!handle.is_live() || handle.is_imported || !is_of_driver(heap)) continue;
      std::string owner = owner_of_stack(definitions(), handle.stack);
      DeviceAccount& account = account_of(heap.device);
      if (pools_bytes_[heap.device] > 0 && (owner == "XLA" || owner == "PyTorch" || owner == "TensorFlow"))
        account.pools_bytes = clamped_sum(account.pools_bytes, handle.size);
      else
        sums_[heap.device].add(std::move(owner), handle.size);
    }
  }

  void add_kept(DeviceAccount& account) const {
    for (const HeapInfo& heap : definitions().heaps())
      if (is_of_driver(heap) && heap.device == account.device)
        if (const auto pools = find_driver_pools(stream_, heap.id, state_.position()))
          account.kept_bytes = clamped_sum(account.kept_bytes, pools->kept_bytes);
  }

  // Compared with what was allocated when the device was queried.
  void add_reported(DeviceAccount& account) const {
    const std::string device = fmt::format("GPU {}", account.device);
    std::optional<CounterSample> held;
    for (const auto& [key, series] : stream_.counters().series()) {
      const std::string_view name = definitions().text(key.first);
      const auto sample = series.at(state_.position());
      if (!sample || sample->value < 0) continue;
      const auto bytes = static_cast<std::uint64_t>(sample->value);
      if (name == device + std::string(wire::in_use_by_all_ending)) account.all_processes_bytes = bytes;
      if (name != device + std::string(wire::held_by_process_ending)) continue;
      account.reported_bytes = bytes;
      held = sample;
    }
    if (!held || is_attached_) return;  // What was there before the attach is not known.
    const StreamState then = stream_.state_at(held->event);
    std::uint64_t explained = 0;
    for (const HeapInfo& heap : definitions().heaps()) {
      if (!is_of_driver(heap) || heap.device != account.device) continue;
      explained = clamped_sum(explained, then.in_use_bytes(heap.id));
      if (const auto pools = find_driver_pools(stream_, heap.id, held->event))
        explained = clamped_sum(explained, pools->kept_bytes);
    }
    if (explained <= *account.reported_bytes) account.unexplained_bytes = *account.reported_bytes - explained;
  }

  const Stream& stream_;
  const StreamState& state_;
  const bool is_attached_;
  PoolRegions regions_;
  std::map<std::uint32_t, DeviceAccount> accounts_;  // By device, as the maps below.
  std::map<std::uint32_t, Sums> sums_;
  std::map<std::uint32_t, std::uint64_t> pools_bytes_, pools_in_blocks_;
};

}  // namespace

std::uint64_t DeviceAccount::outside_pools_bytes() const {
  return std::accumulate(owners.begin(), owners.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const OwnerBytes& owner) { return clamped_sum(sum, owner.bytes); });
}

std::string owner_of_stack(const Definitions& definitions, std::uint32_t stack) {
  if (stack == 0) return std::string(no_stack_owner);
  constexpr int frames_max = 4096;  // As in trace_user_code.cpp.
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const std::uint32_t frame = definitions.stack(stack).frame;
    std::string_view path = definitions.code_file(frame);
    if (path.empty()) path = definitions.text(definitions.frame(frame).file);
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (file.empty() || starts_with_any(file, passing_libraries)) continue;
    for (const auto& [beginning, name] : known_libraries)
      if (file.starts_with(beginning)) return std::string(name);
    if (file.find(".so") == std::string_view::npos) break;  // Python code, or the program.
    return std::string(file);
  }
  return std::string(own_code_owner);
}

std::vector<DeviceAccount> find_device_accounts(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<DeviceAccount> accounts;
  for (std::size_t i = 0; i < states.size(); ++i)
    for (DeviceAccount& account : StreamAccounts(trace.streams[i], states[i]).find(i))
      accounts.push_back(std::move(account));
  return accounts;
}

}  // namespace hbmscope
