#include "analysis/model/device_name.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace hbmscope {
namespace {

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Splits "key=value,key=value,(1,0,0)" at the commas outside of parentheses.
template <class Visit>
void for_each_part(std::string_view text, const Visit& visit) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    std::string_view part = text.substr(begin, i - begin);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (!part.empty()) visit(part);
    begin = i + 1;
  }
}

void parse_bracket(std::string_view inside, DeviceName& name) {
  for_each_part(inside, [&](std::string_view part) {
    if (part.front() == '(') {
      part.remove_prefix(1);
      if (!part.empty() && part.back() == ')') part.remove_suffix(1);
      while (!part.empty() && part.back() == ',') part.remove_suffix(1);
      name.coordinates = part;
      return;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == "process" || key == "process_index") name.process = parse_number(value);
    if (key == "id") name.id = parse_number(value);
    if (key == "host" || key == "hostname") name.host = value;
  });
}

}  // namespace

DeviceName parse_device_name(std::string_view text) {
  DeviceName name;
  name.text = text;
  std::string_view head = text;
  if (const std::size_t open = text.find('('); open != std::string_view::npos && text.back() == ')') {
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    parse_bracket(inside, name);
    if (!name.process && !name.id && name.host.empty() && name.coordinates.empty()) name.part = inside;
    head = text.substr(0, open);
  }
  while (!head.empty() && head.back() == ' ') head.remove_suffix(1);
  // A word and a number, as in traces: GPU 1.
  if (const std::size_t blank = head.find(' '); blank != std::string_view::npos && blank > 0) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto id = parse_number(head.substr(blank + 1));
    if (id && std::all_of(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(blank), is_letter)) {
      name.id = id;
      name.kind = head.substr(0, blank);
      return name;
    }
  }
  // The id follows the last '_' or ':' of the head: TPU_3, TFRT_CPU_0, gpu:0.
  if (const std::size_t mark = head.find_last_of("_:"); mark != std::string_view::npos && mark > 0) {
    if (const auto id = parse_number(head.substr(mark + 1))) {
      name.id = id;
      head = head.substr(0, mark);
    }
  }
  name.kind = head.empty() ? text : head;
  return name;
}

std::string DeviceName::short_text() const {
  if (!id) return text;
  std::string result = kind + " " + std::to_string(*id);
  if (!part.empty()) result += " (" + part + ")";
  if (process.value_or(0) != 0) result += " (process " + std::to_string(*process) + ")";
  return result;
}

bool device_before(const DeviceName& a, const DeviceName& b) {
  const auto key = [](const DeviceName& name) {
    return std::tie(name.host, name.process, name.kind, name.id, name.text);
  };
  return key(a) < key(b);
}

}  // namespace hbmscope
