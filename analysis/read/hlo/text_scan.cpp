#include "analysis/read/hlo/text_scan.h"

#include <algorithm>

#include "analysis/read/hlo/text_values.h"

namespace hbmscope::hlo {
namespace {

std::size_t skip_quoted(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

bool is_opening(char c) {
  return c == '(' || c == '{' || c == '[';
}

bool is_closing(char c) {
  return c == ')' || c == '}' || c == ']';
}

// The end of what begins at `at`, up to one of `ends` on the outer level.
std::size_t find_end(std::string_view text, std::size_t at, std::string_view ends) {
  while (at < text.size() && ends.find(text[at]) == std::string_view::npos && !is_closing(text[at]))
    at = is_opening(text[at]) || text[at] == '"' ? skip_enclosed(text, at) : at + 1;
  return at;
}

}  // namespace

std::size_t skip_enclosed(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = skip_quoted(text, at);
    } else {
      if (is_opening(text[at])) ++depth;
      if (is_closing(text[at])) --depth;
      ++at;
    }
    if (depth == 0) return at;
  }
  return at;
}

std::string_view find_attribute(std::string_view attributes, std::string_view key) {
  for (std::size_t at = 0; at < attributes.size();) {
    const std::size_t begin = std::min(attributes.find_first_not_of(", ", at), attributes.size());
    const std::size_t equals = find_end(attributes, begin, "=, ");
    if (equals >= attributes.size()) return {};
    if (attributes[equals] != '=') {
      at = equals + 1;
      continue;
    }
    const std::size_t end = find_end(attributes, equals + 1, ", ");
    if (attributes.substr(begin, equals - begin) == key) return attributes.substr(equals + 1, end - equals - 1);
    at = std::max(end, equals + 1) + (end < attributes.size() && is_closing(attributes[end]) ? 1 : 0);
  }
  return {};
}

std::string_view take_part(std::string_view& text) {
  const std::size_t end = find_end(text, 0, ",");
  std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  while (part.starts_with("/*")) {
    const std::size_t close = part.find("*/");
    part = close == std::string_view::npos ? std::string_view() : trimmed(part.substr(close + 2));
  }
  return part;
}

std::string_view inside(std::string_view text) {
  if (text.size() < 2 || (!is_opening(text.front()) && text.front() != '"')) return text;
  return text.substr(1, text.size() - 2);
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    plain += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return plain;
}

}  // namespace hbmscope::hlo
