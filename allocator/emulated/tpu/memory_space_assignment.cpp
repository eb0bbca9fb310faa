#include "allocator/emulated/tpu/memory_space_assignment.h"

#include <algorithm>
#include <cmath>

#include "allocator/emulated/tpu/copy_queue.h"
#include "allocator/emulated/tpu/heap_packing.h"
#include "allocator/emulated/tpu/interval_picker.h"
#include "allocator/emulated/tpu/placed_chunks.h"

namespace hbmscope::allocator::tpu {
namespace {

// A file may state any time. Sums over a million operations must stay below 2^64.
constexpr std::uint64_t operation_ns_most = std::uint64_t{1} << 43;

std::vector<std::uint64_t> sums_before(const AssignmentProblem& problem) {
  std::vector<std::uint64_t> sums = {0};
  for (const ScheduledOperation& operation : problem.operations)
    sums.push_back(sums.back() + std::min(elapsed_ns(operation, 0, problem.bytes_per_second), operation_ns_most));
  return sums;
}

// The changes made for one value, so that they can be undone.
struct Trial {
  std::vector<Residence> residences;
  std::vector<bool> is_use_in_vmem;
  std::vector<std::int32_t> chunks;
  bool lacks_space = false;  // For some use there was no free space.
};

class Assigner {
 public:
  Assigner(const AssignmentProblem& problem, Work* work)
      : problem_(problem),
        work_(work),
        options_(problem.options),
        elapsed_before_(sums_before(problem)),
        intervals_(problem, elapsed_before_),
        prefetches_(elapsed_before_, options_.prefetches_max),
        evictions_(elapsed_before_, options_.evictions_max) {}

  Assignment run() {
    const std::size_t count = problem_.values.size();
    out_.is_use_in_vmem.resize(count);
    out_.is_defined_in_vmem.resize(count);
    out_.needs_hbm.resize(count);
    std::vector<bool> is_done(count, !options_.is_on || problem_.capacity_bytes == 0);
    if (options_.prefetches_across_programs) cross_programs(is_done);
    for (const std::uint32_t value : turns()) {
      if (is_over()) break;
      if (!is_done[value]) place(value);
    }
    std::stable_sort(out_.residences.begin(), out_.residences.end(), [](const Residence& a, const Residence& b) {
      return a.value != b.value ? a.value < b.value : a.begin < b.begin;
    });
    note_hbm();
    sum_up();
    return std::move(out_);
  }

 private:
  bool spend(std::uint64_t steps) const { return work_ == nullptr || work_->spend(steps); }
  bool is_over() const { return work_ != nullptr && work_->is_over(); }
  std::int64_t end_of_program() const { return static_cast<std::int64_t>(problem_.operations.size()); }
  std::uint64_t ns_of(std::uint32_t value) const {
    return copy_ns(problem_.values[value].bytes, problem_.bytes_per_second);
  }

  // The order.

  // If the operation waits for memory: how far it is from waiting for computation, which is what having this value in
  // VMEM saves. If it waits for computation: how far it is from waiting for memory (negative).
  double gain_at(std::int64_t time, std::uint64_t bytes) const {
    const ScheduledOperation& operation = problem_.operations[static_cast<std::size_t>(time)];
    const auto memory = static_cast<double>(copy_ns(operation.bytes, problem_.bytes_per_second));
    const auto compute = static_cast<double>(operation.compute_ns);
    return memory > compute ? static_cast<double>(copy_ns(bytes, problem_.bytes_per_second)) : memory - compute;
  }

  double boundedness(const AssignableValue& value) const {
    double most = value.defined_at < 0 ? 0 : gain_at(value.defined_at, value.bytes);
    for (const ValueUse& use : value.uses)
      if (use.time < end_of_program()) most = std::max(most, gain_at(use.time, value.bytes));
    return most / std::sqrt(static_cast<double>(value.bytes));
  }

  std::vector<std::uint32_t> turns() const {
    std::vector<std::uint32_t> order;
    std::vector<double> gains(problem_.values.size());
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const AssignableValue& value = problem_.values[i];
      if (value.bytes == 0 || value.bytes > problem_.capacity_bytes || value.uses.empty()) continue;
      order.push_back(i);
      gains[i] = boundedness(value);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
      const AssignableValue &a = problem_.values[one], &b = problem_.values[other];
      if (gains[one] != gains[other]) return gains[one] > gains[other];
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      const std::int64_t a_last = a.uses.back().time, b_last = b.uses.back().time;
      if (a_last - a.defined_at != b_last - b.defined_at) return a_last - a.defined_at > b_last - b.defined_at;
      return a_last < b_last;
    });
    return order;
  }

  // Free space.

  std::uint64_t rounded_up(std::uint64_t offset) const {
    return (offset + problem_.alignment - 1) / problem_.alignment * problem_.alignment;
  }

  // The offset of the smallest free gap that holds it; no value: none does.
  std::optional<std::uint64_t> find_offset(std::uint64_t bytes, std::int64_t begin, std::int64_t end) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    const std::uint64_t looked_at = chunks_.for_each_alive(
        begin, end, [&](const PlacedChunks::Chunk& chunk) { taken.emplace_back(chunk.offset, chunk.offset_end); });
    spend(looked_at + taken.size() * Work::steps_of_sorting + 1);
    std::sort(taken.begin(), taken.end());
    taken.emplace_back(problem_.capacity_bytes, problem_.capacity_bytes);
    std::optional<std::uint64_t> best;
    std::uint64_t best_size = 0, free_from = 0;
    for (const auto& [offset, offset_end] : taken) {
      const std::uint64_t at = rounded_up(free_from);
      if (at + bytes <= offset && (!best || offset - free_from < best_size)) {
        best = at;
        best_size = offset - free_from;
      }
      free_from = std::max(free_from, offset_end);
    }
    return best;
  }

  bool is_free(std::uint64_t offset, std::uint64_t bytes, std::int64_t begin, std::int64_t end) const {
    bool is_free = true;
    const std::uint64_t looked_at = chunks_.for_each_alive(begin, end, [&](const PlacedChunks::Chunk& chunk) {
      is_free = is_free && (chunk.offset >= offset + bytes || chunk.offset_end <= offset);
    });
    spend(looked_at);
    return is_free;
  }

  void take(Trial& trial, std::uint64_t offset, std::uint64_t bytes, std::int64_t begin, std::int64_t end) {
    trial.chunks.push_back(chunks_.add({begin, end, offset, offset + bytes}));
  }

  // The offset at which it can stay for the most uses from `use` on; no value: not even for that use.
  std::optional<std::uint64_t> find_longest(const AssignableValue& value, std::int64_t begin, std::size_t use) const {
    std::optional<std::uint64_t> best = find_offset(value.bytes, begin, value.uses[use].time);
    if (!best) return std::nullopt;
    std::size_t last = use;
    while (last + 1 < value.uses.size() && !value.uses[last + 1].needs_hbm &&
           intervals_.may_stay(value.uses[last].time, value.uses[last + 1].time))
      ++last;
    // An offset that holds it for longer also holds it for less: the last use with an offset is between these.
    for (std::size_t fits = use, behind = last + 1; behind - fits > 1;) {
      const std::size_t middle = behind == last + 1 ? last : fits + (behind - fits) / 2;
      if (const auto offset = find_offset(value.bytes, begin, value.uses[middle].time)) {
        best = offset;
        fits = middle;
      } else {
        behind = middle;
      }
    }
    return best;
  }

  // One value.

  void place(std::uint32_t number) {
    Trial trial;
    try_all(number, trial);
    if (trial.lacks_space && out_.repacks < options_.repacks_max) {
      undo(trial);
      ++out_.repacks;
      repack();
      trial = {};
      try_all(number, trial);
    }
    for (const Residence& residence : trial.residences) out_.residences.push_back(residence);
    out_.is_use_in_vmem[number] = std::move(trial.is_use_in_vmem);
  }

  // The last try is from HBM, which can't fail: a value that never begins in VMEM needs no eviction.
  void try_all(std::uint32_t number, Trial& trial) {
    bool lacks_space = false;
    for (std::uint32_t retry = 0; retry < std::max(options_.retries_max, 1U); ++retry) {
      trial = {};
      if (try_value(number, true, retry, trial)) return;
      lacks_space = lacks_space || trial.lacks_space;
      undo(trial);
    }
    trial = {};
    try_value(number, false, 0, trial);
    trial.lacks_space = trial.lacks_space || lacks_space;
  }

  // False: a value that began in VMEM can't be evicted in time.
  bool try_value(std::uint32_t number, bool may_begin_here, std::uint32_t retry, Trial& trial) {
    const AssignableValue& value = problem_.values[number];
    trial.is_use_in_vmem.assign(value.uses.size(), false);
    std::optional<std::int64_t> in_hbm_after;  // It is in HBM from the end of this operation on.
    if (value.is_defined_in_hbm || value.defined_at < 0 || !may_begin_here) in_hbm_after = value.defined_at;
    std::int64_t before = value.defined_at;
    for (std::size_t i = 0; i < value.uses.size() && !is_over(); before = value.uses[i].time, ++i) {
      const bool is_here = i == 0 ? !in_hbm_after : static_cast<bool>(trial.is_use_in_vmem[i - 1]);
      if (!value.uses[i].needs_hbm && is_here && stay(number, i, before, trial)) {
        trial.is_use_in_vmem[i] = true;
        continue;
      }
      if (!in_hbm_after && trial.residences.empty()) in_hbm_after = value.defined_at;
      if (!in_hbm_after) {
        if (!evict(number, value.uses[i].time, retry, trial)) return false;
        in_hbm_after = trial.residences.back().out->before;
      }
      if (!value.uses[i].needs_hbm && prefetch(number, i, std::max(before, *in_hbm_after), trial))
        trial.is_use_in_vmem[i] = true;
    }
    return true;
  }

  bool stay(std::uint32_t number, std::size_t use, std::int64_t before, Trial& trial) {
    const AssignableValue& value = problem_.values[number];
    const std::int64_t time = value.uses[use].time;
    if (!intervals_.may_stay(before, time)) return false;
    if (trial.residences.empty()) {
      const auto offset = find_longest(value, value.defined_at, use);
      trial.lacks_space = trial.lacks_space || !offset;
      if (!offset) return false;
      take(trial, *offset, value.bytes, value.defined_at, time);
      trial.residences.push_back({number, *offset, value.defined_at, time, {}, {}, false, false});
      return true;
    }
    Residence& last = trial.residences.back();
    if (!is_free(last.offset, value.bytes, last.end + 1, time)) return false;
    take(trial, last.offset, value.bytes, last.end + 1, time);
    last.end = time;
    return true;
  }

  bool evict(std::uint32_t number, std::int64_t use, std::uint32_t retry, Trial& trial) {
    Residence& last = trial.residences.back();
    const std::uint64_t bytes = problem_.values[number].bytes, ns = ns_of(number);
    std::int64_t end = std::min(std::max(intervals_.preferred_eviction_end(ns, last.begin, use, retry), last.end), use);
    while (end > last.end && !is_over() && !is_free(last.offset, bytes, last.end + 1, end)) --end;
    const SpaceCopy copy{last.begin, end, ns};
    spend(evictions_.size());
    if (copy.before <= copy.after || !evictions_.has_bandwidth(copy) || evictions_.is_crowded(copy)) return false;
    if (end > last.end) take(trial, last.offset, bytes, last.end + 1, end);
    last.end = end;
    last.out = copy;
    evictions_.add(copy);
    return true;
  }

  bool prefetch(std::uint32_t number, std::size_t use, std::int64_t earliest, Trial& trial) {
    const AssignableValue& value = problem_.values[number];
    const std::int64_t time = value.uses[use].time;
    const ScheduledOperation& operation = problem_.operations[static_cast<std::size_t>(time)];
    const std::uint64_t bandwidth = problem_.bytes_per_second, ns = ns_of(number);
    const std::uint64_t saved = elapsed_ns(operation, 0, bandwidth) - elapsed_ns(operation, value.bytes, bandwidth);
    for (const std::int64_t start : intervals_.prefetch_starts(ns, saved, earliest, time)) {
      const SpaceCopy copy{start, time, ns};
      if (!spend(1 + prefetches_.size())) return false;
      if (!prefetches_.has_bandwidth(copy) || prefetches_.is_crowded(copy)) continue;
      const auto offset = find_longest(value, start + 1, use);
      if (!offset) {
        trial.lacks_space = true;
        continue;
      }
      take(trial, *offset, value.bytes, start + 1, time);
      trial.residences.push_back({number, *offset, start + 1, time, copy, {}, false, false});
      prefetches_.add(copy);
      return true;
    }
    return false;
  }

  void undo(const Trial& trial) {
    for (const std::int32_t chunk : trial.chunks) chunks_.remove(chunk);
    for (const Residence& residence : trial.residences) {
      if (residence.in) prefetches_.remove(*residence.in);
      if (residence.out) evictions_.remove(*residence.out);
    }
  }

  // Repacks everything that is placed, the longest first, as the original's repacker does.
  void repack() {
    std::vector<PackedBuffer> buffers;
    for (std::uint32_t i = 0; i < out_.residences.size(); ++i) {
      const Residence& residence = out_.residences[i];
      buffers.push_back({problem_.values[residence.value].bytes, residence.begin, residence.end, true, {}});
      if (!residence.is_for_next_run || residence.is_from_last_run) continue;
      buffers.back().needs_place = false;  // Fetched again at the end, to the offset of the previous residence.
      buffers[i - 1].colocations.push_back(i);
    }
    const PackedHeap packed = pack_heap(buffers, PackingOrder::temporal, problem_.alignment, work_);
    if (is_over()) return;
    if (packed.size > problem_.capacity_bytes) return;
    chunks_ = {};
    for (std::size_t i = 0; i < out_.residences.size(); ++i) {
      Residence& residence = out_.residences[i];
      residence.offset = packed.offsets[i];
      chunks_.add({residence.begin, residence.end, residence.offset,
                   residence.offset + problem_.values[residence.value].bytes});
    }
  }

  // Across programs.

  void cross_programs(std::vector<bool>& is_done) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const AssignableValue& value = problem_.values[i];
      const bool stays_here =
          std::none_of(value.uses.begin(), value.uses.end(), [](const ValueUse& use) { return use.needs_hbm; });
      if (!is_done[i] && value.can_cross_programs && value.bytes > 0 && !value.uses.empty() && stays_here &&
          value.bytes <= problem_.capacity_bytes)
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
      const AssignableValue &a = problem_.values[one], &b = problem_.values[other];
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      if (made_by_uses(a) != made_by_uses(b)) return made_by_uses(a) > made_by_uses(b);
      return a.uses.back().time < b.uses.back().time;
    });
    most_alive_ = most_alive();
    std::uint32_t chosen = 0;
    for (const std::uint32_t value : order) {
      if (chosen == options_.cross_program_prefetches_max || is_over()) return;
      if (!keep_across(value)) continue;
      is_done[value] = true;
      ++chosen;
    }
  }

  std::uint64_t made_by_uses(const AssignableValue& value) const {
    std::uint64_t elements = 0;
    for (const ValueUse& use : value.uses) elements += problem_.operations[static_cast<std::size_t>(use.time)].elements;
    return elements;
  }

  bool keep_across(std::uint32_t number) {
    const AssignableValue& value = problem_.values[number];
    const std::int64_t last = value.uses.back().time, end = end_of_program();
    const auto offset = find_offset(value.bytes, 0, end);
    if (!offset) return false;
    Residence kept{number, *offset, 0, end, SpaceCopy{-1, value.uses.front().time, ns_of(number)}, {}, true, true};
    const auto again = refetch(number);
    if (again) {
      kept.end = last;
      kept.is_for_next_run = false;
    }
    chunks_.add({kept.begin, kept.end, *offset, *offset + value.bytes});
    out_.residences.push_back(kept);
    if (again) {
      prefetches_.add(*again);
      chunks_.add({again->after + 1, end, *offset, *offset + value.bytes});
      out_.residences.push_back({number, *offset, again->after + 1, end, *again, {}, false, true});
    }
    out_.is_use_in_vmem[number].assign(value.uses.size(), true);
    return true;
  }

  // The copy at the end of the program, if it is worth freeing the bytes between the last use and that copy: VMEM is
  // too small for everything that is live at once, and the value would hold its bytes for less than 0.6 of the program.
  std::optional<SpaceCopy> refetch(std::uint32_t number) const {
    constexpr double held_most = 0.6;
    const std::int64_t last = problem_.values[number].uses.back().time, end = end_of_program();
    if (!options_.frees_across_programs || most_alive_ <= problem_.capacity_bytes) return std::nullopt;
    const auto starts = intervals_.prefetch_starts(ns_of(number), 0, last, end);
    if (starts.empty() || starts.front() <= last) return std::nullopt;
    const SpaceCopy copy{starts.front(), end, ns_of(number)};
    const std::uint64_t held = intervals_.elapsed_between(-1, last) + intervals_.elapsed_between(copy.after, end);
    if (static_cast<double>(held) >= held_most * static_cast<double>(elapsed_before_.back())) return std::nullopt;
    if (!prefetches_.has_bandwidth(copy) || prefetches_.is_crowded(copy)) return std::nullopt;
    return copy;
  }

  std::uint64_t most_alive() const {
    std::vector<std::uint64_t> begins(problem_.operations.size() + 2), ends(problem_.operations.size() + 2);
    for (const AssignableValue& value : problem_.values) {
      begins[static_cast<std::size_t>(value.defined_at + 1)] += value.bytes;
      ends[static_cast<std::size_t>((value.uses.empty() ? value.defined_at : value.uses.back().time) + 1)] +=
          value.bytes;
    }
    std::uint64_t alive = 0, most = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      alive += begins[i];
      most = std::max(most, alive);
      alive -= ends[i];
    }
    return most;
  }

  // Results.

  void note_hbm() {
    for (std::size_t i = 0; i < out_.residences.size(); ++i) {
      const Residence& each = out_.residences[i];
      const bool is_first = i == 0 || out_.residences[i - 1].value != each.value;
      if (is_first && !each.in) out_.is_defined_in_vmem[each.value] = true;
      if (each.out) out_.needs_hbm[each.value] = true;
    }
    for (std::uint32_t value = 0; value < problem_.values.size(); ++value) {
      auto& in_vmem = out_.is_use_in_vmem[value];
      in_vmem.resize(problem_.values[value].uses.size());
      if (!out_.is_defined_in_vmem[value] || std::find(in_vmem.begin(), in_vmem.end(), false) != in_vmem.end())
        out_.needs_hbm[value] = true;
    }
  }

  void sum_up() {
    for (const Residence& residence : out_.residences) {
      const std::uint64_t bytes = problem_.values[residence.value].bytes;
      out_.heap_bytes = std::max(out_.heap_bytes, residence.offset + bytes);
      const bool is_across = residence.is_from_last_run || residence.is_for_next_run;
      if (residence.in && !is_across) {
        ++out_.prefetches;
        out_.prefetched_bytes += bytes;
      }
      if (residence.out) {
        ++out_.evictions;
        out_.evicted_bytes += bytes;
      }
    }
  }

  const AssignmentProblem& problem_;
  Work* const work_;
  const AssignmentOptions& options_;
  const std::vector<std::uint64_t> elapsed_before_;
  const CopyIntervals intervals_;
  CopyQueue prefetches_, evictions_;
  PlacedChunks chunks_;
  std::uint64_t most_alive_ = 0;  // The most bytes of all values that are live at one time.
  Assignment out_;
};

}  // namespace

std::uint64_t copy_ns(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(bytes) / static_cast<double>(bytes_per_second) * 1e9));
}

std::uint64_t elapsed_ns(const ScheduledOperation& operation, std::uint64_t bytes_in_vmem,
                         std::uint64_t bytes_per_second) {
  const std::uint64_t bytes = operation.bytes - std::min(operation.bytes, bytes_in_vmem);
  return std::max(operation.compute_ns, copy_ns(bytes, bytes_per_second));
}

Assignment assign_memory_spaces(const AssignmentProblem& problem, Work* work) {
  return Assigner(problem, work).run();
}

}  // namespace hbmscope::allocator::tpu
