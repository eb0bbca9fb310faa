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
    Beginning{"\x89PNG"sv, "a picture (PNG)"},
    Beginning{"\xff\xd8\xff"sv, "a picture (JPEG)"},
    Beginning{"GIF8"sv, "a picture (GIF)"},
    Beginning{"%PDF"sv, "a PDF document"},
    Beginning{"BZh"sv, "bzip2 data"},
    Beginning{"\xff\xfe"sv, "text in UTF-16 (iconv -f UTF-16 -t UTF-8 converts it)"},
    Beginning{"\xfe\xff"sv, "text in UTF-16 (iconv -f UTF-16 -t UTF-8 converts it)"},
    Beginning{"{"sv, "JSON"},
    Beginning{"[{"sv, "JSON"},
    Beginning{"[\n"sv, "JSON"},
    Beginning{"<"sv, "HTML or XML"},
};

// Python's marshal of a dictionary whose keys are (file, line, function): what cProfile and pstats write. The high bit
// of a type marks an object that is referred to later (Python/marshal.c, FLAG_REF).
bool is_cprofile(std::string_view text) {
  const auto type = [&](std::size_t at) { return static_cast<char>(text[at] & 0x7f); };
  return text.size() > 3 && type(0) == '{' && type(1) == ')' && text[2] == 3;
}

// tensorflow.profiler.XSpace: field 1, planes with names such as "/host:CPU" (xplane.proto).
bool is_xspace(std::string_view text) {
  constexpr std::size_t looked_at = 96;
  const std::string_view first = text.substr(0, looked_at);
  return first.starts_with('\x0a') &&
         (first.find("/host:") != std::string_view::npos || first.find("/device:") != std::string_view::npos);
}

bool is_tar(std::string_view text) {
  constexpr std::size_t magic_at = 257;
  return text.size() > magic_at && text.substr(magic_at).starts_with("ustar");
}

// Latin text in UTF-16 without a mark: every second byte is 0.
bool is_utf16(std::string_view text) {
  constexpr std::size_t looked_at = 32;
  if (text.size() < looked_at) return false;
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < looked_at; ++i) zeros[i % 2] += text[i] == '\0' ? 1 : 0;
  return (zeros[0] == 0) != (zeros[1] == 0) && std::max(zeros[0], zeros[1]) == looked_at / 2;
}

}  // namespace

std::string_view find_other_format(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 512));
  if (is_cprofile(text)) return "a profile of Python's cProfile, which has times and no memory";
  for (const Beginning& beginning : beginnings)
    if (text.starts_with(beginning.bytes)) return beginning.name;
  if (is_xspace(text)) return "an XSpace (.xplane.pb) of jax.profiler or TensorFlow, which does not open yet";
  if (is_tar(text)) return "a tar archive (tar -xf unpacks it)";
  if (is_utf16(text)) return "text in UTF-16 (iconv -f UTF-16 -t UTF-8 converts it)";
  if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
    return "a Python pickle, such as a PyTorch memory snapshot";
  const bool is_text = std::all_of(
      text.begin(), text.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r'; });
  return is_text && !text.empty() ? "plain text" : "";
}

}  // namespace hbmscope
