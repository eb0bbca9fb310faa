// What one process of a job held, in a few hundred rows: enough to compare it with thousands of others. Lines of code
// are without their numbers, so that the runs of two commits can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// A stack, outermost function first: "main (train.py);forward (model.py)". Files by the part that does not depend on
// the machine (file_tail).
struct DigestSite {
  std::uint64_t id = 0;  // A hash of `stack`, the same in every digest.
  std::string own;       // Its innermost function of your code: "forward  model.py"; or why there is none.
  std::string stack;
};

struct DigestUse {
  std::uint64_t site = 0;
  std::uint32_t heap = 0;
  std::uint64_t bytes = 0, blocks = 0;
};

struct DigestMoment {
  std::string_view name;  // "peak", "oom" (the last one), "end".
  std::optional<std::int64_t> since_start_ns;
  std::vector<HeapRow> heaps;  // Those that count (trace/layers.h).
  std::vector<DigestUse> uses;
};

struct DigestPoint {
  std::int64_t since_start_ns = 0;  // In a source without times: the number of events.
  std::uint64_t in_use_bytes = 0;   // The most since the point before it.
};

struct RankDigest {
  std::string file;
  std::optional<std::uint32_t> rank;
  std::string host, process, command, device_uuid, device_name;  // Empty: unknown.
  std::uint64_t begun_ms = 0;                                    // Since 1970. 0 if unknown.
  std::optional<std::int64_t> duration_ns;
  std::uint64_t events = 0, lost = 0;
  bool is_complete = true;  // False: the end of the file is missing, or parts of it are damaged.
  std::uint64_t shape = 0;  // A hash of what was called at the peak: the ids of its sites, without bytes.
  std::string main_heap;    // The heap with the highest peak; the peak, the curve and the shape are its.
  std::uint64_t peak_bytes = 0;
  std::vector<DigestMoment> moments;
  std::vector<FailureRow> failures;  // At most the last failures_max.
  std::uint64_t failures_count = 0;
  std::vector<DigestPoint> curve;  // At most curve_points_max.
  std::vector<DigestSite> sites;   // Those of all moments.
};
inline constexpr std::size_t failures_max = 16, curve_points_max = 512;

// One per stream that ever held something or in which a request failed, in stream order.
std::vector<RankDigest> digest_of(const Trace& trace);

}  // namespace hbmscope
