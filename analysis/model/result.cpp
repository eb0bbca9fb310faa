#include "analysis/model/result.h"

#include <fmt/format.h>

namespace hbmscope {

std::string Error::text() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  // Without a file, the offset is a position in what the user typed. It is printed counting from 1.
  if (offset && file.empty())
    text += fmt::format("character {}: ", *offset + 1);
  else if (offset)
    text += fmt::format("byte {}{}: ", fmt::group_digits(*offset), inflated ? " (after inflating)" : "");
  text += what;
  if (!text.empty() && text.back() != '.' && text.back() != '?') text += '.';
  if (!remedy.empty()) text += " " + remedy;
  return text;
}

}  // namespace hbmscope
