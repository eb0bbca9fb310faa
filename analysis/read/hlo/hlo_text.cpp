#include "analysis/read/hlo/hlo_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/read/hlo/text_scan.h"
#include "analysis/read/hlo/text_values.h"

namespace hbmscope::hlo {
namespace {

constexpr std::string_view module_head = "HloModule ", comment_head = "//";
constexpr int tuple_depth_max = 64;  // Nested tuples.

std::string_view without_leading_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

std::string_view without_leading_comments(std::string_view text) {
  text = without_leading_space(text);
  while (text.starts_with(comment_head)) {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text = without_leading_space(text);
  }
  return text;
}

// "%add.1" and "f32[2]{0} %add.1" of older texts.
std::string_view name_of_operand(std::string_view part) {
  const std::size_t blank = part.rfind(' ');
  if (blank != std::string_view::npos) part.remove_prefix(blank + 1);
  if (part.starts_with('%')) part.remove_prefix(1);
  return part;
}

std::vector<std::uint64_t> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (text = inside(text); !text.empty();) {
    const std::string_view part = take_part(text);
    std::uint64_t number = 0;
    if (std::from_chars(part.data(), part.data() + part.size(), number).ec == std::errc()) numbers.push_back(number);
  }
  return numbers;
}

// "{ {0}: (0, {}, may-alias), {1}: (2, {1}, must-alias) }"
std::vector<OutputAlias> read_aliases(std::string_view text) {
  std::vector<OutputAlias> aliases;
  for (text = inside(text); !text.empty();) {
    const std::string_view entry = take_part(text);
    const std::size_t colon = entry.find(": ");
    if (colon == std::string_view::npos) continue;
    OutputAlias alias;
    alias.output = numbers_of(entry.substr(0, colon));
    std::string_view target = inside(entry.substr(colon + 2));
    alias.parameter = number_after(take_part(target), "").value_or(0);
    alias.parameter_index = numbers_of(take_part(target));
    aliases.push_back(std::move(alias));
  }
  return aliases;
}

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<TextModule> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line_number_;
      line_begin_ = begin;
      if (!read_line(trimmed(text_.substr(begin, end - begin)))) return Failure(error_);
      begin = end + 1;
    }
    line_begin_ = text_.size();
    if (computation_ != nullptr)
      return Failure(error_at(fmt::format("the computation {} is not closed", computation_->name)));
    if (module_.entry == no_index) return Failure(error_at("there is no entry computation in this HLO text"));
    set_callers();
    return std::move(module_);
  }

 private:
  Error error_at(std::string what) const {
    return {fmt::format("line {}: {}", line_number_, std::move(what)),
            "Was the text copied whole?",
            name_,
            line_begin_,
            false,
            false};
  }

  bool read_line(std::string_view line) {
    if (line.empty() || line.starts_with(comment_head)) return true;
    if (computation_ == nullptr) {
      if (line.ends_with('{') && !line.starts_with(module_head))
        begin_computation(line);
      else
        read_outer_line(line);
      return true;
    }
    if (line == "}" || line.starts_with("}, ")) {
      end_computation();
      return true;
    }
    const std::size_t equals = line.find(" = ");
    if (equals != std::string_view::npos) return read_instruction(line, equals);
    ++module_.ignored_lines;
    return true;
  }

  void read_outer_line(std::string_view line) {
    if (line.starts_with(module_head)) {
      const std::string_view rest = line.substr(module_head.size());
      const std::size_t end = std::min(rest.find_first_of(", "), rest.size());
      module_.name = rest.substr(0, end);
      module_.is_scheduled = find_attribute(rest.substr(end), "is_scheduled") == "true";
      module_.aliases = read_aliases(find_attribute(rest.substr(end), "input_output_alias"));
    } else if (line.front() < '0' || line.front() > '9') {
      section_ = line;
    } else {
      read_source_line(line);
    }
  }

  // "1 "/home/me/train.py"", "2 {file_name_id=1 function_name_id=2 line=9 ...}"
  void read_source_line(std::string_view line) {
    const std::string_view rest = trimmed(line.substr(std::min(line.find(' '), line.size())));
    const auto number = [&](std::string_view key) {
      return static_cast<std::uint32_t>(number_after(rest, key).value_or(0));
    };
    if (section_ == "FileNames") module_.source.files.push_back(unescaped(inside(rest)));
    if (section_ == "FunctionNames") module_.source.functions.push_back(unescaped(inside(rest)));
    if (section_ == "FileLocations")
      places_.push_back({number("file_name_id="), number("function_name_id="), number(" line="), 0});
    if (section_ == "StackFrames") {
      const std::uint32_t place = number("file_location_id=");
      SourceFrame frame = place > 0 && place <= places_.size() ? places_[place - 1] : SourceFrame();
      frame.caller = number("parent_frame_id=");
      module_.source.frames.push_back(frame);
    }
  }

  // Some versions print callers counted from 2, so that the outermost frame names itself; others print 0 for none.
  void set_callers() {
    auto& frames = module_.source.frames;
    if (std::any_of(frames.begin(), frames.end(), [](const SourceFrame& each) { return each.caller == 0; })) return;
    for (SourceFrame& frame : frames) --frame.caller;
  }

  // "ENTRY %main (x: f32[2]) -> f32[2] {", "main {"
  void begin_computation(std::string_view line) {
    constexpr std::string_view entry = "ENTRY ";
    if (line.starts_with(entry)) {
      line.remove_prefix(entry.size());
      module_.entry = static_cast<std::uint32_t>(module_.computations.size());
    }
    computation_ = &module_.computations.emplace_back();
    computation_->name = name_of_operand(line.substr(0, line.find_first_of(" ({")));
    computation_->begin = static_cast<std::uint32_t>(module_.instructions.size());
    names_.clear();
  }

  void end_computation() {
    computation_->end = static_cast<std::uint32_t>(module_.instructions.size());
    if (computation_->root == no_index && computation_->end > computation_->begin)
      computation_->root = computation_->end - 1;
    computation_ = nullptr;
  }

  // "ROOT %add.1 = f32[2]{0} add(%x, %y), metadata={...}"
  bool read_instruction(std::string_view line, std::size_t equals) {
    constexpr std::string_view root = "ROOT ";
    const auto index = static_cast<std::uint32_t>(module_.instructions.size());
    std::string_view name = line.substr(0, equals);
    if (name.starts_with(root)) {
      name.remove_prefix(root.size());
      computation_->root = index;
    }
    TextInstruction instruction;
    instruction.name = name_of_operand(name);
    const std::string_view rest = line.substr(equals + 3);
    const std::size_t shape_end =
        rest.starts_with('(') ? skip_enclosed(rest, 0) : std::min(rest.find(' '), rest.size());
    const std::size_t open = rest.find('(', shape_end);
    if (rest.empty() || open == std::string_view::npos || rest[shape_end] != ' ') {
      error_ = error_at(fmt::format("the instruction {} has no shape, or no operation", instruction.name));
      return false;
    }
    instruction.shape = static_cast<std::uint32_t>(module_.nodes.size());
    add_shape(rest.substr(0, shape_end), tuple_depth_max);
    instruction.opcode = trimmed(rest.substr(shape_end, open - shape_end));
    const std::size_t close = skip_enclosed(rest, open);
    instruction.attributes = rest.substr(close);
    const std::string_view between = inside(rest.substr(open, close - open));
    instruction.operands_begin = static_cast<std::uint32_t>(module_.operands.size());
    if (instruction.opcode == "parameter" || instruction.opcode == "constant")
      instruction.literal = between;
    else
      add_operands(between);
    instruction.operands_end = static_cast<std::uint32_t>(module_.operands.size());
    names_[instruction.name] = index;
    module_.instructions.push_back(instruction);
    return true;
  }

  void add_operands(std::string_view text) {
    while (!text.empty()) {
      const std::string_view part = take_part(text);
      if (part.empty()) continue;
      const auto found = names_.find(name_of_operand(part));
      if (found == names_.end()) ++module_.unknown_operands;
      module_.operands.push_back(found == names_.end() ? no_index : found->second);
    }
  }

  // Returns its number of nodes.
  std::uint32_t add_shape(std::string_view text, int depth) {
    const std::size_t at = module_.nodes.size();
    module_.nodes.push_back({text, 1, 0, 0, text.starts_with('(')});
    if (!module_.nodes[at].is_tuple || depth == 0) return 1;
    std::uint32_t nodes = 1;
    std::vector<std::uint32_t> offsets;
    for (text = inside(text); !text.empty();) {
      const std::string_view part = take_part(text);
      if (part.empty()) continue;
      offsets.push_back(nodes);
      nodes += add_shape(part, depth - 1);
    }
    ShapeNode& node = module_.nodes[at];
    node.nodes = nodes;
    node.parts_begin = static_cast<std::uint32_t>(module_.part_offsets.size());
    module_.part_offsets.insert(module_.part_offsets.end(), offsets.begin(), offsets.end());
    node.parts_end = static_cast<std::uint32_t>(module_.part_offsets.size());
    return nodes;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t line_begin_ = 0, line_number_ = 0;
  TextModule module_;
  TextComputation* computation_ = nullptr;  // The open one; it stays the last of its list.
  std::unordered_map<std::string_view, std::uint32_t> names_;
  std::string_view section_;
  std::vector<SourceFrame> places_;
  Error error_;
};

}  // namespace

bool looks_like_hlo_text(std::span<const std::uint8_t> bytes) {
  return without_leading_comments(text_view(bytes)).starts_with(module_head);
}

Result<TextModule> read_hlo_text(std::span<const std::uint8_t> bytes, const std::string& name) {
  return TextReader(text_view(bytes), name).read();
}

}  // namespace hbmscope::hlo
