#include "app/cli/gate.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "analysis/document/html.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// As Jenkins, GitLab and pytest read it (https://github.com/testmoapp/junitxml).
std::string junit_text(const GateOptions& gate, const Result<std::optional<std::string>>& failure) {
  const bool has_failed = failure && failure->has_value();
  const std::string message = !failure ? failure.error().text() : failure->value_or("");
  const char* element = failure ? "failure" : "error";
  std::string result;
  if (!message.empty()) result = fmt::format("\n      <{} message=\"{}\"/>\n    ", element, xml_escaped(message));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"hbmscope\" tests=\"1\" failures=\"{}\" errors=\"{}\">\n"
      "    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n",
      has_failed ? 1 : 0, failure ? 0 : 1, xml_escaped(gate.command), xml_escaped(gate.condition), result);
}

bool write_junit(const GateOptions& gate, const Result<std::optional<std::string>>& failure) {
  if (gate.junit.empty()) return true;
  std::ofstream file(gate.junit, std::ios::binary);
  file << junit_text(gate, failure);
  file.close();
  return file.good();
}

}  // namespace

int exit_code_of_gate(const GateOptions& gate, const Result<std::optional<std::string>>& failure) {
  const bool is_written = write_junit(gate, failure);
  if (!is_written)
    return fail(refusal(fmt::format("it can't be written: {}", std::strerror(errno)), "Check the path.", gate.junit));
  if (!failure) return fail(failure.error());
  if (!*failure) return exit_ok;
  fmt::print(stderr, "hbmscope: {}\n", printable(**failure));
  return exit_gate_failed;
}

int print_with_gate(std::string_view text, const GateOptions& gate, const Result<std::optional<std::string>>& failure) {
  if (!failure) return exit_code_of_gate(gate, failure);
  return print_to_stdout(text) ? exit_code_of_gate(gate, failure) : exit_unreadable;
}

void note_failed_run(const GateOptions& gate, bool ran_out, const std::string& verdict) {
  if (ran_out)
    write_junit(gate, std::optional(verdict));
  else
    write_junit(gate, Failure(refusal(verdict, "The output says why.")));
}

int run_with_gate(const GateOptions& gate, const std::function<int()>& act) {
  std::error_code error;
  if (std::filesystem::is_regular_file(gate.junit, error))
    std::filesystem::remove(gate.junit, error);  // An earlier run's.
  const int code = act();
  const bool is_left = !gate.junit.empty() && code != exit_ok && !std::filesystem::exists(gate.junit, error);
  if (!is_left) return code;
  // Of a dry run: it did not fit, or the job failed.
  const std::string why = fmt::format("exit code {}; the output says why", code);
  if (code == exit_gate_failed)
    write_junit(gate, std::optional(why));
  else
    write_junit(gate, Failure(last_error().value_or(refusal(why, {}))));
  return code;
}

}  // namespace hbmscope::cli
