#include "analysis/read/tpu_workload/expression.h"

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

}  // namespace hbmscope::tpu_workload
