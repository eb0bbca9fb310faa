#include "analysis/diagnose/growth.h"

#include <algorithm>
#include <set>

#include "analysis/query/steps.h"
#include "analysis/query/trace_user_code.h"

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

// The steps whose loop is regular, the last ones of them.
std::optional<Steps> find_regular_steps(const Stream& stream, std::uint64_t before, LoopEnd end) {
  auto all = find_steps(stream, before, steps_min);
  std::erase_if(all, [&](const Steps& one) {
    return !is_regular(one.begins, end == LoopEnd::any ? one.begins.back().event : before);
  });
  const Steps* outermost = find_outermost(all, steps_min);
  if (outermost == nullptr) return std::nullopt;
  Steps steps = *outermost;
  if (steps.begins.size() > steps_max)
    steps.begins.erase(steps.begins.begin(), steps.begins.end() - static_cast<std::ptrdiff_t>(steps_max));
  return steps;
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
  growth.is_steady = growth.bytes_per_step > 0 && rising * 10 >= (use.size() - 1) * 8;
}

void find_survivors(const Definitions& definitions, std::uint32_t heap, const StreamState& state,
                    const std::vector<std::uint64_t>& marks, Growth& growth) {
  struct Line {
    Holder holder;
    std::set<std::size_t> steps;
  };
  std::map<std::uint32_t, std::string> names;  // By stack.
  std::map<std::string, Line> lines;
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live() || block.heap != heap || block.stack == 0 || block.event == wire::before_the_stream) continue;
    const auto step = std::upper_bound(marks.begin(), marks.end(), block.event);
    if (step == marks.begin() || step == marks.end()) continue;  // From before these steps, or of the current one.
    std::string& name = names[block.stack];
    if (name.empty()) name = user_code_text(definitions, block.stack);
    Line& line = lines[name];
    line.holder.bytes += block.size;
    ++line.holder.blocks;
    line.steps.insert(static_cast<std::size_t>(step - marks.begin()));
  }
  for (auto& [name, line] : lines) {
    if (line.steps.size() * 2 < marks.size()) continue;
    line.holder.name = name;
    growth.survivor_bytes += line.holder.bytes;
    growth.survivors.push_back(std::move(line.holder));
  }
  std::stable_sort(growth.survivors.begin(), growth.survivors.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
}

}  // namespace

std::optional<Growth> find_growth(const Trace& trace, HeapKey heap, const StreamState& state, LoopEnd end) {
  const Stream& stream = trace.streams[heap.stream];
  const auto steps = find_regular_steps(stream, state.position(), end);
  if (!steps) return std::nullopt;
  std::vector<std::uint64_t> marks;
  for (const Step& one : steps->begins) marks.push_back(one.event);
  Growth growth;
  growth.step = steps->name;
  growth.steps = marks.size();
  judge(in_use_before(stream, heap.heap, marks, nullptr), growth);
  find_survivors(stream.definitions(), heap.heap, state, marks, growth);
  return growth;
}

}  // namespace hbmscope
