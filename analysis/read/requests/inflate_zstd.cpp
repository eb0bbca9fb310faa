#include "analysis/read/requests/inflate_zstd.h"

#include <memory>

#include <fmt/format.h>
#include <zstd.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

Failure damaged(const std::string& name, std::uint64_t byte, std::string what) {
  return Failure(Error{std::move(what), "The file may be cut off; copy it again.", name, byte, false});
}

}  // namespace

bool is_zstd(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && bytes[0] == 0x28 && bytes[1] == 0xb5 && bytes[2] == 0x2f && bytes[3] == 0xfd;
}

Result<std::string> inflate_zstd(std::span<const std::uint8_t> bytes, const std::string& name,
                                 std::uint64_t max_inflated_bytes) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (!stream) return Failure(Error{"there is not enough memory to unpack it", "Close other programs.", name, {}, {}});
  // Twice: at first only its size is counted, so that what unpacks to more than the limit takes no memory, and the rest
  // as much as it has bytes.
  std::string text(ZSTD_DStreamOutSize(), '\0');
  std::uint64_t bytes_out = 0;
  for (const bool is_kept : {false, true}) {
    if (is_kept) text.resize(static_cast<std::size_t>(bytes_out) + 1);  // The end of a frame needs room, too.
    bytes_out = 0;
    ZSTD_DCtx_reset(stream.get(), ZSTD_reset_session_only);
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    std::size_t rest = 1;  // 0: a frame ended exactly here.
    while (in.pos < in.size || rest != 0) {
      const std::size_t read = in.pos, filled = is_kept ? static_cast<std::size_t>(bytes_out) : 0;
      ZSTD_outBuffer out = {text.data() + filled, text.size() - filled, 0};
      rest = ZSTD_decompressStream(stream.get(), &out, &in);
      bytes_out += out.pos;
      if (ZSTD_isError(rest) != 0)
        return damaged(name, in.pos, fmt::format("the zstd data are damaged ({})", ZSTD_getErrorName(rest)));
      if (bytes_out > max_inflated_bytes)
        return Failure(Error{fmt::format("it unpacks to more than {}", text_from_bytes(max_inflated_bytes)),
                             "--max-size raises the limit.",
                             name,
                             {},
                             {}});
      const bool stands_still = in.pos == read && out.pos == 0;
      if (stands_still && rest != 0) return damaged(name, in.pos, "the zstd data end too early");
    }
  }
  text.resize(static_cast<std::size_t>(bytes_out));
  return text;
}

}  // namespace hbmscope
