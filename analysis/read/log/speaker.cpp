#include "analysis/read/log/speaker.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// A prefix: its name and length; 0: the line has none of this kind.
struct Prefix {
  std::string_view name;
  std::optional<std::uint32_t> rank;
  std::size_t size = 0;
};

// "[rank3]:", "[rank3]: ", and "[default3]:", which torchrun --tee writes.
Prefix ranked(std::string_view line) {
  for (const std::string_view word : {"[rank", "[default"}) {
    if (!line.starts_with(word)) continue;
    const std::size_t end = line.find("]:");
    if (end == std::string_view::npos) continue;
    if (const auto rank = number_of(line.substr(word.size(), end - word.size())))
      return {line.substr(0, end + 1), rank, end + 2};
  }
  return {};
}

// "[1,3]<stderr>:", of mpirun --tag-output.
Prefix of_mpi(std::string_view line) {
  if (!line.starts_with('[')) return {};
  const std::size_t comma = line.find(','), end = line.find("]<std");
  if (comma == std::string_view::npos || end == std::string_view::npos || comma > end) return {};
  const auto rank = number_of(line.substr(comma + 1, end - comma - 1));
  const std::size_t colon = line.find(">:", end);
  if (!rank || colon == std::string_view::npos || colon > end + 10) return {};
  return {line.substr(0, end + 1), rank, colon + 2};
}

// "(EngineCore_DP0 pid=4711) ", "(train_fn pid=4711, ip=10.0.0.7) ", of vLLM and Ray.
Prefix of_ray(std::string_view line) {
  constexpr std::size_t longest = 200;
  if (!line.starts_with('(')) return {};
  const std::size_t end = line.find(')'), pid = line.find(" pid=");
  if (end == std::string_view::npos || pid == std::string_view::npos || pid > end || end > longest) return {};
  return {line.substr(0, end + 1), std::nullopt, end + 1};
}

// "3: ", of srun --label.
Prefix of_slurm(std::string_view line) {
  constexpr std::size_t digits_max = 5;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits == 0 || digits > digits_max || !line.substr(digits).starts_with(": ")) return {};
  return {line.substr(0, digits + 1), number_of(line.substr(0, digits)), digits + 2};
}

// "worker-0  | ", of docker compose.
Prefix of_compose(std::string_view line) {
  constexpr std::size_t longest = 64;
  const std::size_t bar = line.substr(0, longest).find(" | ");
  if (bar == std::string_view::npos || bar == 0) return {};
  std::string_view name = line.substr(0, bar);
  while (name.ends_with(' ')) name.remove_suffix(1);
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_digit(c) || is_letter(c) || c == '-' || c == '_' || c == '.';
  });
  return is_name ? Prefix{name, std::nullopt, bar + 3} : Prefix{};
}

// "[pod/trainer-0/main] ", of kubectl logs --prefix.
Prefix of_kubernetes(std::string_view line) {
  if (!line.starts_with("[pod/")) return {};
  const std::size_t end = line.find("] ");
  return end == std::string_view::npos ? Prefix{} : Prefix{line.substr(0, end + 1), std::nullopt, end + 2};
}

// "2026-07-13T01:58:23.985Z " before the line's own prefix.
std::size_t time_stamp(std::string_view line) {
  if (line.size() < 20 || !is_digit(line[0]) || line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':')
    return 0;
  const std::size_t blank = line.find(' ');
  return blank == std::string_view::npos || blank > 40 ? 0 : blank + 1;
}

}  // namespace

Speaker find_speaker(std::string_view line) {
  constexpr int prefixes_max = 3;
  Speaker speaker;
  for (int i = 0; i < prefixes_max; ++i) {
    const std::string_view rest = line.substr(speaker.begin);
    if (const std::size_t stamp = time_stamp(rest); stamp > 0) {
      speaker.begin += stamp;
      continue;
    }
    Prefix prefix;
    for (const auto find : {ranked, of_mpi, of_ray, of_kubernetes, of_slurm, of_compose})
      if (prefix.size == 0) prefix = find(rest);
    if (prefix.size == 0) break;
    if (speaker.name.empty()) speaker.name = prefix.name;
    if (!speaker.rank) speaker.rank = prefix.rank;
    speaker.begin += prefix.size;
    if (line.substr(speaker.begin).starts_with(' ')) ++speaker.begin;
  }
  return speaker;
}

namespace {

bool are_digits(std::string_view text, std::size_t count) {
  return text.size() >= count && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), is_digit);
}

// "E1103 18:23:55.103160 3413767 x.cc:361]", of glog.
bool is_glog(std::string_view line) {
  return line.size() > 9 && std::string_view("IWEF").find(line[0]) != std::string_view::npos &&
         are_digits(line.substr(1), 4) && line[5] == ' ' && are_digits(line.substr(6), 2) && line[8] == ':';
}

// "INFO 01-23 14:33:04 [x.py:12]", "WARNING 2026-01-23 ...".
bool has_level(std::string_view line) {
  for (const std::string_view level : {"DEBUG ", "INFO ", "WARNING ", "ERROR ", "CRITICAL "}) {
    if (!line.starts_with(level)) continue;
    line.remove_prefix(level.size());
    return (are_digits(line, 2) && line.substr(2).starts_with('-')) ||
           (are_digits(line, 4) && line.substr(4).starts_with('-'));
  }
  return false;
}

}  // namespace

bool is_entry(std::string_view line) {
  if (line.starts_with('{') || line.starts_with("(EngineCore") || is_glog(line) || has_level(line)) return true;
  if (line.starts_with('[') && are_digits(line.substr(1), 4) && line.substr(5).starts_with('-')) return true;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const char after = digits < line.size() ? line[digits] : ' ';
  return (digits == 4 && after == '-') || (digits == 2 && (after == ':' || after == '-'));
}

std::string_view without_frame(std::string_view line, std::string& kept) {
  constexpr std::string_view bars[] = {"\u2502", "\u2503", "\u2551", "> "};
  const auto trim = [&] {
    while (line.ends_with(' ')) line.remove_suffix(1);
  };
  for (const std::string_view bar : bars) {
    // A quotation may be quoted itself.
    while (line.starts_with(bar) || (bar == "> " && line.starts_with(">>"))) {
      line.remove_prefix(line.starts_with(bar) ? bar.size() : 1);
      trim();
      if (line.ends_with(bar)) line.remove_suffix(bar.size());
      trim();
      if (line.starts_with(' ')) line.remove_prefix(1);
    }
  }
  constexpr std::string_view space = "\u00a0";
  if (line.find('&') == std::string_view::npos && line.find(space) == std::string_view::npos) return line;
  constexpr std::pair<std::string_view, char> entities[] = {{"&gt;", '>'},  {"&lt;", '<'},   {"&quot;", '"'},
                                                            {"&#34;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''},
                                                            {"&amp;", '&'}, {"&nbsp;", ' '}, {space, ' '}};
  kept.clear();
  while (!line.empty()) {
    const auto entity = std::find_if(std::begin(entities), std::end(entities),
                                     [&](const auto& each) { return line.starts_with(each.first); });
    kept += entity == std::end(entities) ? line.front() : entity->second;
    line.remove_prefix(entity == std::end(entities) ? 1 : entity->first.size());
  }
  return kept;
}

}  // namespace hbmscope::log
