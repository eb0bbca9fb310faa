// The answer to "why did it fail, and what would help": for each failed request its cause with evidence, what held the
// memory, and advice. Commands and the window show it; nothing here prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/diagnose/advice.h"
#include "analysis/diagnose/cause.h"
#include "analysis/diagnose/device_budget.h"
#include "analysis/diagnose/growth.h"
#include "analysis/diagnose/holders.h"
#include "analysis/diagnose/pool_costs.h"
#include "analysis/diagnose/whole_segments.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// What a log itself says of memory beside the failure: the largest buffers of the program, or what an engine has taken.
struct ListedMemory {
  EngineAccount account;  // Of a program at its peak only the name and the sum.
  Holders holders;
};

struct Diagnosis {
  std::size_t stream = 0, index = 0;  // failures()[index] of that stream.
  FailureRow row;
  FailureFacts facts;
  CauseOfFailure cause;
  // Just before the failure: all, and what was allocated since the request would last have fit. Empty in a brief one.
  Holders holders, holders_since_fit;
  std::optional<DeviceBudget> budget;  // For its device. Absent if a figure is unknown, or it is a brief one.
  std::optional<Growth> growth;        // Over the steps before it. Absent if no steps are marked, or it is a brief one.
  // For PyTorch without expandable segments: those whose blocks the program could have freed, so that the driver had
  // enough. Absent if all would not have been enough, or it is a brief one.
  std::optional<WholeSegments> segments;
  std::vector<ListedMemory> listed;     // In a brief one nothing.
  std::optional<PoolCosts> pool_costs;  // Absent: its allocator can't be replayed, or it is a brief one.
  std::vector<Advice> advice;
};

// Walks the heap and the timeline of the failure's stream. If not brief, also the blocks, attributes and times of all
// streams; in full, it also replays the requests before it to prove advice (proof.h) and for pool_costs. Cancelled, the
// advice stays unproved.
enum class Depth : std::uint8_t { brief, without_replays, full };
Diagnosis diagnose(const Trace& trace, const FailedRequest& request, Depth depth, PassControl* control = nullptr);

// Its two halves, where more than one depth is wanted: the first one walks all live blocks, and serves both.
struct GatheredFacts {
  Diagnosis diagnosis;  // Without what follows from the whole: proofs, growth as a cause.
};
GatheredFacts gather_facts(const Trace& trace, const FailedRequest& request);
Diagnosis conclude(const Trace& trace, const GatheredFacts& facts, Depth depth, PassControl* control = nullptr);

// For the other failures of a trace, numbered from 1: if the first one is a leak, they are most often its later ends,
// which a brief diagnosis can't tell. Of many, only the first ones.
Depth depth_of_other(const Diagnosis& first, std::size_t number);

}  // namespace hbmscope
