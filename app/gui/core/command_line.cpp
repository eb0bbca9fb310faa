#include "app/gui/core/command_line.h"

#include "analysis/units/shell_quote.h"

namespace hbmscope::gui {

void CommandLine::add(std::string_view argument) {
  text_ += " " + shell_quote(argument);
}

void CommandLine::add_option(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text_ += " " + std::string(name);
  add(value);
  options_.emplace_back(name.substr(2), value);
}

void CommandLine::add_flag(std::string_view name, bool given) {
  if (!given) return;
  text_ += " " + std::string(name);
  options_.emplace_back(name.substr(2), "");
}

void CommandLine::add_filters(const ViewRequest& request) {
  add_option("--where", request.where);
  add_option("--focus", request.focus);
  add_option("--ignore", request.ignore);
  add_option("--hide", request.hide);
  add_option("--show", request.show);
  add_flag("--keep-dropped-frames", request.keep_dropped_frames);
}

}  // namespace hbmscope::gui
