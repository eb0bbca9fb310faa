// Formulas of a workload file: integers, names of parameters and loops, + - * / % (rounded toward zero), comparisons (1
// if true), min(a, b), max(a, b), ceil(a, b) (a / b rounded up), parentheses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace hbmscope::tpu_workload {

struct Variable {
  std::string name;
  std::int64_t value = 0;
};
using Variables = std::vector<Variable>;  // If a name occurs twice, the last one counts.

// Faults are sentences without a full stop: not a formula, an unknown name, a division by 0, numbers beyond 2^62.
tl::expected<std::int64_t, std::string> compute_expression(std::string_view text, const Variables& variables);
// "kv{i+1}" -> "kv3". Faults: those of the formulas in it, an unclosed brace.
tl::expected<std::string, std::string> fill_in(std::string_view text, const Variables& variables);

}  // namespace hbmscope::tpu_workload
