#include "analysis/read/log/peak_buffers.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace hbmscope::log {
namespace {

std::optional<std::string_view> after(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return std::nullopt;
  line.remove_prefix(words.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

// op_name="jit(f)/dot" source_file="/a/b.py" source_line=12
void read_operator(std::string_view text, tpu_oom::Allocation& buffer) {
  const auto value_of = [&](std::string_view key) {
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
  };
  const std::string_view name = value_of("op_name=\""), file = value_of("source_file=\""),
                         line = value_of("source_line=");
  buffer.op_name = name.substr(0, name.find('"'));
  buffer.source_file = file.substr(0, file.find('"'));
  std::from_chars(line.data(), line.data() + line.size(), buffer.source_line);
}

}  // namespace

bool read_peak_buffer(std::string_view line, std::vector<tpu_oom::Allocation>& buffers) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with("Peak buffers:")) return true;
  if (line.starts_with("Buffer ") && line.ends_with(':')) {
    buffers.emplace_back();
    return true;
  }
  if (buffers.empty() || buffers.back().is_whole) return false;
  tpu_oom::Allocation& buffer = buffers.back();
  if (line.find("==========") != std::string_view::npos)
    buffer.is_whole = true;
  else if (const auto size = after(line, "Size:"))
    buffer.size = WordCursor(*size, 0).take_size();
  else if (const auto operation = after(line, "Operator:"))
    read_operator(*operation, buffer);
  else if (const auto label = after(line, "XLA Label:"))
    buffer.label = *label;
  else if (const auto shape = after(line, "Shape:"))
    buffer.shape = *shape;
  else if (const auto parameter = after(line, "Entry Parameter Subshape:")) {
    buffer.shape = *parameter;
    buffer.type = "parameter";
  } else {
    return false;
  }
  return true;
}

}  // namespace hbmscope::log
