#include "app/cli/report/report_text.h"

#include <fmt/format.h>

#include "analysis/document/text.h"
#include "analysis/query/short_name.h"
#include "analysis/units/utf8.h"

namespace hbmscope::cli {

std::string text_from_frame(const Frame& frame, const Terminal& terminal, std::size_t width) {
  const std::string function = printable(short_name_of_function(frame.function));
  std::string where = printable(frame.file);
  if (!where.empty() && frame.line > 0) where += fmt::format(":{}", frame.line);
  const std::size_t used = display_width(function) + 2;
  if (width > used + 8) where = fit_end(where, width - used);
  std::string name = terminal.paint(function, frame.is_library ? Ink::dim : Ink::plain);
  if (where.empty() || frame.file == frame.function) return name;
  return name + "  " + terminal.paint(where, Ink::dim);
}

}  // namespace hbmscope::cli
