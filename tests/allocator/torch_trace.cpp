#include "tests/allocator/torch_trace.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

// The word after `key`; empty if the next word is `next_key`, because an empty value leaves two spaces.
std::string_view value_of(const std::vector<std::string_view>& words, std::string_view key) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == key) return words[i + 1];
  return {};
}

bool begins_snapshot(std::string_view line, const TorchTrace& trace) {
  if (line[0] != 'S' && line[0] != 't') return false;
  if (trace.steps.empty() || !trace.steps.back().operation.empty()) return true;
  return trace.steps.back().answers.back()[0] == 't';
}

// At the end of a scope, C++ frees blocks without an operation in the trace.
bool begins_free(std::string_view line, const TorchTrace& trace) {
  if (!line.starts_with("e\tFREE_REQUESTED\t") || trace.steps.empty()) return false;
  const TorchStep& step = trace.steps.back();
  return step.operation.empty() || step.operation[0] != "F" || !step.answers.empty();
}

}  // namespace

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t address_in(std::string_view text) {
  std::uint64_t address = 0;
  std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return address;
}

tl::expected<TorchTrace, std::string> read_torch_trace(std::string_view text) {
  TorchTrace trace;
  std::size_t number = 0;
  for (const std::string_view line : split_at(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (line[0] == '#') {
      const auto words = split_at(line, ' ');
      if (value_of(words, "device_bytes").empty()) continue;
      trace.conf = value_of(words, "conf");
      trace.fraction = std::strtod(std::string(value_of(words, "fraction")).c_str(), nullptr);
      trace.device_bytes = number_in(value_of(words, "device_bytes"));
      continue;
    }
    const bool is_answer_to_allocate = line.starts_with("o\t=\t");
    if (line.starts_with("o\t") && !is_answer_to_allocate) {
      auto operation = split_at(line, '\t');
      operation.erase(operation.begin());
      trace.steps.push_back({std::move(operation), {}, number});
      continue;
    }
    if (line.size() < 2 || line[1] != '\t' || std::string_view("odehSBt").find(line[0]) == std::string_view::npos)
      return tl::unexpected(fmt::format("line {}: {}", number, line));
    if (begins_snapshot(line, trace)) trace.steps.push_back({{}, {}, number});
    if (begins_free(line, trace)) trace.steps.push_back({{"F", split_at(line, '\t')[2]}, {}, number});
    if (trace.steps.empty()) return tl::unexpected(fmt::format("line {}: no operation before {}", number, line));
    trace.steps.back().answers.push_back(line);
  }
  if (trace.device_bytes == 0) return tl::unexpected<std::string>("no line with the size of the device");
  return trace;
}

}  // namespace hbmscope::allocator
