// Builds a command line for a POSIX shell, one argument at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope::gui {

class CommandLine {
 public:
  explicit CommandLine(std::string_view words) : text_(words) {}
  void add(std::string_view argument);
  void add_option(std::string_view name, std::string_view value);  // Adds nothing if the value is empty.
  void add_flag(std::string_view name, bool given);
  void add_filters(const ViewRequest& request);
  std::string take() { return std::move(text_); }
  // What was added with a name: {"at", "oom"}, {"all-devices", ""}.
  const std::vector<std::pair<std::string, std::string>>& options() const { return options_; }

 private:
  std::string text_;
  std::vector<std::pair<std::string, std::string>> options_;
};

}  // namespace hbmscope::gui
