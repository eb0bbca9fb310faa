// The books of one device: which arrays and programs its HBM holds, at which addresses, and what was in use at most.
// Reports everything through collector/annotate. Not safe with threads: the client has one lock for all devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "allocator/emulated/accounts/tpu_account.h"
#include "allocator/emulated/tpu/hbm_runtime.h"
#include "allocator/emulated/tpu/plugin/settings.h"
#include "collector/annotate/hbmscope.h"

namespace hbmscope::allocator::tpu::plugin {

// An array's memory, as long as the array is alive. Its address changes when the runtime moves buffers together.
struct Block {
  std::uint64_t address = 0;  // As reported: no two devices share one.
  std::uint64_t bytes = 0, requested_bytes = 0;
  std::uint64_t last_execution = 0;  // The last one that uses it, as the device counts them, or 0.
};

class DeviceBooks final : private HbmRuntime::Listener {
 public:
  // `number`: of the device in its client, from 0.
  DeviceBooks(std::uint32_t number, std::uint64_t usable_bytes, const Settings& given, TpuAccount& account);
  DeviceBooks(const DeviceBooks&) = delete;
  DeviceBooks& operator=(const DeviceBooks&) = delete;

  // Null: no room. `bytes`: with padding, above 0.
  Block* allocate(std::uint64_t bytes, std::uint64_t requested_bytes);
  // At once, or when the executions that use it are over.
  void free(Block* block);
  // The execution in progress uses it.
  void note_use(Block* block);
  // The host waits for the device: nothing is in flight any more.
  void catch_up();
  // The memory of a donated array becomes another one's.
  Block* transfer(Block* block, std::uint64_t requested_bytes);

  // An execution: it begins, its arguments are noted (note_use), and the program is loaded. False: there is no room.
  struct Execution {
    HbmRuntime::ProgramId program = 0;
    std::string_view name;     // "jit_train_step"
    std::uint64_t number = 0;  // From 1.
    std::uint64_t temp_bytes = 0, code_bytes = 0;
  };
  void begin(const Execution& execution);
  bool load();
  void end();
  // The program no longer exists.
  void forget(HbmRuntime::ProgramId program) { runtime_.forget(program); }

  // A request that found no room; `program`: "" for an array. Returns what the runtime says.
  std::string refuse(std::uint64_t bytes, std::string_view program);
  // The compiler refused a program that needs so much in total, arguments included.
  void note_compiler_refusal(std::uint64_t needed_bytes, const std::string& text);

  const HbmMemory& memory() const { return runtime_.memory(); }
  std::uint64_t in_use_bytes() const { return memory().usable_bytes() - memory().free_bytes(); }
  const DeviceAccount& account() const { return own_; }
  // The program's own statistics may be set back; the account's never are.
  std::uint64_t statistics_peak_bytes() const { return statistics_peak_; }
  void forget_statistics_peak() { statistics_peak_ = in_use_bytes(); }
  void note_host(std::uint64_t bytes) { own_.host_peak = std::max(own_.host_peak, bytes); }
  std::uint64_t allocations() const { return allocations_; }
  std::uint64_t largest_allocation_bytes() const { return largest_allocation_; }
  std::uint64_t peak_reserved_bytes() const { return peak_reserved_; }

 private:
  void on_moves(const std::vector<Move>& moves, std::uint64_t requested_bytes, std::uint64_t largest_before) override;
  void on_reservation(std::uint64_t before_bytes, std::uint64_t now_bytes) override;
  void on_unload(HbmRuntime::ProgramId program) override;
  static void enumerate(hbmscope_heap* heap, const hbmscope_listing* listing);

  void note_peak();
  void add_block(std::unique_ptr<Block> block);
  void free_first_waiting();
  void free_now(Block* block);
  // Frees what waits for executions, in their order, until so much is free in one piece.
  void make_room(std::uint64_t bytes);

  std::string name_;
  std::uint32_t number_;
  std::uint64_t base_;
  TpuAccount& account_;
  DeviceAccount& own_;
  hbmscope_heap heap_;
  HbmRuntime runtime_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks_;  // By address.
  std::uint64_t padding_ = 0;
  std::uint64_t allocations_ = 0, largest_allocation_ = 0, peak_reserved_ = 0;
  Execution execution_;  // In progress; number 0: none.
  std::uint64_t runs_ahead_, executions_ = 0;
  std::uint64_t used_ = 0;  // Bytes of the arrays that the execution in progress uses.
  std::uint64_t statistics_peak_ = 0, reported_reservation_ = 0;
  std::deque<Block*> waiting_;  // Freed by the program, in that order.
};

}  // namespace hbmscope::allocator::tpu::plugin
