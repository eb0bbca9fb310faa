#include "analysis/trace/same_process.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

constexpr std::size_t common_min = 3;

using Span = std::pair<std::uint64_t, std::uint64_t>;  // Address and size.

// What a stream holds at its end on a device, as far as it can be compared.
struct Holding {
  std::uint32_t device = wire::no_device;
  bool is_host = false;
  std::vector<Span> blocks;  // Sorted.
};

struct Seen {
  std::string source, pid;
  std::vector<Holding> holdings;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> failed;  // Device and requested bytes.
  bool has_addresses = false;
};

// Empty: it has none.
std::string pid_of(const Definitions& definitions) {
  const std::string_view pid = definitions.job_fact("pid");
  return pid.empty() ? std::string() : fmt::format("{} pid {}", definitions.job_fact("host"), pid);
}

// Whether streams without a pid can be of the process of another one.
bool can_be_recognised(const Trace& trace) {
  std::set<std::string_view> sources;
  bool has_nameless = false;
  for (const Stream& stream : trace.streams) {
    sources.insert(stream.definitions().job_fact("hbmscope.source"));
    has_nameless = has_nameless || stream.definitions().job_fact("pid").empty();
  }
  return sources.size() > 1 && has_nameless;
}

// `with_memory`: also what it holds, which takes a state of the stream.
Seen see(const Stream& stream, bool with_memory) {
  const Definitions& definitions = stream.definitions();
  Seen seen;
  seen.source = definitions.job_fact("hbmscope.source");
  seen.pid = pid_of(definitions);
  if (!with_memory) return seen;
  std::map<std::uint32_t, std::size_t> of_heap;
  for (const HeapInfo& heap : definitions.heaps()) {
    if (heap.id == 0 || heap.layer == wire::Layer::program || !heap.has(wire::heap_flag::has_addresses)) continue;
    of_heap[heap.id] = seen.holdings.size();
    seen.holdings.push_back({heap.device, is_host_kind(heap.memory_kind), {}});
  }
  if (of_heap.empty() && stream.failures().empty()) return seen;
  const StreamState state = stream.state_at(stream.end_position());
  for (const LiveBlock& block : state.slots())
    if (const auto heap = of_heap.find(block.heap); block.is_live() && block.has_address() && heap != of_heap.end())
      seen.holdings[heap->second].blocks.emplace_back(block.address, block.size);
  for (Holding& holding : seen.holdings) {
    std::sort(holding.blocks.begin(), holding.blocks.end());
    seen.has_addresses = seen.has_addresses || !holding.blocks.empty();
  }
  for (const FailureEvent& failure : stream.failures())
    if (failure.is_out_of_memory && failure.requested_bytes > 0)
      seen.failed.emplace_back(definitions.heap(failure.heap).device, failure.requested_bytes);
  return seen;
}

bool is_same_device(std::uint32_t one, std::uint32_t other) {
  return one == other || one == wire::no_device || other == wire::no_device;
}

bool has_same_blocks(const Holding& one, const Holding& other) {
  if (one.is_host != other.is_host || !is_same_device(one.device, other.device)) return false;
  std::vector<Span> shared;
  std::set_intersection(one.blocks.begin(), one.blocks.end(), other.blocks.begin(), other.blocks.end(),
                        std::back_inserter(shared));
  const std::size_t common = shared.size();
  return common >= common_min && 2 * common >= std::min(one.blocks.size(), other.blocks.size());
}

// Texts round to three digits or so.
bool is_about(std::uint64_t one, std::uint64_t other) {
  constexpr std::uint64_t percent = 100;
  return std::max(one, other) - std::min(one, other) <= std::max(one, other) / percent;
}

bool failed_alike(const Seen& one, const Seen& other) {
  return std::any_of(one.failed.begin(), one.failed.end(), [&](const auto& a) {
    return std::any_of(other.failed.begin(), other.failed.end(),
                       [&](const auto& b) { return is_same_device(a.first, b.first) && is_about(a.second, b.second); });
  });
}

bool is_same_memory(const Seen& one, const Seen& other) {
  if (!one.has_addresses || !other.has_addresses) return failed_alike(one, other);
  return std::any_of(one.holdings.begin(), one.holdings.end(), [&](const Holding& a) {
    return std::any_of(other.holdings.begin(), other.holdings.end(),
                       [&](const Holding& b) { return has_same_blocks(a, b); });
  });
}

}  // namespace

std::vector<std::uint32_t> find_processes(const Trace& trace) {
  const bool with_memory = can_be_recognised(trace);
  std::vector<std::uint32_t> processes;
  std::vector<Seen> seen;
  std::map<std::string, std::uint32_t> of_pid;
  std::vector<std::set<std::string>> sources;  // By process.
  for (const Stream& stream : trace.streams) {
    Seen now = see(stream, with_memory);
    const auto known = now.pid.empty() ? of_pid.end() : of_pid.find(now.pid);
    std::uint32_t process = known != of_pid.end() ? known->second : static_cast<std::uint32_t>(sources.size());
    for (std::size_t i = 0; i < seen.size() && process == sources.size(); ++i) {
      const bool may_be_same = (now.pid.empty() || seen[i].pid.empty()) && !sources[processes[i]].contains(now.source);
      if (may_be_same && is_same_memory(now, seen[i])) process = processes[i];
    }
    if (process == sources.size()) sources.emplace_back();
    sources[process].insert(now.source);
    if (!now.pid.empty()) of_pid.emplace(now.pid, process);
    processes.push_back(process);
    seen.push_back(std::move(now));
  }
  return processes;
}

std::string process_of(const Trace& trace, std::size_t stream) {
  if (!trace.stream_processes.empty()) return fmt::format("process {}", trace.stream_processes[stream]);
  const std::string pid = pid_of(trace.streams[stream].definitions());
  return pid.empty() ? fmt::format("stream {}", stream) : pid;
}

}  // namespace hbmscope
