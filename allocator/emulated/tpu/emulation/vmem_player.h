// A program's values in VMEM while it runs. They are copied in or produced there. Copies continue while operations
// work, and an operation whose copy is not done waits. Values that stay for the next run of the program stay.
//
// The assignment assumes that each direction of copies has the whole bandwidth and that operations leave it to them.
// Here HBM has one bandwidth: copies get what the operation leaves, one after another, in the order in which they
// begin. Times are modelled.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "allocator/emulated/tpu/emulation/event_log.h"

namespace hbmscope::allocator::tpu {

class VmemPlayer {
 public:
  VmemPlayer(const Workload& workload, EventLog& log, Emulation& out) : workload_(workload), log_(log), out_(out) {}

  // `buffers`: by value; for an argument, a number that equals that of the previous run if the buffer is the same.
  void begin(std::size_t program, const std::vector<std::uint64_t>& buffers);
  void before(std::size_t operation);  // Waits for the values that must be there.
  // Adds the values that it produces in VMEM, and begins the copies that overlap with it.
  void begin_operation(std::size_t operation);
  // The operation works for `ns`, of which HBM is busy for `hbm_ns`.
  void pass(std::uint64_t ns, std::uint64_t hbm_ns);
  void copy_for(std::uint64_t ns);  // HBM was idle for the last `ns`.
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
  // By operation, starting before the first one.
  std::vector<std::vector<const Residence*>> begins_, ends_, copies_out_;
  std::deque<Copying> copying_;  // In the order of service.
  std::vector<Kept> kept_;
  std::size_t kept_by_ = 0;
};

}  // namespace hbmscope::allocator::tpu
