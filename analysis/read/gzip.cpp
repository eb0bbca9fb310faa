#include "analysis/read/gzip.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// Deflate compresses by at most 1032 : 1, so a larger size in the trailer is ignored.
constexpr std::uint64_t best_ratio = 1032;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

std::uint64_t trailer_size(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 18) return 0;
  const std::uint8_t* t = bytes.data() + bytes.size() - 4;
  return std::uint64_t{t[0]} | std::uint64_t{t[1]} << 8 | std::uint64_t{t[2]} << 16 | std::uint64_t{t[3]} << 24;
}

Error bomb(const std::string& name, std::uint64_t max_bytes, std::uint64_t from) {
  return {fmt::format("the {} inflate to more than {}, the limit", text_from_bytes(static_cast<std::int64_t>(from)),
                      text_from_bytes(static_cast<std::int64_t>(max_bytes))),
          "If this file is really that large, raise the limit: --max-size 16GiB.",
          name,
          {},
          false};
}

// Locates the damage: inflates again with zlib, without output, until zlib reports an error.
Error locate_damage(std::span<const std::uint8_t> bytes, const std::string& name) {
  z_stream stream{};
  Error error{"the gzip data is damaged", "Copy or save the file again.", name, 0, false};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return error;
  std::vector<std::uint8_t> sink(std::size_t{1} << 16);
  std::uint64_t consumed = 0, produced = 0;
  int state = Z_OK;
  while (state == Z_OK && consumed < bytes.size()) {
    const auto input = bytes.subspan(static_cast<std::size_t>(consumed),
                                     std::min<std::size_t>(bytes.size() - consumed, std::size_t{1} << 30));
    stream.next_in = const_cast<Bytef*>(input.data());  // zlib does not write through it.
    stream.avail_in = static_cast<uInt>(input.size());
    while (state == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)) {
      stream.next_out = sink.data();
      stream.avail_out = static_cast<uInt>(sink.size());
      state = inflate(&stream, Z_NO_FLUSH);
      produced += sink.size() - stream.avail_out;
      if (state == Z_BUF_ERROR) state = Z_OK;
      if (stream.avail_out == sink.size() && stream.avail_in == 0) break;
    }
    consumed += input.size() - stream.avail_in;
  }
  if (state == Z_OK) {
    error.what = fmt::format("the gzip data ends too early: {} came out of it and more was to follow",
                             text_from_bytes(static_cast<std::int64_t>(produced)));
    error.remedy = "The file was cut off while it was written or copied; copy or save it again.";
  } else if (stream.msg != nullptr) {
    error.what = fmt::format("the gzip data is damaged ({})", stream.msg);
  }
  error.offset = consumed;
  inflateEnd(&stream);
  return error;
}

}  // namespace

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> inflate_beginning(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> beginning(std::size_t{64} << 10);
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib does not write through it.
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::size_t{1} << 16));
  stream.next_out = beginning.data();
  stream.avail_out = static_cast<uInt>(beginning.size());
  inflate(&stream, Z_SYNC_FLUSH);
  beginning.resize(beginning.size() - stream.avail_out);
  inflateEnd(&stream);
  return beginning;
}

Result<ByteBuffer> inflate_gzip(std::span<const std::uint8_t> bytes, const std::string& name,
                                std::uint64_t max_inflated_bytes, ImportStatistics& import) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(libdeflate_alloc_decompressor());
  const std::uint64_t believable =
      bytes.size() > max_inflated_bytes / best_ratio ? max_inflated_bytes : bytes.size() * best_ratio;
  auto buffer = ByteBuffer::allocate(
      std::clamp<std::uint64_t>(trailer_size(bytes), 256, std::max<std::uint64_t>(believable, 256)), name);
  if (!buffer) return buffer;

  std::uint64_t filled = 0;
  std::size_t consumed = 0, members = 0;
  while (consumed < bytes.size()) {
    const auto rest = bytes.subspan(consumed);
    if (members > 0 && !is_gzip(rest)) {
      import.add("bytes_after_gzip", Severity::warning, static_cast<std::int64_t>(rest.size()),
                 "Bytes after the end of the gzip data were ignored; two files may have been concatenated.",
                 fmt::format("at byte {}", consumed));
      break;
    }
    std::size_t in = 0, out = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(decompressor.get(), rest.data(), rest.size(), buffer->data() + filled,
                                      static_cast<std::size_t>(buffer->size() - filled), &in, &out);
    if (result == LIBDEFLATE_SUCCESS) {
      consumed += in;
      filled += out;
      ++members;
      continue;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
      Error error = locate_damage(rest, name);
      if (error.offset) *error.offset += consumed;
      return Failure(std::move(error));
    }
    if (buffer->size() >= max_inflated_bytes) return Failure(bomb(name, max_inflated_bytes, bytes.size()));
    const std::uint64_t wanted = std::min(max_inflated_bytes, std::max<std::uint64_t>(buffer->size() * 2, 1 << 16));
    auto larger = ByteBuffer::allocate(wanted, name);
    if (!larger) return larger;
    if (filled > 0) std::memcpy(larger->data(), buffer->data(), filled);
    buffer = std::move(larger);
  }
  if (members > 1) import.add("gzip_members", Severity::info, static_cast<std::int64_t>(members));
  if (filled > max_inflated_bytes) return Failure(bomb(name, max_inflated_bytes, bytes.size()));
  buffer->shrink(filled);
  return buffer;
}

Error Unzipped::reported(Error error) const {
  error.inflated = error.inflated || (is_inflated && error.offset);
  return error;
}

Result<Unzipped> unzip(std::span<const std::uint8_t> bytes, const std::string& name, std::uint64_t max_inflated_bytes,
                       ImportStatistics& import) {
  if (!is_gzip(bytes)) return Unzipped{{}, bytes, false};
  auto inflated = inflate_gzip(bytes, name, max_inflated_bytes, import);
  if (!inflated) return Failure(std::move(inflated.error()));
  Unzipped out{std::move(*inflated), {}, true};
  out.bytes = out.inflated.bytes();
  return out;
}

}  // namespace hbmscope
