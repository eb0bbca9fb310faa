#include <fmt/format.h>

#include "analysis/query/top.h"
#include "analysis/units/csv_text.h"
#include "analysis/write/write.h"

namespace hbmscope {
std::string write_csv(const ProfileView& view) {
  std::string text =
      "name,file,line,flat_bytes,cum_bytes,flat_count,cum_count,flat_unknown_count,cum_unknown_count\r\n";
  for (const TopRow& top : compute_top(view)) {
    const Frame& frame = view.frames[row(top.frame)];
    text += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_text(frame.function), csv_text(frame.file),
                        frame.line == 0 ? "" : std::to_string(frame.line), top.flat.bytes, top.cum.bytes,
                        top.flat.count, top.cum.count, top.flat.unknown, top.cum.unknown);
  }
  return text;
}

}  // namespace hbmscope
