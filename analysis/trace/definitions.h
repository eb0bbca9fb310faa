// What a stream's records refer to by id: strings, frames, stacks, heaps, and facts about the job. Ids come from the
// file: an id that was never defined reads as empty and never indexes out of bounds.
//
// A copy shares the existing definitions and does not see later ones. Only heaps and facts, which are few, are copied.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/shared_log.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

// Facts that `run --emulate` adds to a job at its end: the outcome ("fits"), and the verdict as it is printed, which may
// name files of the user.
inline constexpr std::string_view dry_run_outcome_fact = "hbmscope.dry_run.outcome",
                                  dry_run_verdict_fact = "hbmscope.dry_run.verdict";

struct HeapInfo {
  std::uint32_t id = 0, parent = 0;  // 0: no such heap is defined.
  std::string name;                  // "GPU 0"
  std::string memory_kind;           // "device", "host_pinned", "vmem"
  std::uint32_t device = wire::no_device;
  wire::Layer layer = wire::Layer::pool;
  std::uint32_t flags = 0;             // wire::heap_flag
  std::uint32_t defined_in_block = 0;  // Sequence of the first block that defines it; no such heap before.
  std::string uuid = {};               // The device's, which it identifies, if it is known.

  bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
};
std::string_view text_from_layer(wire::Layer layer);

struct TraceFrame {
  std::uint32_t function = 0, file = 0;  // Strings.
  std::uint32_t line = 0;                // 0: unknown.
  friend bool operator==(const TraceFrame&, const TraceFrame&) = default;
};

struct TraceStack {
  std::uint32_t parent = 0;  // The callers' stack, always smaller than its own id. For the outermost frame it is 0.
  std::uint32_t frame = 0;
  friend bool operator==(const TraceStack&, const TraceStack&) = default;
};

// A loaded program or library, used to resolve code addresses to names.
struct ModuleInfo {
  std::uint64_t base = 0, size = 0;      // Where it lies in the process, in bytes.
  std::uint32_t path = 0, build_id = 0;  // Strings: its file; hexadecimal.
  friend bool operator==(const ModuleInfo&, const ModuleInfo&) = default;
};

struct JobFact {
  std::string key, value;
};

class Definitions {
 public:
  // Adds the definitions of a block. Counts records that contradict earlier ones or skip ids.
  void add(const wire::DecodedBlock& block);

  std::string_view text(std::uint32_t string) const;
  std::uint32_t next_string() const { return static_cast<std::uint32_t>(texts_.size() + 1); }  // Not defined yet.
  TraceFrame frame(std::uint32_t frame) const;
  bool is_code(std::uint32_t frame) const;  // Found at an address of the process and named by its modules' tables.
  // The file of the program or library that contains a code frame. Empty if it is unknown, or the frame is not of code.
  std::string_view code_file(std::uint32_t frame) const;
  TraceStack stack(std::uint32_t stack) const;
  // By id, from 1; heaps()[0] is no heap.
  const std::vector<HeapInfo>& heaps() const { return heaps_; }
  const HeapInfo& heap(std::uint32_t id) const;
  const std::vector<JobFact>& job() const { return job_; }
  std::string_view job_fact(std::string_view key) const;  // The first of that key, or an empty text.
  // By id - 1. Unloaded modules stay: two may have had the same addresses.
  const SharedLog<ModuleInfo>& modules() const { return modules_; }
  // The last defined module that contains the address, or 0. Scans all modules.
  std::uint32_t find_module(std::uint64_t address) const;
  // One more than the largest id, since id 0 counts too.
  std::uint32_t stack_count() const { return static_cast<std::uint32_t>(stacks_.size() + 1); }
  std::uint32_t frame_count() const { return static_cast<std::uint32_t>(frames_.size() + 1); }
  std::uint64_t bad_definitions() const { return bad_definitions_; }          // Contradictory, or meaningless.
  std::uint64_t missing_definitions() const { return missing_definitions_; }  // Ids that were skipped.
  std::uint64_t memory_bytes() const;

 private:
  struct Text {
    std::uint64_t begin = 0;
    std::uint32_t bytes = 0;
  };
  // A code frame that was named after its first use.
  struct LateName {
    TraceFrame frame;
    std::uint32_t module = 0;
    bool has_code = false, is_named = false;
  };
  void name_frames(const wire::DecodedBlock& block, const std::vector<wire::FrameRecord>& names);
  template <class Row>
  void define(SharedLog<Row>& rows, std::uint32_t id, const Row& row);
  bool may_be_next(std::uint64_t size, std::uint32_t id);
  void note_missing(std::uint64_t count);

  SharedLog<char, 65'536> characters_;
  SharedLog<Text> texts_;  // By id - 1, like the next one.
  SharedLog<TraceFrame> frames_;
  std::shared_ptr<std::vector<LateName>> late_names_;  // By frame id - 1; copied on write while shared.
  SharedLog<TraceStack> stacks_;
  std::vector<HeapInfo> heaps_{1};
  SharedLog<ModuleInfo> modules_;
  std::vector<JobFact> job_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> facts_reported_;  // Strings: key and value of the first ones.
  std::uint64_t bad_definitions_ = 0, missing_definitions_ = 0;
  std::uint64_t gap_budget_ = 1U << 20;  // How many more rows gaps may create.
};

}  // namespace hbmscope
