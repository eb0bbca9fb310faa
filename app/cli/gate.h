// --fail-if and --junit: what they are given, and how the result is reported. analysis/judge decides.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/model/result.h"

namespace hbmscope::cli {

struct GateOptions {
  std::string condition;  // Empty: none.
  std::string junit;      // A file for the result. Empty if there is none.
  std::string command;    // "hbmscope report", for that file.
};

// Prints the text to stdout and the failure to stderr, and returns the exit code. Of an error, only that is printed.
int print_with_gate(std::string_view text, const GateOptions& gate, const Result<std::optional<std::string>>& failure);
// The same where the text was printed already. Writes gate.junit, if it is given: one test, which failed, has an error
// (the condition could not be decided) or passed.
int exit_code_of_gate(const GateOptions& gate, const Result<std::optional<std::string>>& failure);
// Of a dry run whose command did not end well, for gate.junit alone: memory ran out, which fails the gate, or the
// command failed for another reason, which is an error. `verdict`: in one line.
void note_failed_run(const GateOptions& gate, bool ran_out, const std::string& verdict);
// Calls what ends with one of these, or fails before: gate.junit then says so.
int run_with_gate(const GateOptions& gate, const std::function<int()>& act);

}  // namespace hbmscope::cli
