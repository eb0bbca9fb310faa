#include "analysis/read/tpu_workload/json_node.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace hbmscope::tpu_workload {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 62;
constexpr int depth_max = 64;

class Parser {
 public:
  Parser(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}

  tl::expected<std::int64_t, std::string> run() {
    const std::int64_t value = comparison();
    skip();
    if (fault_.empty() && at_ < text_.size()) refuse(fmt::format("'{}' does not belong there", text_.substr(at_)));
    if (!fault_.empty()) return tl::unexpected(fmt::format("'{}': {}", text_, fault_));
    return value;
  }

 private:
  void refuse(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  std::int64_t checked(bool overflows, std::int64_t value) {
    if (!overflows && value <= most && value >= -most) return value;
    refuse("the number is too large");
    return 0;
  }

  std::int64_t comparison() {
    const std::int64_t left = sum();
    if (take("==")) return left == sum() ? 1 : 0;
    if (take("!=")) return left != sum() ? 1 : 0;
    if (take("<=")) return left <= sum() ? 1 : 0;
    if (take(">=")) return left >= sum() ? 1 : 0;
    if (take("<")) return left < sum() ? 1 : 0;
    if (take(">")) return left > sum() ? 1 : 0;
    return left;
  }

  std::int64_t sum() {
    std::int64_t value = product(), out = 0;
    while (fault_.empty()) {
      const bool is_plus = take("+");
      if (!is_plus && !take("-")) break;
      const std::int64_t right = product();
      const bool overflows =
          is_plus ? __builtin_add_overflow(value, right, &out) : __builtin_sub_overflow(value, right, &out);
      value = checked(overflows, out);
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = atom(), out = 0;
    while (fault_.empty()) {
      const bool is_product = take("*"), is_quotient = !is_product && take("/");
      if (!is_product && !is_quotient && !take("%")) break;
      const std::int64_t right = atom();
      if (!is_product && right == 0) {
        refuse("a division by 0");
        break;
      }
      const bool overflows = is_product && __builtin_mul_overflow(value, right, &out);
      if (is_product)
        value = checked(overflows, out);
      else
        value = is_quotient ? value / right : value % right;
    }
    return value;
  }

  std::int64_t atom() {
    if (++depth_ > depth_max) refuse("too many brackets");
    const std::int64_t value = fault_.empty() ? unnested_atom() : 0;
    --depth_;
    return value;
  }

  std::int64_t unnested_atom() {
    if (take("-")) return -atom();
    if (take("(")) {
      const std::int64_t value = comparison();
      if (!take(")")) refuse("a bracket is not closed");
      return value;
    }
    skip();
    const std::size_t begin = at_;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      refuse("a number or a name is missing");
      return 0;
    }
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) return number(word);
    if (take("(")) return function(word);
    const auto found =
        std::find_if(variables_.rbegin(), variables_.rend(), [&](const Variable& each) { return each.name == word; });
    if (found != variables_.rend()) return found->value;
    refuse(fmt::format("there is no parameter '{}'", word));
    return 0;
  }

  std::int64_t number(std::string_view word) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
      refuse(fmt::format("'{}' is not a number", word));
      return 0;
    }
    return checked(false, value);
  }

  std::int64_t function(std::string_view name) {
    const std::int64_t a = comparison();
    if (!take(",")) refuse("a comma is missing");
    const std::int64_t b = fault_.empty() ? comparison() : 1;
    if (!take(")")) refuse("a bracket is not closed");
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name == "ceil" && b > 0) return a > 0 ? (a - 1) / b + 1 : a / b;
    refuse(name == "ceil" ? "a division by what is not above 0" : fmt::format("there is no function '{}'", name));
    return 0;
  }

  std::string_view text_;
  const Variables& variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string fault_;
};

// Scans valid JSON; never moves past its end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  std::size_t at() const { return at_; }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] <= ' ')
        ++at_;
      else if (text_.substr(at_).starts_with("//"))
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_).starts_with("/*"))
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      else
        break;
    }
  }
  // The raw text between the quotes, with its escapes.
  std::string_view take_string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view inside = text_.substr(begin, at_ - begin);
    if (at_ < text_.size()) ++at_;
    return inside;
  }
  bool take(char sign) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      if (c == '"') {
        take_string();
        continue;
      }
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      ++at_;
      const bool is_word = c != ',' && c != ':' && std::string_view("{}[]").find(c) == std::string_view::npos;
      while (is_word && at_ < text_.size() &&
             std::string_view(",:{}[]\" \t\r\n/").find(text_[at_]) == std::string_view::npos)
        ++at_;
    } while (depth > 0);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// On success, the scanner is in front of that step's value.
bool enter(Scanner& scanner, const std::string& step) {
  const bool is_index = step.starts_with('[');
  if (!scanner.take(is_index ? '[' : '{')) return false;
  if (is_index) {
    for (std::size_t left = std::stoul(step.substr(1)); left > 0; --left) {
      scanner.skip_value();
      if (!scanner.take(',')) return false;
    }
    scanner.skip_space();
    return true;
  }
  do {
    scanner.skip_space();
    const std::string_view key = scanner.take_string();
    if (!scanner.take(':')) return false;
    scanner.skip_space();
    if (key == step) return true;
    scanner.skip_value();
  } while (scanner.take(','));
  return false;
}

}  // namespace

tl::expected<std::int64_t, std::string> compute_expression(std::string_view text, const Variables& variables) {
  return Parser(text, variables).run();
}

tl::expected<std::string, std::string> fill_in(std::string_view text, const Variables& variables) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    out += text.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return tl::unexpected(fmt::format("'{}': a bracket is not closed", text));
    const auto value = compute_expression(text.substr(open + 1, close - open - 1), variables);
    if (!value) return tl::unexpected(value.error());
    out += fmt::to_string(*value);
    at = close + 1;
  }
  return out;
}

std::string text_from_path(const JsonPath& path) {
  std::string text;
  for (const std::string& step : path) text += (text.empty() || step.starts_with('[') ? "" : ".") + step;
  return text;
}

std::size_t find_line(std::string_view text, const JsonPath& path) {
  Scanner scanner(text);
  scanner.skip_space();
  std::size_t found = scanner.at();
  for (const std::string& step : path) {
    if (!enter(scanner, step)) break;
    found = scanner.at();
  }
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(found), '\n'));
}

Node::Node(const Json& json, const JsonPath& parent, std::string step) : json_(&json), path_(parent) {
  path_.push_back(std::move(step));
  constexpr std::size_t depth_max = 100;
  if (path_.size() > depth_max) fail("this is nested too deeply");
}

void Node::fail(std::string what, std::string remedy) const {
  throw Fault{path_, std::move(what), std::move(remedy)};
}

void Node::allow_only(std::initializer_list<std::string_view> keys) const {
  if (!json_->is_object()) fail("this is no object", "Write { ... } here.");
  for (const auto& [key, value] : json_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const std::string_view each : keys) known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
    Node(value, path_, key).fail(fmt::format("there is no key '{}' here", key), fmt::format("Known: {}.", known));
  }
}

Node Node::at(const char* key) const {
  auto found = find(key);
  if (!found) fail(fmt::format("'{}' is missing", key), fmt::format("Add \"{}\": ...", key));
  return *found;
}

std::optional<Node> Node::find(const char* key) const {
  if (!json_->is_object()) fail("this is no object", "Write { ... } here.");
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return Node(*found, path_, key);
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!json_->is_object()) fail("this is no object", "Write { ... } here.");
  std::vector<std::pair<std::string, Node>> members;
  for (const auto& [key, value] : json_->items()) members.emplace_back(key, Node(value, path_, key));
  return members;
}

std::vector<Node> Node::items() const {
  if (!json_->is_array()) fail("this is no list", "Write [ ... ] here.");
  std::vector<Node> items;
  for (std::size_t i = 0; i < json_->size(); ++i) items.push_back(Node((*json_)[i], path_, fmt::format("[{}]", i)));
  return items;
}

const std::string& Node::text() const {
  if (!json_->is_string()) fail("this is no text", "Write it in quotes.");
  return json_->get_ref<const std::string&>();
}

bool Node::flag() const {
  if (!json_->is_boolean()) fail("this is neither true nor false");
  return json_->get<bool>();
}

std::int64_t Node::number(const Variables& variables) const {
  if (json_->is_number_integer()) {
    const auto value = json_->get<std::int64_t>();
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (json_->is_number_unsigned() ? json_->get<std::uint64_t>() > most : value < -most)
      fail("the number is too large");
    return value;
  }
  if (!json_->is_string()) fail("this is not a whole number", "Write a number, or a formula in quotes: \"batch * 4\".");
  const auto value = compute_expression(text(), variables);
  if (!value) fail(value.error(), "Formulas know the names of \"parameters\" and of loops.");
  return *value;
}

std::uint64_t Node::number_from(std::uint64_t least, const Variables& variables) const {
  const std::int64_t value = number(variables);
  if (value < 0 || static_cast<std::uint64_t>(value) < least) fail(fmt::format("{} is less than {}", value, least));
  return static_cast<std::uint64_t>(value);
}

std::string Node::filled_in(const Variables& variables) const {
  auto filled = fill_in(text(), variables);
  if (!filled) fail(filled.error(), "Formulas in { } know the names of \"parameters\" and of loops.");
  return *filled;
}

}  // namespace hbmscope::tpu_workload
