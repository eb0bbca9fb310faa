#include "analysis/query/short_name.h"

#include <optional>

namespace hbmscope {
namespace {

constexpr std::string_view anonymous = "(anonymous namespace)", operator_word = "operator";

// The position after the bracket that closes the one at `at`; nothing if there is none.
std::optional<std::size_t> end_of_bracket(std::string_view name, std::size_t at) {
  std::string open;
  for (; at < name.size(); ++at) {
    const char letter = name[at];
    if (letter == '(' || letter == '<') {
      open += letter;
    } else if (letter == ')' || (letter == '>' && name[at - 1] != '-')) {
      if (open.back() != (letter == ')' ? '(' : '<')) return std::nullopt;
      open.pop_back();
      if (open.empty()) return at + 1;
    }
  }
  return std::nullopt;
}

// "operator()", "operator<<", "operator->": these characters are not brackets.
std::size_t end_of_operator(std::string_view name, std::size_t at) {
  if (name.substr(at).starts_with("()")) return at + 2;
  while (at < name.size() && (name[at] == '<' || name[at] == '>' || name[at] == '-' || name[at] == '=')) ++at;
  return at;
}

}  // namespace

std::string_view without_arguments(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  for (std::size_t at = name.find('('); at != std::string_view::npos; at = name.find('(', at + 1)) {
    if (name.substr(at).starts_with(anonymous)) continue;
    if (name.substr(0, at).ends_with(operator_word)) continue;
    return name.substr(0, at);
  }
  return name;
}

std::string short_name_of_function(std::string_view name) {
  if (name.size() <= short_name_max) return std::string(name);
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    const char letter = name[at];
    if (letter != '(' && letter != '<') {
      text += letter;
      ++at;
    } else if (name.substr(at).starts_with(anonymous)) {
      text += anonymous;
      at += anonymous.size();
    } else if (text.ends_with(operator_word)) {
      const std::size_t end = end_of_operator(name, at);
      text += name.substr(at, end - at);
      at = end;
    } else {
      const auto end = end_of_bracket(name, at);
      if (!end) return std::string(name);
      text += *end - at == 2 ? name.substr(at, 2) : letter == '(' ? "(...)" : "<...>";
      at = *end;
    }
  }
  return text;
}

}  // namespace hbmscope
