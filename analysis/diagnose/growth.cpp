#include "analysis/diagnose/growth.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "analysis/query/trace_user_code.h"
#include "analysis/trace/pass_from.h"

namespace hbmscope {
namespace {

// "train step 12" and "train step 13" are the same mark.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char letter : name)
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) text += letter;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

bool is_step(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); });
  return lower.find("step") != std::string::npos || lower.find("iteration") != std::string::npos;
}

struct Steps {
  std::string name;
  std::vector<std::uint64_t> marks;  // Events, ascending.
};

// Whether the last marks are about equally far apart, in events. Not those of a program that ran often at the start, to
// fill arrays, and then once in a while. One gap may be another one, as where something was compiled, but not at the
// end: the loop still runs.
bool is_regular(const std::vector<std::uint64_t>& marks, std::uint64_t end) {
  constexpr std::size_t at_end = 3;
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = marks.size() - steps_min + 1; i < marks.size(); ++i) gaps.push_back(marks[i] - marks[i - 1]);
  std::vector<std::uint64_t> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t middle = std::max<std::uint64_t>(1, sorted[sorted.size() / 2]);
  const auto is_other = [&](std::uint64_t gap) { return gap > 4 * middle || gap * 4 < middle; };
  return std::count_if(gaps.begin(), gaps.end(), is_other) <= 1 &&
         std::none_of(gaps.end() - at_end, gaps.end(), is_other) && end - marks.back() <= 4 * middle;
}

// The marker of steps that is the most events apart, which begins or is an instant: steps contain others.
std::optional<Steps> find_steps(const Stream& stream, std::uint64_t before, LoopEnd end) {
  constexpr std::uint8_t ends = 2;
  std::map<std::uint32_t, std::string> names;  // Empty: no step.
  std::map<std::string, std::vector<std::uint64_t>> by_name;
  for (const Mark& mark : stream.marks()) {
    if (mark.event >= before || mark.phase == ends) continue;
    const auto [known, is_new] = names.try_emplace(mark.name);
    if (is_new)
      if (const std::string_view name = stream.definitions().text(mark.name); is_step(name))
        known->second = without_numbers(name);
    if (!known->second.empty()) by_name[known->second].push_back(mark.event);
  }
  std::erase_if(by_name, [&](const auto& one) {
    const auto& marks = one.second;
    return marks.size() < steps_min || !is_regular(marks, end == LoopEnd::any ? marks.back() : before);
  });
  const auto span = [](const std::vector<std::uint64_t>& marks) {
    return static_cast<double>(marks.back() - marks[marks.size() - steps_min]);
  };
  const auto most = std::max_element(by_name.begin(), by_name.end(),
                                     [&](const auto& a, const auto& b) { return span(a.second) < span(b.second); });
  if (most == by_name.end()) return std::nullopt;
  Steps steps{most->first, std::move(most->second)};
  if (steps.marks.size() > steps_max)
    steps.marks.erase(steps.marks.begin(), steps.marks.end() - static_cast<std::ptrdiff_t>(steps_max));
  return steps;
}

// In use after so many events, for each mark.
std::vector<std::int64_t> use_at(const Stream& stream, std::uint32_t heap, const std::vector<std::uint64_t>& marks) {
  StreamState state = stream.state_at(marks.front());
  std::vector<std::int64_t> use;
  const auto in_use = [&](const StreamState& now) { return static_cast<std::int64_t>(now.in_use_bytes(heap)); };
  std::int64_t last = in_use(state);
  pass_over_states_from(
      stream, state, marks.back(), [](std::uint64_t) { return true; },
      [&](const StreamState& now, std::uint64_t position, std::int64_t, std::uint32_t changed) {
        while (use.size() < marks.size() && marks[use.size()] < position) use.push_back(last);
        if (changed == heap) last = in_use(now);
      });
  use.resize(marks.size(), last);
  return use;
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
  const auto steps = find_steps(stream, state.position(), end);
  if (!steps) return std::nullopt;
  Growth growth;
  growth.step = steps->name;
  growth.steps = steps->marks.size();
  judge(use_at(stream, heap.heap, steps->marks), growth);
  find_survivors(stream.definitions(), heap.heap, state, steps->marks, growth);
  return growth;
}

}  // namespace hbmscope
