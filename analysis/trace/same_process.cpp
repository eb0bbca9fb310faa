#include "analysis/trace/same_process.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
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

// What a heap holds at the end of its stream, as far as it can be compared.
struct Holding {
  std::uint32_t device = wire::no_device;
  bool is_host = false;
  bool has_addresses = false;
  std::vector<Span> blocks;          // Sorted. Empty without addresses.
  std::vector<std::uint64_t> sizes;  // Size classes of those that are large enough to tell something, sorted.
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
    if (heap.id == 0 || heap.layer == wire::Layer::program) continue;
    of_heap[heap.id] = seen.holdings.size();
    seen.holdings.push_back(
        {heap.device, is_host_kind(heap.memory_kind), heap.has(wire::heap_flag::has_addresses), {}, {}});
  }
  if (of_heap.empty() && stream.failures().empty()) return seen;
  const StreamState state = stream.state_at(stream.end_position());
  for (const LiveBlock& block : state.slots()) {
    const auto heap = of_heap.find(block.heap);
    if (!block.is_live() || !block.has_address() || heap == of_heap.end()) continue;
    Holding& holding = seen.holdings[heap->second];
    if (holding.has_addresses) holding.blocks.emplace_back(block.address, block.size);
    if (block.size >= telling_bytes_min) holding.sizes.push_back(size_class_of(block));
  }
  for (Holding& holding : seen.holdings) {
    std::sort(holding.blocks.begin(), holding.blocks.end());
    std::sort(holding.sizes.begin(), holding.sizes.end());
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

template <class Value>
std::vector<Value> common_of(const std::vector<Value>& one, const std::vector<Value>& other) {
  std::vector<Value> common;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(common));
  return common;
}

bool has_same_blocks(const Holding& one, const Holding& other) {
  const std::size_t common = common_of(one.blocks, other.blocks).size();
  return common >= common_min && 2 * common >= std::min(one.blocks.size(), other.blocks.size());
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

// One of them has no addresses.
bool has_same_sizes(const Holding& one, const Holding& other) {
  if (one.has_addresses == other.has_addresses) return false;
  const std::vector<std::uint64_t> shared = common_of(one.sizes, other.sizes);
  const Holding& listing = one.has_addresses ? other : one;
  return shared.size() >= std::min(common_min, listing.sizes.size()) && !shared.empty() &&
         2 * sum_of(shared) >= sum_of(listing.sizes);
}

bool failed_alike(const Seen& one, const Seen& other) {
  return std::any_of(one.failed.begin(), one.failed.end(), [&](const auto& a) {
    return std::any_of(other.failed.begin(), other.failed.end(),
                       [&](const auto& b) { return is_same_device(a.first, b.first) && is_about(a.second, b.second); });
  });
}

bool is_same_memory(const Seen& one, const Seen& other) {
  const bool can_compare_addresses = one.has_addresses && other.has_addresses;
  if (!can_compare_addresses && failed_alike(one, other)) return true;
  return std::any_of(one.holdings.begin(), one.holdings.end(), [&](const Holding& a) {
    return std::any_of(other.holdings.begin(), other.holdings.end(), [&](const Holding& b) {
      if (a.is_host != b.is_host || !is_same_device(a.device, b.device)) return false;
      return can_compare_addresses ? has_same_blocks(a, b) : has_same_sizes(a, b);
    });
  });
}

}  // namespace

bool is_about(std::uint64_t one, std::uint64_t other) {
  constexpr std::uint64_t percent = 100;
  return std::max(one, other) - std::min(one, other) <= std::max(one, other) / percent;
}

bool can_share_memory(const HeapInfo& one, const HeapInfo& other) {
  const auto is_of_process = [](const HeapInfo& heap) { return heap.id != 0 && heap.layer != wire::Layer::program; };
  return is_of_process(one) && is_of_process(other) && is_same_device(one.device, other.device) &&
         is_host_kind(one.memory_kind) == is_host_kind(other.memory_kind);
}

bool is_matched_by_size(const HeapInfo& one, const HeapInfo& other) {
  return !one.has(wire::heap_flag::has_addresses) || !other.has(wire::heap_flag::has_addresses);
}

bool can_be_same(const LiveBlock& one, const LiveBlock& other) {
  if (one.requested != wire::unknown_bytes && other.requested != wire::unknown_bytes)
    return one.requested == other.requested;
  return size_class_of(one) == size_class_of(other);
}

std::uint64_t size_class_of(const LiveBlock& block) {
  constexpr std::uint64_t step = 512;  // XLA's BFC allocator rounds up to 256 B, its TPU runtime and PyTorch to 512.
  return (std::min(block.size, block.requested) + step - 1) / step;
}

namespace {

// Numbers in the order of their first streams.
std::vector<std::uint32_t> renumbered(const std::vector<std::uint32_t>& processes) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> renumbered;
  for (const std::uint32_t process : processes)
    renumbered.push_back(numbers.try_emplace(process, static_cast<std::uint32_t>(numbers.size())).first->second);
  return renumbered;
}

// Takes streams one after the other.
class Recognizer {
 public:
  explicit Recognizer(const std::vector<Seen>& seen) : seen_(seen), processes_(seen.size()) {}

  void take(std::size_t stream) {
    const Seen& now = seen_[stream];
    const auto known = now.pid.empty() ? of_pid_.end() : of_pid_.find(now.pid);
    const std::optional<std::uint32_t> process = known != of_pid_.end() ? std::optional(known->second) : find(now);
    processes_[stream] = process.value_or(static_cast<std::uint32_t>(sources_.size()));
    if (!process) sources_.emplace_back();
    sources_[*processes_[stream]].insert(now.source);
    if (!now.pid.empty()) of_pid_.emplace(now.pid, *processes_[stream]);
  }
  std::vector<std::uint32_t> result() const {
    std::vector<std::uint32_t> processes;
    for (const auto& process : processes_) processes.push_back(*process);
    return renumbered(processes);
  }

 private:
  std::optional<std::uint32_t> find(const Seen& now) const {
    std::optional<std::uint32_t> again;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const bool may_be_same = processes_[i] && (now.pid.empty() || seen_[i].pid.empty());
      if (!may_be_same || !is_same_memory(now, seen_[i])) continue;
      if (!sources_[*processes_[i]].contains(now.source)) return processes_[i];
      // A second profile of a process, saved at another time, if no other process is left for it.
      if (!now.has_addresses && seen_[i].has_addresses && !again) again = processes_[i];
    }
    return again;
  }

  const std::vector<Seen>& seen_;
  std::vector<std::optional<std::uint32_t>> processes_;  // By stream.
  std::vector<std::set<std::string>> sources_;           // By process.
  std::map<std::string, std::uint32_t> of_pid_;
};

}  // namespace

std::vector<std::uint32_t> find_processes(const Trace& trace) {
  const bool with_memory = can_be_recognised(trace);
  std::vector<Seen> seen;
  for (const Stream& stream : trace.streams) seen.push_back(see(stream, with_memory));
  Recognizer recognizer(seen);
  // Lists of arrays last: they are compared with what has addresses.
  for (const bool has_addresses : {true, false})
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i].has_addresses == has_addresses) recognizer.take(i);
  return recognizer.result();
}

std::string process_of(const Trace& trace, std::size_t stream) {
  if (!trace.stream_processes.empty()) return fmt::format("process {}", trace.stream_processes[stream]);
  const std::string pid = pid_of(trace.streams[stream].definitions());
  return pid.empty() ? fmt::format("stream {}", stream) : pid;
}

}  // namespace hbmscope
