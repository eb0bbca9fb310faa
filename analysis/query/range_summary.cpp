#include "analysis/query/range_summary.h"
#include "analysis/units/format.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/query/trace_user_code.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/pass_from.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

class RangeMeter {
 public:
  RangeMeter(const Trace& trace, PassControl* control, std::optional<HeapKey> only)
      : trace_(trace), counted_(find_counted_heaps(trace)), control_(control) {
    if (!only) return;
    for (std::vector<bool>& heaps : counted_) std::fill(heaps.begin(), heaps.end(), false);
    counted_[only->stream][only->heap] = true;
  }

  // Returns false if it was cancelled.
  bool add(std::size_t number, const StreamState& from, const StreamState& to) {
    const Stream& stream = trace_.streams[number];
    std::unordered_map<std::uint32_t, RangeSums> sums;  // By stack.
    const auto go_on = [this](std::uint64_t events) {
      if (control_ == nullptr) return true;
      control_->done_events += events;
      return !control_->cancelled;
    };
    StreamState state = from;
    const bool is_whole =
        pass_over_heaps_from(stream, state, to.position(), go_on,
                             [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock&) {
                               if (!counted_[number][change.heap]) return;
                               if (change.what == HeapChange::What::allocated) {
                                 sums[change.allocated.stack].allocated.add(possible_size(change.allocated));
                               } else if (change.what == HeapChange::What::freed) {
                                 sums[change.block->stack].freed.add(change.block->size);
                                 if (!is_since(*change.block, from)) summary_.freed_older.add(change.block->size);
                               }
                             });
    if (!is_whole) return false;
    for (const LiveBlock& block : to.slots())
      if (counted_[number][block.heap] && is_since(block, from)) sums[block.stack].survived.add(block.size);
    for (const HeapInfo& heap : stream.definitions().heaps())
      if (counted_[number][heap.id])
        summary_.in_use_delta_bytes = clamped_sum(
            summary_.in_use_delta_bytes,
            clamped_difference(signed_from(to.in_use_bytes(heap.id)), signed_from(from.in_use_bytes(heap.id))));
    for (const auto& [stack, sum] : sums) {
      summary_.stacks.push_back({number, stack, sum});
      summary_.total.add(sum);
    }
    return true;
  }

  RangeSummary finish() {
    summary_.other_delta_bytes = clamped_difference(summary_.in_use_delta_bytes, summary_.total.net_bytes());
    std::sort(summary_.stacks.begin(), summary_.stacks.end(), [](const RangeStackRow& a, const RangeStackRow& b) {
      const auto key = [](const RangeStackRow& row) {
        return std::tuple(-clamped_magnitude(row.sums.net_bytes()), -signed_from(row.sums.allocated.bytes), row.stream,
                          row.stack);
      };
      return key(a) < key(b);
    });
    add_user_code();
    return std::move(summary_);
  }

 private:
  static bool is_since(const LiveBlock& block, const StreamState& from) {
    return block.is_live() && block.event != wire::before_the_stream && block.event >= from.position();
  }

  void add_user_code() {
    std::map<std::tuple<std::string_view, std::string_view, std::uint32_t, bool>, RangeSums> rows;
    for (const RangeStackRow& row : summary_.stacks) {
      const Definitions& definitions = trace_.streams[row.stream].definitions();
      const OwnPlace place = find_own_place(definitions, row.stack);
      if (const auto& own = place.frame)
        rows[{definitions.text(own->file), definitions.text(own->function), own->line, false}].add(row.sums);
      else
        rows[{{}, {}, 0, place.is_autograd_thread}].add(row.sums);
    }
    for (const auto& [name, sums] : rows)
      summary_.user_code.push_back(
          {std::string(std::get<1>(name)), std::string(std::get<0>(name)), std::get<2>(name), sums, std::get<3>(name)});
    std::stable_sort(
        summary_.user_code.begin(), summary_.user_code.end(), [](const RangeOwnRow& a, const RangeOwnRow& b) {
          const auto key = [](const RangeOwnRow& row) {
            return std::tuple(-signed_from(row.sums.survived.bytes), -clamped_magnitude(row.sums.net_bytes()));
          };
          return key(a) < key(b);
        });
  }

  const Trace& trace_;
  std::vector<std::vector<bool>> counted_;  // By stream and heap.
  PassControl* control_;
  RangeSummary summary_;
};

}  // namespace

Result<TraceRange> find_range(const Trace& trace, std::string_view from, std::string_view to) {
  auto begin = find_moment(trace, from), end = find_moment(trace, to);
  if (!begin) return Failure(std::move(begin.error()));
  if (!end) return Failure(std::move(end.error()));
  return range_between(std::move(*begin), std::move(*end));
}

Result<TraceRange> range_between(Moment from, Moment to) {
  for (std::size_t i = 0; i < from.positions.size(); ++i)
    if (from.positions[i] > to.positions[i])
      return Failure(refusal("the range ends before it begins: from " + from.text + " to " + to.text,
                             "Give the earlier time to --from and the later one to --at."));
  return TraceRange{std::move(from), std::move(to)};
}

std::int64_t RangeSums::net_bytes() const {
  return clamped_difference(signed_from(allocated.bytes), signed_from(freed.bytes));
}

void RangeSums::add(const RangeSums& more) {
  allocated.add(more.allocated);
  freed.add(more.freed);
  survived.add(more.survived);
}

std::optional<RangeSummary> compute_range_summary(const Trace& trace, const std::vector<StreamState>& from,
                                                  const std::vector<StreamState>& to, PassControl* control,
                                                  std::optional<HeapKey> only) {
  if (control != nullptr)
    for (std::size_t i = 0; i < to.size(); ++i) control->total_events += to[i].position() - from[i].position();
  RangeMeter meter(trace, control, only);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!meter.add(i, from[i], to[i])) return std::nullopt;
  RangeSummary summary = meter.finish();
  summary.heaps_before = compute_heap_rows(trace, from);
  summary.heaps_after = compute_heap_rows(trace, to);
  return summary;
}

}  // namespace hbmscope
