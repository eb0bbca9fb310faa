#include "app/gui/platform/picture.h"

#include <stb_image_write.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace hbmscope::gui {

namespace {

void append(void* context, void* data, int size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

}  // namespace

Picture part_of(const Picture& picture, int left, int top, int right, int bottom) {
  left = std::clamp(left, 0, picture.width);
  top = std::clamp(top, 0, picture.height);
  Picture part{std::clamp(right, left, picture.width) - left, std::clamp(bottom, top, picture.height) - top, {}};
  part.rgb.reserve(static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height) * 3);
  for (int y = top; y < top + part.height; ++y) {
    const auto row = picture.rgb.begin() + (static_cast<std::ptrdiff_t>(y) * picture.width + left) * 3;
    part.rgb.insert(part.rgb.end(), row, row + static_cast<std::ptrdiff_t>(part.width) * 3);
  }
  return part;
}

Result<std::uint64_t> write_png(const Picture& picture, const std::string& file) {
  std::string bytes;
  stbi_write_png_to_func(append, &bytes, picture.width, picture.height, 3, picture.rgb.data(), picture.width * 3);
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    return Failure(Error{.what = std::string("can't write the picture: ") + std::strerror(errno),
                         .remedy = "Choose a file in a folder that exists and is writable.",
                         .file = file,
                         .offset = {}});
  }
  return bytes.size();
}

}  // namespace hbmscope::gui
