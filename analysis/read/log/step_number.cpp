#include "analysis/read/log/step_number.h"

#include <algorithm>
#include <charconv>

#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string_view::npos; });
}

// "[70/1746] Building CUDA object a.cu.o", of ninja.
bool is_of_build(std::string_view folded) {
  static constexpr std::string_view words[] = {"building", "linking", "nvcc", "c++"};
  return has_any(folded, words);
}

// "Epoch 1:   3%|#   | 300/10000 [01:23<", of tqdm. Not where something is loaded.
std::optional<StepNumber> find_bar(std::string_view folded) {
  const std::size_t share = folded.find("%|"),
                    bar = share == std::string_view::npos ? share : folded.find("| ", share + 2);
  if (bar == std::string_view::npos) return std::nullopt;
  static constexpr std::string_view others[] = {"load", "shard", "fetch", "map", "token", "captur", "extract", "file"};
  if (has_any(folded.substr(0, share), others)) return std::nullopt;
  const std::string_view rest = folded.substr(bar + 2);
  const std::size_t slash = rest.find_first_not_of("0123456789 ");
  const auto number = number_at(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
  const bool is_count = slash != std::string_view::npos && rest[slash] == '/';
  return number && is_count ? std::optional(StepNumber{"step", *number}) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> number_at(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  const auto end = static_cast<std::size_t>(parsed.ptr - text.data());
  const bool goes_on = end + 1 < text.size() && (text[end] == '.' || text[end] == 'e') && is_digit(text[end + 1]);
  return goes_on ? std::nullopt : std::optional(number);
}

std::optional<StepNumber> find_step(std::string_view folded) {
  constexpr std::string_view words[] = {"iteration", "iter", "step"};
  for (const std::string_view word : words) {
    for (std::size_t at = folded.find(word); at != std::string_view::npos; at = folded.find(word, at + 1)) {
      if (at > 0 && (is_letter(folded[at - 1]) || folded[at - 1] == '/')) continue;
      std::size_t begin = at + word.size();
      if (begin < folded.size() && folded[begin] == 's') ++begin;
      const std::string_view rest = folded.substr(begin);
      const std::size_t gap = std::min(rest.find_first_not_of(" :=#[(\"'"), rest.size());
      const std::string_view name = word == "step" ? "step" : "iteration";
      if (const auto number = gap > 0 ? number_at(rest.substr(gap)) : std::nullopt) return StepNumber{name, *number};
      std::size_t before = at;
      while (before > 0 && folded[before - 1] == ' ') --before;
      std::size_t digits = before;
      while (digits > 0 && is_digit(folded[digits - 1])) --digits;
      if (digits < before && (digits == 0 || folded[digits - 1] == ' '))
        if (const auto number = number_at(folded.substr(digits))) return StepNumber{name, *number};
    }
  }
  for (std::size_t at = folded.find('['); at != std::string_view::npos; at = folded.find('[', at + 1)) {
    const std::size_t begin = std::min(folded.find_first_not_of(' ', at + 1), folded.size());
    const std::size_t slash = std::min(folded.find_first_not_of("0123456789", begin), folded.size());
    if (slash > begin && slash < folded.size() && folded[slash] == '/')
      if (const auto number = number_at(folded.substr(begin))) return StepNumber{"iteration", *number};
  }
  return std::nullopt;
}

std::optional<StepNumber> find_last_step(std::span<const std::string> lines) {
  constexpr std::size_t steps_least = 4;  // "Step 3: training" is a part of a program.
  std::optional<StepNumber> last;
  std::size_t count = 0;
  for (const std::string& line : lines) {
    const std::string folded = lower(line);
    if (is_of_build(folded)) continue;
    auto step = find_step(folded);
    if (!step) step = find_bar(folded);
    if (!step || (last && step->number == last->number)) continue;
    count = last && step->number > last->number ? count + 1 : 1;  // An epoch begins again.
    last = step;
  }
  return count >= steps_least ? last : std::nullopt;
}

}  // namespace hbmscope::log
