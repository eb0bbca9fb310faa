#include <fmt/format.h>

#include "analysis/query/top.h"
#include "analysis/units/utf8.h"
#include "analysis/write/write.h"

namespace hbmscope {
namespace {

std::string quoted(std::string_view bytes) {
  std::string text = valid_utf8(bytes);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string write_csv(const ProfileView& view) {
  std::string text =
      "name,file,line,flat_bytes,cum_bytes,flat_count,cum_count,flat_unknown_count,cum_unknown_count\r\n";
  for (const TopRow& top : compute_top(view)) {
    const Frame& frame = view.frames[row(top.frame)];
    text += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", quoted(frame.function), quoted(frame.file),
                        frame.line == 0 ? "" : std::to_string(frame.line), top.flat.bytes, top.cum.bytes,
                        top.flat.count, top.cum.count, top.flat.unknown, top.cum.unknown);
  }
  return text;
}

}  // namespace hbmscope
