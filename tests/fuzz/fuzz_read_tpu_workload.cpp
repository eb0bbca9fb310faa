// Any bytes as a workload file, alone and after the beginning of one. Workloads that can be read are emulated,
// unmodified and with values in VMEM. Refusals have an error text; blocks stay inside their memory, and no byte is
// allocated twice.
#include <map>
#include <string>

#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;
namespace tpu = allocator::tpu;

// A loop of a few bytes may ask for a million operations.
bool is_small(const tpu::Workload& workload) {
  std::size_t count = workload.steps.size() + workload.arrays.size();
  std::uint64_t work = 0;
  for (const tpu::Program& program : workload.programs) count += program.operations.size() + program.values.size();
  for (const tpu::Pipeline& pipeline : workload.pipelines) work += pipeline.steps * (1 + pipeline.operands.size());
  return count < 300 && work < 3000;
}

void check(const tpu::Emulation& emulation) {
  std::map<tpu::Tier, std::map<std::uint64_t, std::uint64_t>> live;
  for (const tpu::Event& event : emulation.events) {
    auto& blocks = live[event.tier];
    if (event.kind == tpu::EventKind::free)
      require(event.bytes == 0 || blocks.erase(event.address) == 1, "a block is freed that is not there");
    if (event.kind == tpu::EventKind::move && blocks.count(event.address) != 0) {
      blocks[event.to] = blocks[event.address];
      blocks.erase(event.address);
    }
    if (event.kind != tpu::EventKind::alloc || event.bytes == 0) continue;
    const auto next = blocks.lower_bound(event.address);
    const bool is_free = (next == blocks.end() || next->first >= event.address + event.bytes) &&
                         (next == blocks.begin() || std::prev(next)->first + std::prev(next)->second <= event.address);
    require(is_free || event.tier == tpu::Tier::windows, "bytes are taken twice");
    blocks[event.address] = event.bytes;
  }
  const auto& vmem = emulation.tier[static_cast<std::size_t>(tpu::Tier::vmem)];
  require(vmem.peak_bytes <= vmem.capacity_bytes.value_or(0), "more is in VMEM than it has");
}

void read_tpu_workload_text(const std::string& text) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  for (const std::vector<WorkloadChange>& changes :
       {std::vector<WorkloadChange>{},
        std::vector<WorkloadChange>{{"vmem.assignment", "on"}, {"vmem.repacks_max", "2"}}}) {
    const auto workload = read_tpu_workload(bytes, "fuzz", changes);
    if (!workload) {
      require(!workload.error().what.empty(), "an error without words");
      return;
    }
    if (!is_small(*workload)) return;
    const tpu::Emulation emulation = tpu::emulate(*workload);
    check(emulation);
    const Trace trace = trace_from_emulation(*workload, emulation, "fuzz", text.size());
    require(trace.import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_tpu_workload, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_tpu_workload_text(bytes);
  read_tpu_workload_text(
      "{\"hbmscope_tpu_workload\": 1, \"arrays\": {\"a\": {\"dtype\": \"f32\", \"shape\": [\"4096\", 2048]}, \"b\": "
      "{\"dtype\": "
      "\"bf16\", \"shape\": [1]}}, " +
      bytes);
  return 0;
}
