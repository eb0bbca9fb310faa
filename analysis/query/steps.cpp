#include "analysis/query/steps.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <tuple>

#include "analysis/trace/mark_phase.h"
#include "analysis/units/contains.h"

namespace hbmscope {
namespace {

bool is_step(std::string_view name) {
  return contains_ignoring_case(name, "step") || contains_ignoring_case(name, "iteration");
}

}  // namespace

std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char letter : name)
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) text += letter;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

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

std::vector<NamedMarker> find_markers(const Trace& trace, std::string_view part, std::size_t most,
                                      std::span<const std::uint64_t> positions, std::size_t shown_stream) {
  std::vector<NamedMarker> found;
  if (part.empty()) return found;
  constexpr std::size_t unseen = SIZE_MAX, other = SIZE_MAX - 1;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const std::uint64_t shown = i < positions.size() ? positions[i] : 0;
    std::vector<std::size_t> known;  // By name: its place in `found`.
    for (std::size_t index = 0; index < stream.marks().size(); ++index) {
      const Mark& mark = stream.marks()[index];
      if (mark.phase == mark_phase::ends) continue;
      if (mark.name >= known.size()) known.resize(mark.name + std::size_t{1}, unseen);
      std::size_t& place = known[mark.name];
      if (place == unseen) {
        const std::string_view name = stream.definitions().text(mark.name);
        place = !name.empty() && contains_ignoring_case(name, part) ? found.size() : other;
        if (place != other) found.push_back({i, index, name});
      } else if (place != other) {
        NamedMarker& named = found[place];
        ++named.count;
        if (mark.event <= shown || stream.marks()[named.index].event > shown) continue;
        named.index = index;
        named.number = named.count;
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const NamedMarker& a, const NamedMarker& b) {
    return std::tuple(a.name.size(), a.stream != shown_stream) < std::tuple(b.name.size(), b.stream != shown_stream);
  });
  found.resize(std::min(found.size(), most));
  return found;
}

std::vector<std::int64_t> in_use_at(const Stream& stream, std::uint32_t heap, const std::vector<Step>& steps) {
  std::vector<std::int64_t> use;
  for (const Step& step : steps) use.push_back(static_cast<std::int64_t>(stream.in_use_at_mark(heap, step.event)));
  return use;
}

}  // namespace hbmscope
