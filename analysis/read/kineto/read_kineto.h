// The memory events in a Chrome trace of torch.profiler (its engine is called Kineto) as a trace:
//
//   {"schemaVersion": 1, "baseTimeNanoseconds": 1759...000, "traceEvents": [
//     {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 7, "tid": 7, "ts": 4461.149, "dur": 3.2, "args": {}},
//     {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": 4462.100,
//      "args": {"Total Reserved": 2097152, "Total Allocated": 512, "Bytes": 512, "Addr": 140062951899136,
//               "Device Id": 0, "Device Type": 1, "Ev Idx": 12}}]}
//
// Source: kineto's libkineto/src/output_json.cpp (times are microseconds since baseTimeNanoseconds, with three places;
// events are in no order of time) and PyTorch's torch/csrc/profiler. Bytes above 0 is an allocation, below a free. They
// are what the caching allocator took, rounding included; what was asked, and where its segments lie, stands nowhere.
// The profile begins in the middle of a job: a free of what was not seen to be made says that it lived already.
// Old versions (PyTorch 1.9 for one) wrote no addresses; such events can't be paired.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// By the first key of the object; the rest of the bytes may be missing.
bool looks_like_kineto(std::span<const std::uint8_t> bytes);

// Heaps are named by type and number of their device, counters "total_allocated" and "total_reserved" (bytes, of their
// heap), operators and Python functions are frames. Errors: no JSON (with the byte), no memory events in it, cancelled.
Result<Trace> read_kineto(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

extern const Format kineto_format;

}  // namespace hbmscope
