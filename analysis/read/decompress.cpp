#include "analysis/read/decompress.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace hbmscope {

// Consumes from the front of `in` and fills the front of `out`, and shortens both.
struct Decompressor::Codec {
  enum class State : std::uint8_t { goes_on, ended, damaged };
  using Input = std::span<const std::uint8_t>;
  using Output = std::span<std::uint8_t>;

  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;
  virtual State step(Input& in, Output& out) = 0;
  virtual bool restart() = 0;  // For the next member, stream or frame. False: not enough memory.
};

namespace {

using Codec = Decompressor::Codec;

constexpr std::size_t input_bytes = std::size_t{256} << 10;

class GzipCodec final : public Codec {
 public:
  GzipCodec() { is_good_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  ~GzipCodec() override { inflateEnd(&stream_); }
  State step(Input& in, Output& out) override {
    if (!is_good_) return State::damaged;
    stream_.next_in = const_cast<Bytef*>(in.data());  // zlib does not write through it.
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (result == Z_STREAM_END) return State::ended;
    return result == Z_OK || result == Z_BUF_ERROR ? State::goes_on : State::damaged;
  }
  bool restart() override { return inflateReset(&stream_) == Z_OK; }

 private:
  z_stream stream_{};
  bool is_good_ = false;
};

class ZstdCodec final : public Codec {
 public:
  ~ZstdCodec() override { ZSTD_freeDStream(stream_); }
  State step(Input& in, Output& out) override {
    if (stream_ == nullptr) return State::damaged;
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t rest = ZSTD_decompressStream(stream_, &output, &input);
    in = in.subspan(input.pos);
    out = out.subspan(output.pos);
    if (ZSTD_isError(rest) != 0) return State::damaged;
    return rest == 0 ? State::ended : State::goes_on;
  }
  bool restart() override { return ZSTD_isError(ZSTD_DCtx_reset(stream_, ZSTD_reset_session_only)) == 0; }

 private:
  ZSTD_DStream* stream_ = ZSTD_createDStream();
};

class XzCodec final : public Codec {
 public:
  XzCodec() { restart(); }
  ~XzCodec() override { lzma_end(&stream_); }
  State step(Input& in, Output& out) override {
    if (!is_good_) return State::damaged;
    stream_.next_in = in.data();
    stream_.avail_in = in.size();
    stream_.next_out = out.data();
    stream_.avail_out = out.size();
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (result == LZMA_STREAM_END) return State::ended;
    return result == LZMA_OK || result == LZMA_BUF_ERROR ? State::goes_on : State::damaged;
  }
  bool restart() override {
    constexpr std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
    return is_good_ = lzma_stream_decoder(&stream_, memory_bytes_max, 0) == LZMA_OK;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_good_ = false;
};

class Bzip2Codec final : public Codec {
 public:
  Bzip2Codec() { is_good_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK; }
  ~Bzip2Codec() override { BZ2_bzDecompressEnd(&stream_); }
  State step(Input& in, Output& out) override {
    if (!is_good_) return State::damaged;
    stream_.next_in = const_cast<char*>(reinterpret_cast<const char*>(in.data()));  // Not written through.
    stream_.avail_in = static_cast<unsigned>(in.size());
    stream_.next_out = reinterpret_cast<char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(out.size());
    const int result = BZ2_bzDecompress(&stream_);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (result == BZ_STREAM_END) return State::ended;
    return result == BZ_OK ? State::goes_on : State::damaged;
  }
  bool restart() override {
    BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    return is_good_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
  }

 private:
  bz_stream stream_{};
  bool is_good_ = false;
};

std::unique_ptr<Codec> make_codec(Compression compression) {
  switch (compression) {
    case Compression::gzip: return std::make_unique<GzipCodec>();
    case Compression::zstd: return std::make_unique<ZstdCodec>();
    case Compression::xz: return std::make_unique<XzCodec>();
    case Compression::bzip2: return std::make_unique<Bzip2Codec>();
    case Compression::none: break;
  }
  return nullptr;
}

struct Kind {
  Compression compression;
  std::string_view name, first;
  std::array<std::string_view, 2> endings;
};
using namespace std::string_view_literals;
constexpr std::array kinds = {
    Kind{Compression::gzip, "gzip", "\x1f\x8b"sv, {".gz", ".gzip"}},
    Kind{Compression::zstd, "zstd", "\x28\xb5\x2f\xfd"sv, {".zst", ".zstd"}},
    Kind{Compression::xz, "xz", "\xfd\x37zXZ\0"sv, {".xz", ".xz"}},
    Kind{Compression::bzip2, "bzip2", "BZh"sv, {".bz2", ".bz2"}},
};

}  // namespace

Compression find_compression(std::span<const std::uint8_t> first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  for (const Kind& kind : kinds)
    if (text.starts_with(kind.first)) return kind.compression;
  return Compression::none;
}

std::string_view text_from_compression(Compression compression) {
  for (const Kind& kind : kinds)
    if (kind.compression == compression) return kind.name;
  return "no compression";
}

std::string_view without_compressed_endings(std::string_view name) {
  for (bool is_shorter = true; is_shorter;) {
    is_shorter = false;
    for (const Kind& kind : kinds)
      for (const std::string_view ending : kind.endings)
        if (name.ends_with(ending)) {
          name.remove_suffix(ending.size());
          is_shorter = true;
        }
  }
  return name;
}

Decompressor::Decompressor(Compression compression, std::string name)
    : compression_(compression),
      name_(std::move(name)),
      codec_(make_codec(compression)),
      input_(std::make_unique<std::uint8_t[]>(input_bytes)) {}

Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

// False: the source has ended.
Result<bool> Decompressor::refill(const ByteSource& source) {
  if (is_source_at_end_) return false;
  if (begin_ > 0 && begin_ < end_) std::memmove(input_.get(), input_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const auto got = source({input_.get() + end_, input_bytes - end_});
  if (!got) return Failure(got.error());
  end_ += *got;
  is_source_at_end_ = *got == 0;
  return *got > 0;
}

bool Decompressor::begins_another() {
  return find_compression({input_.get() + begin_, end_ - begin_}) == compression_;
}

Result<void> Decompressor::count_rest(const ByteSource& source) {
  while (true) {
    const std::span<const std::uint8_t> rest{input_.get() + begin_, end_ - begin_};
    ignored_bytes_ += rest.size();
    is_padding_ = is_padding_ && std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; });
    begin_ = end_;
    const auto more = refill(source);
    if (!more) return Failure(more.error());
    if (!*more) return {};
  }
}

void Decompressor::report(ImportStatistics& import) const {
  if (ignored_bytes() == 0) return;
  const std::string_view name = text_from_compression(compression_);
  import.add(
      fmt::format("bytes_after_{}", name), Severity::warning, static_cast<std::int64_t>(ignored_bytes()),
      fmt::format("Bytes after the end of the {} data were ignored; two files may have been concatenated.", name),
      fmt::format("at byte {}", consumed_));
}

Result<std::size_t> Decompressor::read(const ByteSource& source, std::span<std::uint8_t> into) {
  constexpr std::size_t first_bytes = 6;
  std::span<std::uint8_t> out = into;
  while (out.size() == into.size() && !is_at_end_ && !into.empty()) {
    if (!is_inside_) {
      while (end_ - begin_ < first_bytes && !is_source_at_end_)
        if (const auto more = refill(source); !more) return Failure(more.error());
      if (!begins_another()) {
        is_at_end_ = true;
        if (auto counted = count_rest(source); !counted) return Failure(std::move(counted.error()));
        break;
      }
      if (!codec_->restart())
        return Failure(refusal("there is not enough memory to unpack it", "Close other programs.", name_));
      is_inside_ = true;
    }
    if (begin_ == end_)
      if (const auto more = refill(source); !more) return Failure(more.error());
    std::span<const std::uint8_t> in{input_.get() + begin_, end_ - begin_};
    const std::size_t before = in.size();
    const Codec::State state = codec_->step(in, out);
    begin_ = end_ - in.size();
    consumed_ += before - in.size();
    if (state == Codec::State::damaged)
      return Failure(Error{fmt::format("the {} data is damaged", text_from_compression(compression_)),
                           "Copy or save the file again.", name_, consumed_, false});
    if (state == Codec::State::ended) is_inside_ = false;
    const bool stands_still = state == Codec::State::goes_on && before == in.size() && out.size() == into.size();
    if (stands_still && is_source_at_end_)
      return Failure(Error{fmt::format("the {} data ends too early", text_from_compression(compression_)),
                           "The file was cut off while it was written or copied; copy or save it again.", name_,
                           consumed_, false});
    if (stands_still)
      if (const auto more = refill(source); !more) return Failure(more.error());
  }
  return into.size() - out.size();
}

}  // namespace hbmscope
