#include "app/cli/jobs/find_job.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "analysis/units/contains.h"
#include "analysis/units/utf8.h"
#include "app/cli/load.h"

namespace hbmscope::cli {
std::optional<pid_t> process_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  constexpr std::size_t digits_max = 9;
  return text.size() > digits_max ? 0 : static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
}

bool is_named(const attach::RunningJob& job, const std::string& part) {
  return contains_ignoring_case(job.command, part);
}

std::string command_text(const std::string& command) {
  std::string line = command;
  for (char& letter : line)
    if (letter == '\n' || letter == '\t' || letter == '\r') letter = ' ';
  return printable(line);
}

int refuse_named(const std::string& part, const std::vector<attach::RunningJob>& found, const std::string& remedy) {
  const int code =
      fail(refusal(found.empty() ? fmt::format("no job has a command that contains \"{}\"", part)
                                 : fmt::format("{} jobs have commands that contain \"{}\"", found.size(), part),
                   remedy));
  for (const attach::RunningJob& job : found) fmt::print(stderr, "  {}  {}\n", job.process, command_text(job.command));
  return code;
}

}  // namespace hbmscope::cli
