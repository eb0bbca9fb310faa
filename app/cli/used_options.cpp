#include "app/cli/used_options.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::cli {

bool UsedOptions::has(std::string_view option) const {
  return std::find(names_.begin(), names_.end(), option) != names_.end();
}

Result<void> UsedOptions::refuse(std::span<const std::string_view> options, std::string_view why) const {
  for (const std::string_view option : options)
    if (has(option)) return Failure(refusal(fmt::format("{} {}", option, why), fmt::format("Remove {}.", option)));
  return {};
}

Result<void> UsedOptions::refuse_all_but(std::initializer_list<std::string_view> options, std::string_view why) const {
  for (const std::string& name : names_)
    if (name.starts_with("-") && std::find(options.begin(), options.end(), name) == options.end())
      return refuse({name}, why);
  return {};
}

}  // namespace hbmscope::cli
