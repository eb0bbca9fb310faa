// A node of a JSON text that knows its path, so that errors can name the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace hbmscope::tpu_workload {

// Formulas of a workload file: integers, names of parameters and loops, + - * / % (rounded toward zero), comparisons (1
// if true), min(a, b), max(a, b), ceil(a, b) (a / b rounded up), parentheses.
struct Variable {
  std::string name;
  std::int64_t value = 0;
};
using Variables = std::vector<Variable>;  // If a name occurs twice, the last one counts.

// Faults are sentences without a full stop: not a formula, an unknown name, a division by 0, numbers beyond 2^62.
tl::expected<std::int64_t, std::string> compute_expression(std::string_view text, const Variables& variables);
// "kv{i+1}" -> "kv3". Faults: those of the formulas in it, an unclosed brace.
tl::expected<std::string, std::string> fill_in(std::string_view text, const Variables& variables);

// A key, or "[3]" in a list.
using JsonPath = std::vector<std::string>;
std::string text_from_path(const JsonPath& path);  // "programs.step.operations[3].reads"
// The line of a value in valid JSON (comments allowed), or of the last node found along the path.
std::size_t find_line(std::string_view text, const JsonPath& path);

// Thrown while reading a file, and caught by its reader.
struct Fault {
  JsonPath path;
  std::string what, remedy;
};

class Node {
 public:
  using Json = nlohmann::ordered_json;
  explicit Node(const Json& json) : json_(&json) {}

  const JsonPath& path() const { return path_; }
  [[noreturn]] void fail(std::string what, std::string remedy = {}) const;

  // Faults: a value of another kind, a missing key, a key that is not allowed.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  Node at(const char* key) const;
  std::optional<Node> find(const char* key) const;
  std::vector<std::pair<std::string, Node>> members() const;
  std::vector<Node> items() const;
  bool is_null() const { return json_->is_null(); }
  bool is_text() const { return json_->is_string(); }
  bool is_list() const { return json_->is_array(); }
  const std::string& text() const;
  bool flag() const;
  // A number or a formula.
  std::int64_t number(const Variables& variables) const;
  std::uint64_t number_from(std::uint64_t least, const Variables& variables) const;
  std::string filled_in(const Variables& variables) const;

 private:
  Node(const Json& json, const JsonPath& parent, std::string step);
  const Json* json_;
  JsonPath path_;
};

}  // namespace hbmscope::tpu_workload
