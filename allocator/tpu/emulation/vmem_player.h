// A program's values in VMEM as it runs: they come by copies or are made there, copies go on while operations work, and
// an operation whose copy is not done waits. What stays for the next run of the program stays.
//
// The assignment takes each direction of copies to have the whole bandwidth and operations to leave it to them. Here
// HBM has one bandwidth: copies get what the operation leaves, one after the other, in the order in which they begin.
// Modelled.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "allocator/tpu/emulation/event_log.h"

namespace hbmscope::allocator::tpu {

class VmemPlayer {
 public:
  VmemPlayer(const Workload& workload, EventLog& log, Emulation& out) : workload_(workload), log_(log), out_(out) {}

  // `buffers`: by value, of arguments a number, equal if they are the same as in the previous run.
  void begin(std::size_t program, const std::vector<std::uint64_t>& buffers);
  void before(std::size_t operation);           // Waits for what has to be there.
  void begin_operation(std::size_t operation);  // With what it makes in VMEM, and the copies that begin beside it.
  void pass(std::uint64_t ns, std::uint64_t hbm_ns);  // It works so long, HBM for it.
  void copy_for(std::uint64_t ns);                    // HBM was free so long, until now.
  void after(std::size_t operation);
  void end();

 private:
  struct Copying {
    const Residence* residence;
    bool is_in;
    SpaceCopy copy;
    std::uint64_t left_ns;
  };
  struct Kept {
    std::uint32_t value;
    std::uint64_t buffer, address, bytes;
  };
  const ProgramMemory& memory() const { return out_.programs[program_]; }
  const Array& array_of(const Residence& residence) const;
  std::string label(const Copying& copying) const;
  void enter(const Residence& residence);
  void start(const Residence& residence, bool is_in);
  void start_copies(std::size_t operation);
  void finish_first();
  void wait_for(std::int64_t operation);

  const Workload& workload_;
  EventLog& log_;
  Emulation& out_;
  std::size_t program_ = 0;
  std::vector<std::uint64_t> buffers_;
  std::vector<std::vector<const Residence*>> begins_, ends_, copies_out_;  // By operation, from before the first one.
  std::deque<Copying> copying_;                                            // As they are served.
  std::vector<Kept> kept_;
  std::size_t kept_by_ = 0;
};

}  // namespace hbmscope::allocator::tpu
