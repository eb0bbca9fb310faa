#include "analysis/read/other_format.h"

#include <algorithm>
#include <array>

namespace hbmscope {
namespace {

using namespace std::string_view_literals;

struct Beginning {
  std::string_view bytes, name;
};

constexpr std::array beginnings = {
    Beginning{"\x7f\x45LF"sv, "a program"},
    Beginning{"PK\x03\x04"sv, "a zip archive"},
    Beginning{"PK\x05\x06"sv, "an empty zip archive"},
    Beginning{"\x1f\x8b"sv, "gzip data"},
    Beginning{"\x28\xb5\x2f\xfd"sv, "zstd data"},
    Beginning{"\xfd\x37zXZ"sv, "xz data"},
    Beginning{"SQLite format 3"sv, "an SQLite database"},
    Beginning{"\x93NUMPY"sv, "a NumPy array"},
    Beginning{"\x89HDF"sv, "an HDF5 file"},
    Beginning{R"({"config":{"total_bytes":)"sv, "requests for `hbmscope replay`"},
    Beginning{"{"sv, "JSON"},
    Beginning{"[{"sv, "JSON"},
    Beginning{"[\n"sv, "JSON"},
    Beginning{"<"sv, "HTML or XML"},
};

}  // namespace

std::string_view find_other_format(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 512));
  for (const Beginning& beginning : beginnings)
    if (text.starts_with(beginning.bytes)) return beginning.name;
  if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
    return "a Python pickle, such as a PyTorch memory snapshot";
  const bool is_text = std::all_of(
      text.begin(), text.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r'; });
  return is_text && !text.empty() ? "plain text" : "";
}

}  // namespace hbmscope
