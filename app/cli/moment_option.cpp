#include "app/cli/moment_option.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace hbmscope::cli {
namespace {

std::string make_lower(std::string& text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return {};
}

}  // namespace

CLI::Option* ignore_case(CLI::Option* option) {
  return option->transform(CLI::Validator(make_lower, ""));
}

CLI::Option* add_moment_option(CLI::App& command, const std::string& name, std::string& moment,
                               const std::string& help) {
  const auto is_named = [](std::string& text) {
    if (text.empty()) return std::string("it is empty: write start, end, peak, oom, a time such as 12.5s, or #EVENT");
    return make_lower(text);
  };
  return command.add_option(name, moment, help)->transform(CLI::Validator(is_named, ""));
}

}  // namespace hbmscope::cli
