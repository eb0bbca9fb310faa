#include "analysis/query/where.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <re2/re2.h>

#include "analysis/model/device_name.h"
#include "analysis/model/time_unit.h"
#include "analysis/units/contains.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

struct OpText {
  std::string_view text;
  WhereOp op;
};
constexpr std::array<OpText, 7> ops = {{{"!=", WhereOp::differs},
                                        {"<=", WhereOp::less_or_equal},
                                        {">=", WhereOp::greater_or_equal},
                                        {":", WhereOp::contains},
                                        {"=", WhereOp::equals},
                                        {"<", WhereOp::less},
                                        {">", WhereOp::greater}}};

std::string_view example_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::text: return "a text";
    case FieldKind::bytes: return "a size such as 1.5GiB";
    case FieldKind::count: return "a number such as 1200";
    case FieldKind::percent: return "a percentage such as 5%";
    case FieldKind::time: return "a time such as 340us or 10s";
  }
  return {};
}

std::optional<double> parse_number(std::string_view text, FieldKind kind) {
  if (kind == FieldKind::bytes) {
    const auto bytes = parse_bytes(text);
    if (!bytes) return std::nullopt;
    return static_cast<double>(*bytes);
  }
  const std::string digits = without_group_commas(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (kind == FieldKind::percent && (unit.empty() || unit == "%")) return value;
  if (kind == FieldKind::count && unit.empty()) return value;
  if (kind == FieldKind::time)
    if (const auto unit_ns = find_time_unit_ns(unit)) return value * *unit_ns;
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::span<const WhereField> fields) : text_(text), fields_(fields) {}

  Result<WhereNode> parse() {
    auto node = parse_any();
    if (!node) return node;
    skip_spaces();
    if (at_ < text_.size()) return fail(at_, "this bracket closes nothing", "Remove it, or open one before it.");
    return node;
  }

 private:
  static Failure fail(std::size_t at, std::string what, std::string remedy) {
    return Failure(Error{std::move(what), std::move(remedy), {}, at, false});
  }

  Failure missing_condition() const {
    return fail(at_, "a condition is missing here", fmt::format("Known fields: {}.", known_fields()));
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && !is_space(text_[end]) && text_[end] != '(' && text_[end] != ')') return false;
    at_ = end;
    return true;
  }

  Result<WhereNode> parse_any() {
    auto first = parse_all();
    if (!first || !(take_word("or") || take_word("OR"))) return first;
    WhereNode node{WhereNode::Kind::any_of, {}, {}};
    node.children.push_back(std::move(*first));
    do {
      auto next = parse_all();
      if (!next) return next;
      node.children.push_back(std::move(*next));
    } while (take_word("or") || take_word("OR"));
    return node;
  }

  bool at_end_of_group() {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] == ')') return true;
    const std::size_t before = at_;
    const bool is_or = take_word("or") || take_word("OR");
    at_ = before;
    return is_or;
  }

  Result<WhereNode> parse_all() {
    WhereNode node;
    const std::size_t begin = at_;
    while (!at_end_of_group()) {
      if (take_word("and") || take_word("AND")) {
        if (node.children.empty() || at_end_of_group()) return missing_condition();
        continue;
      }
      auto child = parse_one();
      if (!child) return child;
      node.children.push_back(std::move(*child));
    }
    if (node.children.empty() && (begin > 0 || at_ < text_.size())) return missing_condition();
    if (node.children.size() == 1) return std::move(node.children.front());
    return node;
  }

  Result<WhereNode> parse_one() {
    skip_spaces();
    if (depth_ > 100) return fail(at_, "too many brackets", "Write it with fewer.");
    if (text_[at_] == '-' || text_[at_] == '!' || take_not()) {
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '!')) ++at_;
      skip_spaces();
      if (at_ >= text_.size() || text_[at_] == ')')
        return fail(at_, "nothing follows the negation", "Write what must not hold.");
      ++depth_;
      auto child = parse_one();
      --depth_;
      if (!child) return child;
      WhereNode node{WhereNode::Kind::none_of, {}, {}};
      node.children.push_back(std::move(*child));
      return node;
    }
    if (text_[at_] == '(') {
      const std::size_t open = at_++;
      ++depth_;
      auto inner = parse_any();
      --depth_;
      if (!inner) return inner;
      skip_spaces();
      if (at_ >= text_.size() || text_[at_] != ')') return fail(open, "this bracket is not closed", "Add a ).");
      ++at_;
      return inner;
    }
    return parse_term();
  }

  bool take_not() {
    const std::size_t before = at_;
    if (!take_word("not") && !take_word("NOT")) return false;
    skip_spaces();
    // The character that follows does not belong to this negation.
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '!')) {
      at_ = before + 3;
      return true;
    }
    return true;
  }

  Result<WhereNode> parse_term() {
    const std::size_t begin = at_;
    std::size_t name_end = at_;
    while (name_end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[name_end])) != 0 || text_[name_end] == '_'))
      ++name_end;
    const std::string_view name = text_.substr(begin, name_end - begin);
    for (const OpText& op : ops) {
      if (name.empty() || !text_.substr(name_end).starts_with(op.text)) continue;
      at_ = name_end + op.text.size();
      return make_term(begin, name, op);
    }
    const bool has_stack =
        std::any_of(fields_.begin(), fields_.end(), [](const WhereField& f) { return f.name == "stack"; });
    if (!has_stack)
      return fail(begin, "a condition needs a field",
                  fmt::format("Write one such as bytes>1GiB. Known: {}.", known_fields()));
    return make_term(begin, "stack", {":", WhereOp::contains});
  }

  Result<WhereNode> make_term(std::size_t begin, std::string_view name, OpText op) {
    const auto field =
        std::find_if(fields_.begin(), fields_.end(), [&](const WhereField& f) { return f.name == name; });
    if (field == fields_.end())
      return fail(begin, fmt::format("'{}' is not a field here", name), fmt::format("Known: {}.", known_fields()));
    if (!field->unavailable.empty())
      return fail(begin, fmt::format("'{}' can't be used here", name), std::string(field->unavailable));
    WhereNode node{WhereNode::Kind::term, {}, {}};
    node.term.field = static_cast<std::size_t>(field - fields_.begin());
    node.term.op = op.op;
    const std::size_t value_begin = at_;
    bool is_pattern = false;
    auto value = take_value(is_pattern);
    if (!value) return Failure(std::move(value.error()));
    if (field->kind == FieldKind::text) return finish_text(std::move(node), *field, *value, is_pattern, value_begin);
    if (op.op == WhereOp::contains) node.term.op = WhereOp::equals;
    const auto number = parse_number(*value, field->kind);
    if (!number)
      return fail(value_begin, fmt::format("'{}' needs {}, not '{}'", name, example_of(field->kind), *value), {});
    node.term.number = *number;
    return node;
  }

  Result<WhereNode> finish_text(WhereNode node, const WhereField& field, const std::string& value, bool is_pattern,
                                std::size_t value_begin) {
    const WhereOp op = node.term.op;
    if (op != WhereOp::contains && op != WhereOp::equals && op != WhereOp::differs)
      return fail(value_begin, fmt::format("'{}' is a text and can't be larger or smaller", field.name),
                  "Use : (contains), = or !=.");
    node.term.text = value;
    if (!is_pattern) return node;
    RE2::Options options(RE2::Quiet);
    auto pattern = std::make_shared<const RE2>(value, options);
    if (!pattern->ok())
      return fail(value_begin, fmt::format("the regular expression /{}/ is wrong: {}", value, pattern->error()),
                  "The syntax is RE2's: https://github.com/google/re2/wiki/Syntax.");
    node.term.pattern = std::move(pattern);
    return node;
  }

  // A quoted text, a /pattern/, or everything up to a space or parenthesis.
  Result<std::string> take_value(bool& is_pattern) {
    std::string value;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::size_t open = at_;
      const char quote = text_[at_++];
      while (at_ < text_.size() && text_[at_] != quote) value += text_[at_++];
      if (at_ >= text_.size()) return fail(open, "this quote is not closed", fmt::format("Add a {}.", quote));
      ++at_;
      return value;
    }
    if (const std::size_t close = end_of_pattern(); close != std::string_view::npos) {
      value = text_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
      is_pattern = true;
      return value;
    }
    int brackets = 0;  // Device names contain parentheses: device:TPU_0(process=0) is one value.
    while (at_ < text_.size() && !is_space(text_[at_])) {
      if (text_[at_] == '(') ++brackets;
      if (text_[at_] == ')' && brackets-- == 0) break;
      value += text_[at_++];
    }
    if (value.empty())
      return fail(at_, "a value is missing here", "Write one behind the sign, or \"\" for an empty text.");
    return value;
  }

  // A pattern ends at a / before a space, a parenthesis or the end. It may contain spaces or slashes, but not both:
  // file:/home/me/a.py is a path even if a pattern follows later.
  std::size_t end_of_pattern() const {
    if (at_ >= text_.size() || text_[at_] != '/') return std::string_view::npos;
    bool is_escaped = false, has_spaces = false, has_slashes = false;
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      if (is_space(text_[at])) {
        if (has_slashes) break;
        has_spaces = true;
      } else if (text_[at] == '/' && !is_escaped && at > at_ + 1) {
        if (at + 1 == text_.size() || is_space(text_[at + 1]) || text_[at + 1] == ')') return at;
        if (has_spaces) break;
        has_slashes = true;
      }
      is_escaped = text_[at] == '\\' && !is_escaped;
    }
    return std::string_view::npos;
  }

  std::string known_fields() const {
    std::string names;
    for (const WhereField& field : fields_)
      if (field.unavailable.empty()) names += (names.empty() ? "" : ", ") + std::string(field.name);
    return names;
  }

  std::string_view text_;
  std::span<const WhereField> fields_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr std::string_view no_times =
    "Sums by stack have no ages; for blocks of a trace use report --blocks 0 --where.";
constexpr std::string_view no_addresses = "A pprof profile has no addresses.";

constexpr std::array<WhereField, 16> profile_fields = {
    {{"size", FieldKind::bytes, "bytes of one array or program (before rounding and padding)", {}},
     {"bytes", FieldKind::bytes, "bytes of all that one stack holds on one device in this size", {}},
     {"count", FieldKind::count, "how many of them there are", {}},
     {"stack", FieldKind::text, "function or file of any frame", {}},
     {"function", FieldKind::text, "function of any frame", {}},
     {"file", FieldKind::text, "file of any frame", {}},
     {"device", FieldKind::text, "device: a part of its name, or its number", {}},
     {"kind", FieldKind::text, "buffer or executable", {}},
     {"label", FieldKind::text, "any label, as key=value", {}},
     {"age", FieldKind::time, {}, no_times},
     {"lifetime", FieldKind::time, {}, no_times},
     {"time", FieldKind::time, {}, no_times},
     {"address", FieldKind::text, {}, no_addresses},
     {"offset", FieldKind::bytes, {}, no_addresses},
     {"stream", FieldKind::text, {}, "A pprof profile does not say which stream used the memory."},
     {"tag",
      FieldKind::text,
      {},
      "What is summed up by stacks has labels instead: label:key=value, of a trace label:\"tag=step 3\"."}}};

}  // namespace

bool WhereTerm::matches_text(std::string_view value) const {
  const bool found = pattern != nullptr        ? RE2::PartialMatch({value.data(), value.size()}, *pattern)
                     : op == WhereOp::contains ? contains_ignoring_case(value, text)
                                               : value == text;
  return found != (op == WhereOp::differs);
}

bool WhereTerm::matches_device(std::string_view name) const {
  std::int64_t wanted = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, wanted);
  if (pattern == nullptr && error == std::errc() && rest == end)
    if (const auto id = parse_device_name(name).id) return (*id == wanted) != (op == WhereOp::differs);
  return matches_text(name);
}

bool WhereTerm::matches_number(double value) const {
  switch (op) {
    case WhereOp::contains:
    case WhereOp::equals: return value == number;
    case WhereOp::differs: return value != number;
    case WhereOp::less: return value < number;
    case WhereOp::less_or_equal: return value <= number;
    case WhereOp::greater: return value > number;
    case WhereOp::greater_or_equal: return value >= number;
  }
  return false;
}

Result<WhereNode> parse_where(std::string_view text, std::span<const WhereField> fields) {
  return Parser(text, fields).parse();
}

std::string where_quote(std::string_view text) {
  const auto is_plain = [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           std::string_view("_-./=,:@%+").find(character) != std::string_view::npos;
  };
  const auto is_word = [&](char character) { return is_plain(character) && character != '=' && character != ':'; };
  if (!text.empty() && text.front() != '/' && text.front() != '-' && std::all_of(text.begin(), text.end(), is_word))
    return std::string(text);
  if (text.find('"') == std::string_view::npos) return '"' + std::string(text) + '"';
  if (text.find('\'') == std::string_view::npos) return '\'' + std::string(text) + '\'';
  // The language has no escapes, so a text that contains both kinds of quotes is written as a regular expression.
  std::string pattern = "/";
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (is_plain(character) || byte >= 0x80) {
      pattern += character == '/' || character == '.' || character == '+'
                     ? std::string("\\x") + digits[byte >> 4] + digits[byte & 15]
                     : std::string(1, character);
    } else {
      pattern += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    }
  }
  return pattern + "/";
}

bool has_term_of(const WhereNode& node, std::span<const WhereField> fields, std::string_view field) {
  if (node.kind == WhereNode::Kind::term) return fields[node.term.field].name == field;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const WhereNode& child) { return has_term_of(child, fields, field); });
}

std::span<const WhereField> profile_where_fields() {
  return profile_fields;
}

}  // namespace hbmscope
