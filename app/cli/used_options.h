// Which options stood on the command line, so that one that does not apply is refused rather than ignored. A default
// that was not asked for is none.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace CLI {
class App;
}

namespace hbmscope::cli {

class Given {
 public:
  void take_from(const CLI::App& command);  // After it was parsed.
  void add(std::string_view option) { names_.emplace_back(option); }
  bool has(std::string_view option) const;

  // Error: one of the options was given; `why` they can't be, "... does not apply to X", is said of that one.
  Result<void> refuse(std::initializer_list<std::string_view> options, std::string_view why) const;

 private:
  std::vector<std::string> names_;  // "--by"
};

}  // namespace hbmscope::cli
