// The options that were used on the command line, so that one that does not apply is refused instead of ignored.
// Options left at their default are not included.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

class UsedOptions {
 public:
  void add(std::string_view option) { names_.emplace_back(option); }
  bool has(std::string_view option) const;

  // Error if one of the options was used. `why` completes "--by ...", as in "does not apply to X".
  Result<void> refuse(std::span<const std::string_view> options, std::string_view why) const;
  Result<void> refuse(std::initializer_list<std::string_view> options, std::string_view why) const {
    return refuse(std::span(options.begin(), options.size()), why);
  }
  // Error if any other option was used. Files are no options.
  Result<void> refuse_all_but(std::initializer_list<std::string_view> options, std::string_view why) const;

 private:
  std::vector<std::string> names_;  // "--by"
};

}  // namespace hbmscope::cli
