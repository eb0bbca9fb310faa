#include "analysis/diagnose/pool_costs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "analysis/diagnose/savings_pool.h"

namespace hbmscope {
namespace {

using allocator::LiftedRules;

struct CostRow {
  PoolCost cost;
  std::string_view text, name, explanation;
};
constexpr CostRow rows[] = {
    {PoolCost::kept, "kept by the pool", "kept",
     "Saved if the pool gave back at once whatever has no block in it, at its end or as a segment."},
    {PoolCost::pending, "pending frees", "pending",
     "Freed by the program while another stream was still using it (record_stream)."},
    {PoolCost::private_pools, "private pools", "private_pools",
     "Free blocks in the pools of graphs and MemPools serve no other request."},
    {PoolCost::other_streams, "other streams", "other_streams",
     "Free blocks of one stream don't serve the requests of another one."},
    {PoolCost::wrong_end, "wrong end", "wrong_end",
     "Free blocks at one end of the pool don't serve the memory space of the other end."},
    {PoolCost::unsplit, "unsplit remainders", "unsplit",
     "Blocks are larger than needed: what remained was too little to be split off."},
    {PoolCost::rounding, "rounding", "rounding", "Requests are rounded up to the allocator's step."},
    {PoolCost::fragmentation, "holes", "fragmentation",
     "What is left without these rules: free memory between blocks and at the ends of their segments."},
};
const CostRow& row_of(PoolCost cost) {
  return rows[static_cast<std::size_t>(cost)];
}

void lift(LiftedRules& rules, PoolCost cost) {
  switch (cost) {
    case PoolCost::kept: rules.kept = true; break;
    case PoolCost::private_pools: rules.private_pools = true; break;
    case PoolCost::other_streams: rules.streams = true; break;
    case PoolCost::wrong_end: rules.ends = true; break;
    case PoolCost::unsplit: rules.unsplit = true; break;
    case PoolCost::rounding: rules.rounding = true; break;
    case PoolCost::pending:  // A matter of the requests, not of the allocator.
    case PoolCost::fragmentation: break;
  }
}

// The rules that this allocator has, and these requests could meet. Empty if it is an allocator without such rules.
std::vector<PoolCost> find_rules(const allocator::AllocatorOptions& options, const DeviceRequests& requests) {
  std::vector<PoolCost> found;
  if (std::holds_alternative<allocator::pytorch::Options>(options)) {
    found.push_back(PoolCost::kept);
    if (!requests.program_frees.empty()) found.push_back(PoolCost::pending);
    if (requests.private_pools > 0) found.push_back(PoolCost::private_pools);
    if (requests.streams > 1) found.push_back(PoolCost::other_streams);
  } else if (const auto* xla = std::get_if<allocator::xla_gpu::Options>(&options)) {
    found.push_back(PoolCost::kept);
    if (allocator::xla_gpu::rules_of(xla->version).is_spatial) found.push_back(PoolCost::wrong_end);
  } else {
    return {};
  }
  found.push_back(PoolCost::unsplit);
  found.push_back(PoolCost::rounding);
  return found;
}

class Costs {
 public:
  // `source` has rules.
  Costs(const Trace& trace, WhatIfSource source, std::vector<PoolCost> rules, PassControl& control)
      : source_(std::move(source)),
        rules_(std::move(rules)),
        stream_(trace.streams[source_.requests.trace_stream]),
        control_(control) {
    // A request that failed must also fail where it would have fit: the job went on without it, and the allocator had
    // done what it does before it refuses.
    for (const auto& [operation, event] : source_.requests.failures)
      source_.requests.stream.operations[operation].request.bytes = allocator::request_bytes_max;
  }

  std::vector<PoolCosts> compute(std::span<const std::uint64_t> positions) {
    const std::vector<std::uint64_t>& all = source_.requests.positions;
    for (const std::uint64_t position : positions)
      sample_after_.push_back(
          static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), position) - all.begin()));
    for (const DeviceRequests::ProgramFree& one : source_.requests.program_frees) {
      // Where a time is sampled before the same operation, the order of the two events decides.
      const auto sampled = std::lower_bound(sample_after_.begin(), sample_after_.end(), one.free.before_operation);
      early_frees_.push_back(one.free);
      if (sampled != sample_after_.end() && *sampled == one.free.before_operation)
        early_frees_.back().is_after_samples =
            positions[static_cast<std::size_t>(sampled - sample_after_.begin())] < one.position;
    }
    // None lifted, then the first rule, the first two, ...; and each of the others alone.
    std::vector<std::vector<PoolCost>> lifted = {{}};
    for (std::size_t i = 1; i <= rules_.size(); ++i) lifted.emplace_back(rules_.begin(), rules_.begin() + i);
    for (std::size_t i = 1; i < rules_.size(); ++i) lifted.push_back({rules_[i]});
    const std::uint64_t operations = sample_after_.empty() ? 0 : sample_after_.back();
    control_.done_events = 0;
    control_.total_events = operations * lifted.size();
    std::vector<std::vector<allocator::ReplaySample>> samples(lifted.size());
    run_on_all_cores(lifted.size(), control_, [&](std::size_t i) {
      samples[i] = play(lifted[i], operations);
      control_.done_events += operations;
    });
    if (control_.cancelled) return {};
    std::vector<PoolCosts> found;
    for (std::size_t time = 0; time < positions.size(); ++time)
      found.push_back(costs_at(time, positions[time], samples));
    return found;
  }

 private:
  std::vector<allocator::ReplaySample> play(const std::vector<PoolCost>& lifted, std::uint64_t operations) const {
    const Scenario own = own_scenario(source_.own).value();
    allocator::AllocatorOptions options = own.options;
    allocator::PlayOptions how{own.upstream};
    for (const PoolCost cost : lifted) {
      if (cost == PoolCost::pending) how.early_frees = early_frees_;
      if (auto* torch = std::get_if<allocator::pytorch::Options>(&options)) lift(torch->lifted, cost);
      if (auto* xla = std::get_if<allocator::xla_gpu::Options>(&options)) lift(xla->lifted, cost);
    }
    how.operations_max = operations;
    how.sample_after = sample_after_;
    how.cancelled = &control_.cancelled;
    auto samples = allocator::play(source_.requests.stream, options, how).samples;
    samples.resize(sample_after_.size(), samples.empty() ? allocator::ReplaySample{} : samples.back());
    return samples;
  }

  PoolCosts costs_at(std::size_t time, std::uint64_t position,
                     const std::vector<std::vector<allocator::ReplaySample>>& samples) const {
    const auto pool_of = [&](std::size_t replay) {
      return static_cast<std::int64_t>(samples[replay][time].pool_bytes);
    };
    const std::uint64_t operation = sample_after_[time];
    PoolCosts costs;
    costs.position = position;
    if (operation > 0 && stream_.has_times())
      costs.since_start_ns = stream_.since_start_ns(source_.requests.stream.origins[operation - 1].time_ns);
    costs.pool_bytes = samples[0][time].pool_bytes;
    // As recorded: a replay without some rules may place blocks so that a later request is refused.
    const auto pending = std::find(rules_.begin(), rules_.end(), PoolCost::pending);
    const std::size_t as_recorded =
        pending == rules_.end() ? 0 : alone_replay(static_cast<std::size_t>(pending - rules_.begin()));
    costs.requested_bytes = samples[as_recorded][time].requested_bytes;
    costs.recorded_pool_bytes = recorded_pool_bytes(position, operation);
    const bool serves_the_same = std::all_of(samples.begin(), samples.end(), [&](const auto& replay) {
      return replay[time].refused == samples[0][time].refused;
    });
    const bool is_same = serves_the_same && source_.is_checked() && costs.recorded_pool_bytes == costs.pool_bytes;
    costs.confidence = is_same && source_.requests.lived_before == 0 ? Confidence::checked : Confidence::approximate;
    for (std::size_t i = 0; i < rules_.size(); ++i)
      costs.parts.push_back({rules_[i], pool_of(i) - pool_of(i + 1), pool_of(0) - pool_of(alone_replay(i))});
    costs.parts.push_back(
        {PoolCost::fragmentation, pool_of(rules_.size()) - static_cast<std::int64_t>(costs.requested_bytes), 0});
    return costs;
  }

  // The number of the replay with only this rule lifted.
  std::size_t alone_replay(std::size_t rule) const { return rule == 0 ? 1 : rules_.size() + rule; }

  // A region that comes for an operation after the position is not counted: the replay doesn't have it yet.
  std::optional<std::uint64_t> recorded_pool_bytes(std::uint64_t position, std::uint64_t operations) const {
    const allocator::RecordedPlaces& places = source_.requests.places;
    if (places.regions_before.empty() && places.regions.empty()) return std::nullopt;
    std::uint64_t bytes = 0;
    for (const allocator::Claim& region : places.regions_before) bytes += region.bytes;
    for (const allocator::RecordedPlaces::Region& region : places.regions) {
      if (region.position > position) break;
      if (region.is_released)
        bytes -= region.claim.bytes;
      else if (region.operation < operations)
        bytes += region.claim.bytes;
    }
    return bytes;
  }

  WhatIfSource source_;
  const std::vector<PoolCost> rules_;
  const Stream& stream_;
  PassControl& control_;
  std::vector<std::uint64_t> sample_after_;
  std::vector<allocator::EarlyFree> early_frees_;
};

}  // namespace

std::string_view text_from_pool_cost(PoolCost cost) {
  return row_of(cost).text;
}
std::string_view name_from_pool_cost(PoolCost cost) {
  return row_of(cost).name;
}
std::string_view explanation_of(PoolCost cost) {
  return row_of(cost).explanation;
}

std::vector<std::uint64_t> positions_over_time(std::uint64_t end, std::uint64_t now, std::size_t count) {
  std::vector<std::uint64_t> positions = {now};
  for (std::size_t i = 1; i <= count; ++i)
    positions.push_back(
        static_cast<std::uint64_t>(static_cast<double>(end) * static_cast<double>(i) / static_cast<double>(count)));
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

Result<std::vector<PoolCosts>> compute_pool_costs(const Trace& trace, HeapKey heap,
                                                  std::span<const std::uint64_t> positions, PassControl& control) {
  if (trace.streams[heap.stream].end_position() > quick_events_max)
    return Failure(Error{"more than five million events", "Record a shorter part of the job.", {}, {}, {}});
  auto source = find_pool_source(trace, heap);
  if (!source) return Failure(source.error());
  const DeviceRequests& requests = source->requests;
  if (source->is_text) return Failure(Error{"a log has no requests to replay", "", {}, {}, {}});
  if (requests.lived_before > 0 &&
      requests.stream.operations.size() <= requests.lived_before + 2 * requests.failures.size())
    return Failure(Error{"the source lists blocks, but not the requests before", "", {}, {}, {}});
  std::vector<PoolCost> rules = find_rules(own_scenario(source->own)->options, source->requests);
  if (rules.empty()) return Failure(Error{"the allocator has no pool", "", {}, {}, {}});
  return Costs(trace, std::move(*source), std::move(rules), control).compute(positions);
}

}  // namespace hbmscope
