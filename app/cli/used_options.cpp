#include "app/cli/given.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace hbmscope::cli {

void Given::take_from(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) names_.push_back(option->get_name());
}

bool Given::has(std::string_view option) const {
  return std::find(names_.begin(), names_.end(), option) != names_.end();
}

Result<void> Given::refuse(std::initializer_list<std::string_view> options, std::string_view why) const {
  for (const std::string_view option : options)
    if (has(option)) return Failure(Error{fmt::format("{} {}", option, why), "Leave it out.", {}, {}, false});
  return {};
}

}  // namespace hbmscope::cli
