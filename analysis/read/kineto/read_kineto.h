// Reads the memory events of a Chrome trace from torch.profiler (whose engine is called Kineto):
//
//   {"schemaVersion": 1, "baseTimeNanoseconds": 1759...000, "traceEvents": [
//     {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 7, "tid": 7, "ts": 4461.149, "dur": 3.2, "args": {}},
//     {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": 4462.100,
//      "args": {"Total Reserved": 2097152, "Total Allocated": 512, "Bytes": 512, "Addr": 140062951899136,
//               "Device Id": 0, "Device Type": 1, "Ev Idx": 12}}]}
//
// Source: kineto's libkineto/src/output_json.cpp (times are microseconds since baseTimeNanoseconds, with three
// decimals; events are not sorted by time) and PyTorch's torch/csrc/profiler. Positive Bytes is an allocation, negative
// a free. They are the caching allocator's block sizes, rounding included; requested sizes and segment addresses are
// not recorded. The profile starts in the middle of a job: a free without an allocation means that the block was
// already live. Old versions (PyTorch 1.9, for example) wrote no addresses; such events can't be paired.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Decides by the first key of the object, or by the key traceEvents, which may come after keys of a tool; the rest of
// the bytes may be missing. XLA's timelines, which have no memory events, are not meant.
bool looks_like_kineto(std::span<const std::uint8_t> bytes);

// Heaps are named by device type and number. Counters are "total_allocated" and "total_reserved" (bytes, per heap).
// Operators and Python functions are frames. Errors: not JSON (with the byte), no memory events in it, cancelled.
Result<Trace> read_kineto(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

extern const Format kineto_format;

}  // namespace hbmscope
