#include "analysis/diagnose/growth.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/query/block_labels.h"
#include "analysis/query/executed_programs.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/label_rows.h"
#include "analysis/query/steps.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/mark_phase.h"
#include "analysis/trace/pass_from.h"
#include "analysis/units/format.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

// Whether the last marks are about equally far apart, in events. Not those of a program that ran often at the start, to
// fill arrays, and then once in a while. One gap may be another one, as where something was compiled, but not at the
// end: the loop still runs.
bool is_regular(const std::vector<Step>& marks, std::uint64_t end) {
  constexpr std::size_t at_end = 3;
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = marks.size() - steps_min + 1; i < marks.size(); ++i)
    gaps.push_back(marks[i].event - marks[i - 1].event);
  std::vector<std::uint64_t> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t middle = std::max<std::uint64_t>(1, sorted[sorted.size() / 2]);
  const auto is_other = [&](std::uint64_t gap) { return gap > 4 * middle || gap * 4 < middle; };
  return std::count_if(gaps.begin(), gaps.end(), is_other) <= 1 &&
         std::none_of(gaps.end() - at_end, gaps.end(), is_other) && end - marks.back().event <= 4 * middle;
}

// The executions of a compiled program, which the collector marks: "step (jit_train)". Other markers of steps are by
// the framework's optimizer, or by a person.
std::string_view program_of(const Definitions& definitions, std::string_view name) {
  constexpr std::string_view begin = "step (";
  if (!name.starts_with(begin) || name.back() != ')') return {};
  const std::string_view program = name.substr(begin.size(), name.size() - begin.size() - 1);
  return program.starts_with("jit_") || find_executed_program(definitions, program) ? program : std::string_view();
}

// Its results come from no array, as those of jax.random.normal and jnp.zeros: it fills the parameters, and a loop of
// it is no loop of steps.
bool makes_arrays_of_nothing(const Definitions& definitions, std::string_view program) {
  constexpr std::uint64_t small_part = 64;
  const auto figures = find_executed_program(definitions, program);
  return figures && figures->argument_bytes < figures->output_bytes / small_part;
}

// Whether a request by that line of your code has been served since the event `begin`.
bool is_requested_in(const Stream& stream, std::uint32_t heap, std::uint64_t begin, std::uint64_t end,
                     std::uint32_t stack) {
  const Definitions& definitions = stream.definitions();
  const std::string line = user_code_text(definitions, stack);
  std::map<std::uint32_t, bool> is_line;  // By stack.
  bool is_found = false;
  StreamState state = stream.state_at(begin);
  pass_over_heaps_from(
      stream, state, end, [&](std::uint64_t) { return !is_found; },
      [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock&) {
        if (is_found || change.heap != heap || change.place.kind != wire::RecordKind::alloc) return;
        const std::uint32_t own = allocated_block(change).stack;
        const auto [known, is_new] = is_line.try_emplace(own, false);
        if (is_new) known->second = own == stack || user_code_text(definitions, own) == line;
        is_found = known->second;
      });
  return is_found;
}

// Whether the heap has more than so many allocations from the event `begin` on.
bool has_more_allocations(const Stream& stream, std::uint32_t heap, std::uint64_t begin, std::uint64_t most) {
  std::uint64_t count = 0;
  StreamState state = stream.state_at(begin);
  pass_over_heaps_from(
      stream, state, stream.end_position(), [&](std::uint64_t) { return count <= most; },
      [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock&) {
        count += static_cast<std::uint64_t>(change.heap == heap && change.place.kind == wire::RecordKind::alloc);
      });
  return count > most;
}

// The end of a search for steps.
struct LoopLimit {
  std::uint32_t heap = 0;
  std::uint64_t position = 0;
  LoopEnd end = LoopEnd::still_runs;
  std::uint32_t failed_stack = 0;
};

// Whether what the trace came to belongs to the loop: the request that failed is one that earlier steps made, too;
// where none failed, nothing as long as some steps follows. The first execution of a training step after 20 of a
// program that fills arrays is no part of their loop.
bool is_of_loop(const Stream& stream, const std::vector<Step>& marks, const LoopLimit& limit) {
  if (limit.end == LoopEnd::any) {
    const std::uint64_t steps = marks.back().event - marks[marks.size() - steps_min].event;
    constexpr std::uint64_t steps_after_max = 4;
    return !has_more_allocations(stream, limit.heap, marks.back().event, steps_after_max * steps / (steps_min - 1));
  }
  return limit.failed_stack == 0 || is_requested_in(stream, limit.heap, marks[marks.size() - steps_min].event,
                                                    marks.back().event, limit.failed_stack);
}

// All steps of the outermost regular loop.
std::optional<Steps> find_regular_steps(const Stream& stream, const LoopLimit& limit) {
  auto all = find_steps(stream, limit.position, steps_min);
  std::erase_if(all, [&](const Steps& one) {
    if (!is_regular(one.begins, limit.end == LoopEnd::any ? one.begins.back().event : limit.position)) return true;
    const std::string_view program = program_of(stream.definitions(), one.name);
    return !program.empty() &&
           (makes_arrays_of_nothing(stream.definitions(), program) || !is_of_loop(stream, one.begins, limit));
  });
  const Steps* outermost = find_outermost(all, steps_min);
  return outermost == nullptr ? std::nullopt : std::optional(*outermost);
}

// Whether the last steps still rise, at half of the rate of all or more. A single one may fall, as where Python
// collects its garbage.
bool still_rises(const std::vector<std::int64_t>& use, std::int64_t bytes_per_step) {
  constexpr std::size_t last = 5;
  const std::size_t part = std::max(last, use.size() / 4);
  if (use.size() <= last) return true;
  std::size_t rising = 0;
  for (std::size_t i = use.size() - last; i < use.size(); ++i) rising += static_cast<std::size_t>(use[i] > use[i - 1]);
  const std::int64_t rise = use.back() - use[use.size() - 1 - std::min(part, use.size() - 1)];
  return 2 * rising > last && 2 * rise >= bytes_per_step * static_cast<std::int64_t>(part);
}

void judge(const std::vector<std::int64_t>& use, Growth& growth) {
  std::vector<double> slopes;
  std::size_t rising = 0;
  for (std::size_t i = 0; i + 1 < use.size(); ++i) {
    if (use[i + 1] > use[i]) ++rising;
    for (std::size_t k = i + 1; k < use.size(); ++k)
      slopes.push_back(static_cast<double>(use[k] - use[i]) / static_cast<double>(k - i));
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  growth.bytes_per_step = static_cast<std::int64_t>(*middle);
  growth.is_steady =
      growth.bytes_per_step > 0 && rising * 10 >= (use.size() - 1) * 8 && still_rises(use, growth.bytes_per_step);
}

// Markers may end the steps, as those of an optimizer do: then the first step lies before the first one.
std::uint64_t begin_of_loop(const std::vector<Step>& marks) {
  const std::uint64_t first = marks[0].event, two_steps = 2 * (marks[1].event - first);
  return first - std::min(first, two_steps);
}

std::string with_holder(const std::string& name, const BlockLabels& labels, std::uint64_t allocation) {
  const std::string_view holder = labels.holder(allocation);
  return holder.empty() ? name : fmt::format("{} ({})", name, holder);
}

// What is live of earlier steps, by line.
class SurvivorFinder {
 public:
  SurvivorFinder(const Stream& stream, std::uint32_t heap, const StreamState& state,
                 const std::vector<std::uint64_t>& marks, std::uint64_t loop_begin)
      : stream_(stream), heap_(heap), state_(state), marks_(marks), loop_begin_(loop_begin) {}

  void find(Growth& growth) {
    for (const LiveBlock& block : state_.slots())
      if (is_candidate(block)) count(block);
    for (auto& [name, line] : lines_) {
      line.is_survivor = line.steps.size() * 2 >= marks_.size();
      if (!line.is_survivor) continue;
      line.holder.name = name;
      growth.survivor_bytes += line.holder.bytes;
      growth.kept_bytes += line.kept_bytes;
      growth.current_bytes += line.current_bytes;
      growth.survivors.push_back(line.holder);
    }
    std::stable_sort(growth.survivors.begin(), growth.survivors.end(),
                     [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
    growth.current_bytes =
        std::min(growth.current_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(0, growth.bytes_per_step)));
    if (growth.survivors.empty()) return;
    const BlockLabels labels(stream_);
    growth.held_by = find_variable(labels);
    if (!growth.held_by.empty()) return;
    growth.held_by = find_graph(labels);
    growth.is_held_by_graph = !growth.held_by.empty();
  }

 private:
  struct Line {
    Holder holder;  // In these steps only.
    std::set<std::size_t> steps;
    std::uint64_t kept_bytes = 0, current_bytes = 0;
    bool is_survivor = false;
  };

  // Not from before the loop: a line may also make the weights.
  bool is_candidate(const LiveBlock& block) const {
    return block.is_live() && block.heap == heap_ && block.stack != 0 && block.event != wire::before_the_stream &&
           block.event >= loop_begin_;
  }
  bool is_of_current_step(const LiveBlock& block) const { return block.event >= marks_.back(); }
  // From 1; 0: before these steps.
  std::size_t step_of(const LiveBlock& block) const {
    return static_cast<std::size_t>(std::upper_bound(marks_.begin(), marks_.end(), block.event) - marks_.begin());
  }

  Line& line_of(const LiveBlock& block) {
    Line*& line = line_of_stack_[block.stack];
    if (line == nullptr) line = &lines_[user_code_text(stream_.definitions(), block.stack)];
    return *line;
  }

  void count(const LiveBlock& block) {
    Line& line = line_of(block);
    if (is_of_current_step(block)) {  // It is still running, and may free that.
      line.current_bytes += block.size;
      return;
    }
    line.kept_bytes += block.size;
    const std::size_t step = step_of(block);
    if (step == 0) return;  // From before these steps.
    line.holder.bytes += block.size;
    ++line.holder.blocks;
    line.steps.insert(step);
  }

  // "history (global of train.py)", where it holds "history[0]", "history[1]", ... What keeps something of each step
  // may itself be small: of losses, the graphs behind them take the memory. A name of a single array holds one step's.
  std::string find_variable(const BlockLabels& labels) {
    struct Variable {
      std::set<std::size_t> steps;
      std::uint64_t bytes = 0;
    };
    std::map<std::string, Variable> variables;
    for (const LiveBlock& block : state_.slots()) {
      if (!is_candidate(block) || is_of_current_step(block) || !line_of(block).is_survivor) continue;
      std::string name = without_indices(labels.name(block.event));
      if (name.empty()) continue;
      constexpr std::string_view index = "[*]";
      while (name.size() > index.size() && name.ends_with(index)) name.erase(name.size() - index.size());
      Variable& variable = variables[with_holder(name, labels, block.event)];
      variable.bytes += block.size;
      variable.steps.insert(step_of(block));
    }
    const auto most = std::max_element(variables.begin(), variables.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.steps.size(), a.second.bytes) < std::pair(b.second.steps.size(), b.second.bytes);
    });
    return most == variables.end() || most->second.steps.size() < steps_least ? std::string() : most->first;
  }

  // What adds up losses is one small tensor, new in each step, and has the graph of all of them.
  std::string find_graph(const BlockLabels& labels) const {
    std::uint64_t longest = steps_least - 1, allocation = 0;
    for (const LiveBlock& block : state_.slots()) {
      const std::uint64_t graph_steps = block.is_live() ? labels.graph_steps(block.event) : 0;
      if (graph_steps <= longest) continue;
      longest = graph_steps;
      allocation = block.event;
    }
    if (longest < steps_least) return {};
    return "the autograd graph of " + with_holder(std::string(labels.name(allocation)), labels, allocation);
  }

  static constexpr std::size_t steps_least = 3;
  const Stream& stream_;
  const std::uint32_t heap_;
  const StreamState& state_;
  const std::vector<std::uint64_t>& marks_;  // The last ones of the loop.
  const std::uint64_t loop_begin_;
  std::unordered_map<std::uint32_t, Line*> line_of_stack_;
  std::map<std::string, Line> lines_;
};

std::vector<Step> last_steps(const std::vector<Step>& all) {
  return {all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), steps_max)), all.end()};
}

// Of the second half, or of all if there are few, at equal distances.
std::vector<Step> spread_steps(const std::vector<Step>& all) {
  constexpr std::size_t most = steps_max / 2;
  const std::size_t first = all.size() > 2 * steps_max ? all.size() / 2 : 0, count = all.size() - first;
  const std::size_t stride = (count + most - 1) / most;
  std::vector<Step> spread;
  for (std::size_t back = 0; back < count; back += stride) spread.push_back(all[all.size() - 1 - back]);
  std::reverse(spread.begin(), spread.end());
  return spread;
}

// "iteration 120": 120.
std::optional<std::uint64_t> number_of(std::string_view name) {
  const std::string_view digits = name.substr(name.find_last_not_of("0123456789") + 1);
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// Not what goes up and down: the last third is above all of the first one.
bool has_left_its_beginning(const std::vector<std::int64_t>& use) {
  const auto third = static_cast<std::ptrdiff_t>(use.size() / 3);
  return *std::min_element(use.end() - third, use.end()) > *std::max_element(use.begin(), use.begin() + third);
}

// A log prints memory at some of its steps, of which some are looked at; their names say their numbers.
void count_by_step(const std::vector<Step>& spread, Growth& growth) {
  const std::string_view name = spread.front().name;
  growth.each = name.starts_with(step_of_log) ? "printed line" : name.starts_with("iteration") ? "iteration" : "step";
  const auto first = number_of(name), last = number_of(spread.back().name);
  growth.is_steady = growth.is_steady && first && last && *last > *first;
  if (!growth.is_steady) return;
  growth.steps = *last - *first;
  growth.bytes_per_step =
      static_cast<std::int64_t>(static_cast<double>(growth.bytes_per_step) * static_cast<double>(spread.size() - 1) /
                                static_cast<double>(growth.steps));
  growth.is_steady = growth.bytes_per_step > 0;
}

std::optional<std::uint64_t> find_only_region(const HeapState& heap) {
  std::size_t regions = 0;
  heap.space.for_each_region([&](AddressRange, Joining) { ++regions; });
  return regions == 1 ? heap.space.region_bytes() : std::nullopt;
}

}  // namespace

std::optional<Growth> find_growth(const Trace& trace, HeapKey heap, const StreamState& state, LoopEnd end,
                                  std::uint32_t failed_stack) {
  const Stream& stream = trace.streams[heap.stream];
  const auto steps = find_regular_steps(stream, {heap.heap, state.position(), end, failed_stack});
  if (!steps) return std::nullopt;
  const bool is_printed = trace.origin == TraceOrigin::texts;
  const std::vector<Step> looked_at = is_printed ? spread_steps(steps->begins) : last_steps(steps->begins);
  std::vector<std::uint64_t> marks;
  for (const Step& step : looked_at) marks.push_back(step.event);
  Growth growth;
  growth.step = steps->name;
  growth.steps = marks.size();
  growth.first_event = marks.front();
  growth.last_event = marks.back();
  const std::vector<std::int64_t> use = in_use_at(stream, heap.heap, looked_at);
  judge(use, growth);
  if (is_printed) {
    growth.is_steady = growth.is_steady && has_left_its_beginning(use);
    count_by_step(looked_at, growth);
  }
  // A loop that has ended may have freed everything since.
  const bool has_ended = end == LoopEnd::any;
  SurvivorFinder(stream, heap.heap, has_ended ? stream.state_at(marks.back()) : state, marks,
                 begin_of_loop(steps->begins))
      .find(growth);
  if (growth.survivors.empty() && growth.is_steady) {
    const std::uint64_t second = stream.in_use_at_mark(heap.heap, steps->begins[1].event),
                        last = stream.in_use_at_mark(heap.heap, marks.back());
    growth.kept_bytes = last - std::min(last, second);
  }
  return growth;
}

std::string made_at(const Growth& growth) {
  if (growth.survivors.empty()) return {};
  const std::string& name = growth.survivors.front().name;
  const std::size_t gap = name.find("  ");
  return gap == std::string::npos ? name : name.substr(gap + 2);
}

std::string text_from_growth(const Growth& growth) {
  std::string text = fmt::format("{} more each {}", text_from_bytes(growth.bytes_per_step), growth.each);
  if (!growth.held_by.empty()) text += ", held by " + growth.held_by;
  if (growth.survivors.empty()) return text;
  const bool is_place = growth.survivors.front().name.find("  ") != std::string::npos;
  text += (is_place ? ", made at " : ", made by ") + made_at(growth);
  if (const std::size_t others = growth.survivors.size() - 1; others > 0)
    text += fmt::format(" and {}", text_from_count_of(others, "other line"));
  return text;
}

std::optional<Outlook> find_outlook(const Trace& trace, HeapKey heap, std::optional<std::uint64_t> spare_bytes) {
  const Stream& stream = trace.streams[heap.stream];
  const std::uint64_t end = stream.end_position();
  auto growth = find_growth(trace, heap, stream.state_at(end), LoopEnd::any);
  if (!growth || !growth->is_steady) return std::nullopt;
  Outlook outlook{std::move(*growth), find_limit_bytes(stream, heap.heap, end), false, std::nullopt};
  if (!outlook.limit_bytes) outlook.limit_bytes = find_device_bytes(stream, heap.heap, end);
  const HeapPeak peak = stream.peak(heap.heap);
  if (!outlook.limit_bytes) {
    outlook.limit_bytes = find_only_region(stream.state_at(peak.position).heap(heap.heap));
    outlook.may_grow = outlook.limit_bytes.has_value();
  }
  if (!outlook.limit_bytes) return outlook;
  std::uint64_t room = *outlook.limit_bytes - std::min(*outlook.limit_bytes, peak.in_use_bytes);
  if (!spare_bytes) spare_bytes = find_dry_run_margin(stream, stream.definitions().heap(heap.heap).device);
  if (spare_bytes) {
    const auto pool = stream.state_at(peak.position).heap(heap.heap).space.region_bytes().value_or(0);
    room = std::min(room, clamped_sum(*spare_bytes, pool - std::min(pool, peak.in_use_bytes)));
  }
  outlook.steps_at_most = room / static_cast<std::uint64_t>(outlook.growth.bytes_per_step);
  return outlook;
}

std::string text_from_outlook(const Outlook& outlook) {
  const std::string left = text_from_steps_left(outlook);
  return "Memory grows: " + text_from_growth(outlook.growth) + "." + (left.empty() ? "" : " " + left);
}

std::string text_from_steps_left(const Outlook& outlook) {
  if (!outlook.steps_at_most) return {};
  return fmt::format("At most {} {} {}{}{}.",
                     text_from_count_of(*outlook.steps_at_most, fmt::format("more {}", outlook.growth.each)),
                     *outlook.steps_at_most == 1 ? "fits" : "fit", outlook.may_grow ? "in the pool's " : "below ",
                     text_from_bytes(*outlook.limit_bytes), outlook.may_grow ? ", unless it grows" : "");
}

}  // namespace hbmscope
