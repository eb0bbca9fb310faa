// What the TPU runtime does with the HBM of one device: it places buffers, keeps programs loaded, and when there is no
// room slides buffers together and unloads programs. hbm_memory.h has the picture.
//
// A program needs its temporaries while it runs, and its code as long as it is loaded. Programs run one at a time, so
// the block that is reserved for them is as large as the largest one's temporaries plus the code of all.
//
// After a request that finds no room: 1. all buffers are moved together, if enough is free in total; 2. the program
// whose last run is longest ago is unloaded, and so on; 3. the request fails. openxla.org/xla/errors/error_0100
// confirms this order. DECISIONS.md of allocator/emulated/tpu/emulation says what is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/emulated/tpu/hbm_memory.h"

namespace hbmscope::allocator::tpu {

class HbmRuntime {
 public:
  using ProgramId = std::uint64_t;

  // Hears what happens besides the request itself, in the order in which it happens.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Buffers were moved, in this order. `largest_before`: the largest free block until then.
    virtual void on_moves(const std::vector<Move>& moves, std::uint64_t requested_bytes,
                          std::uint64_t largest_before) = 0;
    virtual void on_reservation(std::uint64_t before_bytes, std::uint64_t now_bytes) = 0;
    virtual void on_unload(ProgramId program) = 0;
    // Before all buffers are moved together. False: they stay, as if there were no room.
    virtual bool may_move() { return true; }
  };

  // `listener` may be null.
  HbmRuntime(std::uint64_t usable_bytes, bool defragments, Listener* listener)
      : memory_(usable_bytes), defragments_(defragments), listener_(listener) {}

  // Returns the address; no value if there is no room. `bytes` must be above 0.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  void free(std::uint64_t address) { memory_.free(address); }

  // Before a run. Loads the program unless it is loaded. False: there is no room.
  bool load(ProgramId program, std::uint64_t temp_bytes, std::uint64_t code_bytes);
  // How much more must be reserved to load it, or 0 if it is loaded.
  std::uint64_t growth_for(ProgramId program, std::uint64_t temp_bytes, std::uint64_t code_bytes) const;
  // The program that is running is never unloaded. No value: none is running.
  void set_running(std::optional<ProgramId> program) { running_ = program; }
  // The program no longer exists.
  void forget(ProgramId program);

  const HbmMemory& memory() const { return memory_; }
  std::uint64_t loaded_code_bytes() const;

 private:
  struct Loaded {
    ProgramId id = 0;
    std::uint64_t temp_bytes = 0, code_bytes = 0;
  };

  std::uint64_t reservation_with(const Loaded* another) const;
  bool reserve(std::uint64_t bytes);
  bool defragment(std::uint64_t requested_bytes);
  bool unload_one();

  HbmMemory memory_;
  bool defragments_;
  Listener* listener_;
  std::vector<Loaded> loaded_;  // The one that ran last is last.
  std::optional<ProgramId> running_;
};

}  // namespace hbmscope::allocator::tpu
