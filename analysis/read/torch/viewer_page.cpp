#include "analysis/read/torch/viewer_page.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace hbmscope::torch {
namespace {

constexpr std::string_view space = " \t\r\n", variable = "local_files", viewer = "MemoryViz.js", key = "\"base64\"";
constexpr std::uint8_t no_digit = 64;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// By byte: the value of a base64 digit, or no_digit.
constexpr std::array<std::uint8_t, 256> make_values() {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<std::uint8_t>(digits[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> values = make_values();

// Where the text of the variable's first file begins, if there is one.
std::optional<std::size_t> find_base64(std::string_view text) {
  const std::size_t begin = text.find(variable);
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t at = text.find(key, begin);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find_first_not_of(space, at + key.size());
  if (at == std::string_view::npos || text[at] != ':') return std::nullopt;
  at = text.find_first_not_of(space, at + 1);
  if (at == std::string_view::npos || text[at] != '"') return std::nullopt;
  return at + 1;
}

Failure damaged(std::string what, std::uint64_t byte, const std::string& name) {
  return Failure(Error{std::move(what),
                       "Was the page cut off? Save it again with torch.cuda._memory_viz, or open the "
                       "snapshot that it was made from.",
                       name, byte, false});
}

}  // namespace

bool looks_like_viewer_page(std::span<const std::uint8_t> bytes) {
  const std::string_view text = text_of(bytes.first(std::min<std::size_t>(bytes.size(), 65'536)));
  const std::size_t first = text.find_first_not_of(space);
  return first != std::string_view::npos && text[first] == '<' &&
         (text.find(viewer) != std::string_view::npos || text.find(variable) != std::string_view::npos);
}

Result<ByteBuffer> read_viewer_page(std::span<const std::uint8_t> bytes, const std::string& name) {
  const std::string_view text = text_of(bytes);
  const auto begin = find_base64(text);
  if (!begin)
    return Failure(refusal("this page of PyTorch's memory viewer contains no snapshot",
                           "Open the snapshot that the page shows: the file that torch.cuda.memory._dump_snapshot() "
                           "wrote.",
                           name));
  const std::size_t end = text.find_first_of("\"=", *begin);
  if (end == std::string_view::npos)
    return damaged("this page of PyTorch's memory viewer is incomplete: its snapshot has no end", text.size(), name);
  const std::string_view digits = text.substr(*begin, end - *begin);
  auto decoded = ByteBuffer::allocate(digits.size() / 4 * 3 + 3, name);
  if (!decoded) return Failure(std::move(decoded.error()));
  std::uint8_t* out = decoded->data();
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::uint8_t value = values[static_cast<std::uint8_t>(digits[i])];
    if (value == no_digit)
      return damaged("the snapshot in this page of PyTorch's memory viewer is damaged: it is not base64", *begin + i,
                     name);
    bits = bits << 6 | value;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    *out++ = static_cast<std::uint8_t>(bits >> bit_count);
  }
  auto size = static_cast<std::size_t>(out - decoded->data());
  for (int padding = 0; padding < 3 && size > 0 && decoded->data()[size - 1] == 0; ++padding) --size;
  decoded->shrink(size);
  return decoded;
}

}  // namespace hbmscope::torch
