#include <algorithm>
#include <array>
#include <charconv>

#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/read/word_cursor.h"

namespace hbmscope::tpu_oom {
namespace {

constexpr std::size_t allocations_max = 10'000;  // The compiler prints 20.

enum class Table : std::uint8_t { none, total, program, allocations, arguments };

// Reads line by line. A logger may have prefixed each line, so keys are searched for anywhere in it.
class TableReader {
 public:
  explicit TableReader(Report& report) : report_(report) {}

  void read_line(std::string_view line) {
    if (read_section(line) || read_output(line)) return;
    if (table_ == Table::total || table_ == Table::program)
      read_part(line);
    else if (table_ != Table::none)
      read_allocation(line);
  }

 private:
  // The text after `key` in the line, if the line has it.
  static std::optional<std::string_view> after(std::string_view line, std::string_view key) {
    const std::size_t found = line.find(key);
    return found == std::string_view::npos ? std::nullopt : std::optional(line.substr(found + key.size()));
  }
  static MaybeBytes size_in(std::string_view text) { return WordCursor(text, 0).take_size(); }

  bool read_section(std::string_view line) {
    if (const auto rest = after(line, "Total " + report_.memory_space + " usage >=")) {
      report_.total_usage = size_in(*rest);
      table_ = Table::total;
    } else if (const auto requirement = after(line, "Program " + report_.memory_space + " requirement")) {
      report_.requirement = size_in(*requirement);
      table_ = Table::program;
    } else if (after(line, "Largest program allocations in")) {
      table_ = Table::allocations;
    } else if (after(line, "Largest program arguments and outputs in")) {
      table_ = Table::arguments;
    } else {
      return false;
    }
    return true;
  }

  // "Output size 12.00M; shares 0B with arguments."
  bool read_output(std::string_view line) {
    const auto rest = after(line, "Output size");
    if (!rest || table_ != Table::total) return false;
    report_.output = size_in(*rest);
    if (const auto shared = after(*rest, "shares")) report_.output_shared = size_in(*shared);
    return true;
  }

  void read_part(std::string_view line) {
    constexpr std::array<std::string_view, 7> names = {"reserved", "program",  "arguments", "global",
                                                       "scoped",   "HLO temp", "overlays"};
    for (const std::string_view name : names) {
      const auto rest = after(line, name);
      if (!rest) continue;
      auto& parts = table_ == Table::total ? report_.total_parts : report_.program_parts;
      const bool is_there =
          std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
      if (!is_there) parts.push_back({std::string(name), size_in(*rest)});
      if (const auto fragmentation = after(*rest, "fragmentation (")) report_.fragmentation = size_in(*fragmentation);
      if (const auto unpadded = after(*rest, "Unpadded (")) report_.unpadded = size_in(*unpadded);
      if (const auto padded = after(*rest, "Padded (")) report_.padded = size_in(*padded);
      return;
    }
  }

  // "  12. Size: 512B"
  bool begins_allocation(std::string_view line) {
    const std::size_t found = line.find(". Size:");
    if (found == std::string_view::npos || found == 0 || line[found - 1] < '0' || line[found - 1] > '9') return false;
    auto& list = list_of_table();
    if (list.size() >= allocations_max) return true;
    list.emplace_back().size = size_in(line.substr(found + 7));
    return true;
  }

  void read_allocation(std::string_view line) {
    if (begins_allocation(line)) return;
    auto& list = list_of_table();
    if (list.empty() || list.back().is_whole) return;
    Allocation& allocation = list.back();
    if (line.find("==========") != std::string_view::npos)
      allocation.is_whole = true;
    else if (const auto operation = after(line, "Operator: "))
      read_operator(*operation, allocation);
    else if (const auto shape = after(line, "Shape: "))
      allocation.shape = *shape;
    else if (const auto unpadded = after(line, "Unpadded size:"))
      allocation.unpadded = size_in(*unpadded);
    else if (const auto label = after(line, "XLA label: "))
      allocation.label = *label;
    else if (const auto tag = after(line, "Tag: "))
      allocation.tag = *tag;
    else if (const auto type = after(line, "Allocation type: "))
      allocation.type = *type;
  }

  // Where the quote closes; a name may contain escaped quotes: "tokamax:{\"op\": 1}".
  static std::size_t end_of_quoted(std::string_view text) {
    std::size_t end = text.find('"');
    while (end != std::string_view::npos && end > 0 && text[end - 1] == '\\') end = text.find('"', end + 1);
    return end;
  }

  // op_name="jit(f)/dot" source_file="/a/b.py" source_line=12
  static void read_operator(std::string_view line, Allocation& allocation) {
    const auto quoted = [&](std::string_view key) -> std::string {
      const auto rest = after(line, key);
      return rest ? std::string(rest->substr(0, end_of_quoted(*rest))) : std::string();
    };
    allocation.op_name = quoted("op_name=\"");
    allocation.source_file = quoted("source_file=\"");
    if (const auto number = after(line, "source_line="))
      std::from_chars(number->data(), number->data() + number->size(), allocation.source_line);
  }

  std::vector<Allocation>& list_of_table() {
    return table_ == Table::arguments ? report_.arguments_and_outputs : report_.program_allocations;
  }

  Report& report_;
  Table table_ = Table::none;
};

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

}  // namespace

void read_tables(std::string_view text, std::size_t end, Report& report) {
  TableReader reader(report);
  for (std::size_t begin = report.end; begin < end;) {
    const std::size_t line_end = std::min(text.find('\n', begin), end);
    // The line may repeat the report as a truncated serialised message.
    const std::string_view line = text.substr(begin, line_end - begin);
    reader.read_line(trimmed(line.substr(0, line.find("[type.googleapis.com/"))));
    begin = line_end + 1;
  }
}

}  // namespace hbmscope::tpu_oom
