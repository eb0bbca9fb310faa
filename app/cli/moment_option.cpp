#include "app/cli/moment_option.h"

#include <CLI/CLI.hpp>

namespace hbmscope::cli {
CLI::Option* ignore_case(CLI::Option* option) {
  return option->transform(CLI::ignore_case);
}

CLI::Option* add_moment_option(CLI::App& command, const std::string& name, std::string& moment,
                               const std::string& help) {
  const auto why_no_moment = [](const std::string& text) {
    return text.empty() ? "it is empty: write start, end, peak, oom, a time such as 12.5s, or #EVENT" : std::string();
  };
  return ignore_case(command.add_option(name, moment, help)->check(CLI::Validator(why_no_moment, "")));
}

}  // namespace hbmscope::cli
