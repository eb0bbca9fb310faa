#include "analysis/query/steps.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "analysis/trace/mark_phase.h"
#include "analysis/trace/pass_from.h"
#include "analysis/units/contains.h"

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
  return contains_ignoring_case(name, "step") || contains_ignoring_case(name, "iteration");
}

}  // namespace

std::vector<Steps> find_steps(const Stream& stream, std::uint64_t before, std::size_t least) {
  std::map<std::uint32_t, std::string> names;  // Empty: no step.
  std::map<std::string, std::vector<Step>> by_name;
  for (const Mark& mark : stream.marks()) {
    if (mark.event >= before || mark.phase == mark_phase::ends) continue;
    const auto [known, is_new] = names.try_emplace(mark.name);
    const std::string_view name = stream.definitions().text(mark.name);
    if (is_new && is_step(name)) known->second = without_numbers(name);
    if (!known->second.empty()) by_name[known->second].push_back({mark.event, mark.time_ns, name});
  }
  std::vector<Steps> found;
  for (auto& [name, begins] : by_name)
    if (begins.size() >= least) found.push_back({name, std::move(begins)});
  return found;
}

const Steps* find_outermost(const std::vector<Steps>& all, std::size_t least) {
  const auto span = [least](const Steps& one) {
    return one.begins.back().event - one.begins[one.begins.size() - least].event;
  };
  // If two are equally far apart, the one that begins first contains the other.
  const auto is_inner = [&](const Steps& a, const Steps& b) {
    return span(a) != span(b) ? span(a) < span(b) : a.begins.back().event > b.begins.back().event;
  };
  const auto most = std::max_element(all.begin(), all.end(), is_inner);
  return most == all.end() ? nullptr : &*most;
}

Steps outermost_steps(const Stream& stream) {
  constexpr std::size_t least = 2;
  auto all = find_steps(stream, ~std::uint64_t{0}, least);
  const Steps* outermost = find_outermost(all, least);
  return outermost == nullptr ? Steps() : *outermost;
}

std::vector<NamedMarker> find_markers(const Trace& trace, std::string_view part, std::size_t most) {
  std::vector<NamedMarker> found;
  if (part.empty()) return found;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    std::vector<bool> seen;
    for (std::size_t index = 0; index < stream.marks().size(); ++index) {
      const Mark& mark = stream.marks()[index];
      if (mark.phase == mark_phase::ends || (mark.name < seen.size() && seen[mark.name])) continue;
      const std::string_view name = stream.definitions().text(mark.name);
      if (name.empty()) continue;
      seen.resize(std::max<std::size_t>(seen.size(), mark.name + std::size_t{1}));
      seen[mark.name] = true;
      if (contains_ignoring_case(name, part)) found.push_back({i, index, name});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const NamedMarker& a, const NamedMarker& b) {
    return a.name.size() < b.name.size();  // The closest one first.
  });
  found.resize(std::min(found.size(), most));
  return found;
}

std::vector<std::int64_t> in_use_before(const Stream& stream, std::uint32_t heap,
                                        const std::vector<std::uint64_t>& events, PassControl* control) {
  std::vector<std::int64_t> use;
  if (events.empty()) return use;
  StreamState state = stream.state_at(events.front());
  if (control != nullptr) control->total_events = events.back() - events.front();
  const auto in_use = [&](const StreamState& now) { return static_cast<std::int64_t>(now.in_use_bytes(heap)); };
  std::int64_t last = in_use(state);
  const auto go_on = [control](std::uint64_t done) {
    if (control == nullptr) return true;
    control->done_events += done;
    return !control->cancelled;
  };
  const bool is_complete =
      pass_over_states_from(stream, state, events.back(), go_on,
                            [&](const StreamState& now, std::uint64_t position, std::int64_t, std::uint32_t changed) {
                              while (use.size() < events.size() && events[use.size()] < position) use.push_back(last);
                              if (changed == heap) last = in_use(now);
                            });
  if (!is_complete) return {};
  use.resize(events.size(), last);
  return use;
}

}  // namespace hbmscope
