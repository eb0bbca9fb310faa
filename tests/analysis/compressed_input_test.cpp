// Inputs in gzip, zstd, xz and bzip2, several times over: every format opens, and what is damaged says so.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <bzlib.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "analysis/query/heap_rows.h"
#include "analysis/read/decompress.h"
#include "analysis/read/input_file.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/log_texts.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using namespace std::string_literals;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string bzip2(const std::string& text) {
  std::string out(text.size() + text.size() / 50 + 700, '\0');
  auto size = static_cast<unsigned>(out.size());
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                                     static_cast<unsigned>(text.size()), 9, 0, 0),
            BZ_OK);
  out.resize(size);
  return out;
}

struct Packer {
  const char* name;
  std::string (*pack)(const std::string&);
};
constexpr std::array packers = {Packer{"gz", gzip}, Packer{"zst", zstd}, Packer{"xz", xz}, Packer{"bz2", bzip2}};

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint64_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56);
  return text;
}

class CompressedInput : public testing::Test {
 protected:
  CompressedInput() : path_(std::filesystem::temp_directory_path() / ("hbmscope_packed_" + std::to_string(getpid()))) {}
  ~CompressedInput() override { std::filesystem::remove(path_); }

  std::string write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_.string();
  }
  // By read_next, in pieces of an odd size; an error's words if there is one.
  std::string content(const std::string& bytes, std::uint64_t limit = std::uint64_t{1} << 32) const {
    auto file = InputFile::open(write(bytes), limit);
    if (!file) return file.error().what;
    std::string text;
    std::array<std::uint8_t, 4093> piece{};
    while (true) {
      const auto got = file->read_next(piece);
      if (!got) return got.error().what;
      if (*got == 0) return text;
      text.append(reinterpret_cast<const char*>(piece.data()), *got);
    }
  }

  const std::filesystem::path path_;
};

TEST_F(CompressedInput, content_of_any_size_and_any_layers_is_the_original) {
  for (const std::size_t size : {1UL, 63UL, 70'000UL, 300'001UL})
    for (const Packer& outer : packers) {
      const std::string text = size % 2 == 1 ? std::string(size, 'a') : noise(size);
      EXPECT_TRUE(content(outer.pack(text)) == text) << outer.name << " " << size;
      for (const Packer& inner : packers)
        EXPECT_TRUE(content(outer.pack(inner.pack(text))) == text) << inner.name << " in " << outer.name << " " << size;
      EXPECT_TRUE(content(outer.pack(text) + outer.pack("more")) == text + "more") << outer.name << " twice";
      EXPECT_TRUE(content(outer.pack(text) + std::string(20, '\0')) == text) << outer.name << " with bytes after it";
    }
  EXPECT_EQ(content(zstd(zstd(zstd(zstd(zstd("x")))))), "it is compressed more than four times over");
}

TEST_F(CompressedInput, what_is_cut_off_or_damaged_says_so) {
  const std::string text = noise(500'000);
  for (const Packer& packer : packers) {
    const std::string whole = packer.pack(text);
    for (const std::size_t size : {whole.size() / 3, whole.size() - 5})
      EXPECT_NE(content(whole.substr(0, size)).find("ends too early"), std::string::npos) << packer.name << size;
    std::string broken = whole;
    for (std::size_t i = whole.size() / 2; i < whole.size() / 2 + 64; ++i) broken[i] = static_cast<char>(~broken[i]);
    EXPECT_NE(content(broken).find("is damaged"), std::string::npos) << packer.name;
    EXPECT_NE(content(packer.pack(std::string(3'000'000, 'a')), 1 << 20).find("larger than"), std::string::npos);
  }
}

TEST_F(CompressedInput, every_format_opens_in_every_compression) {
  const std::string profile = [] {
    std::ifstream file(std::string(HBMSCOPE_SAMPLES) + "/leak_step_010.pprof.gz", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::string recording = [] {
    std::ifstream file(std::string(HBMSCOPE_SAMPLES) + "/fragments.hbm", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::string rmm =
      "Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00:000001,allocate,0x100,1024,0x0\n"
      "1,10:00:00:000002,free,0x100,1024,0x0\n";
  for (const std::string& bytes : {profile, recording, rmm, tests::joined(tests::bfc_lines())}) {
    const auto plain = read_source(write(bytes), {});
    ASSERT_TRUE(plain) << plain.error().what;
    for (const Packer& packer : packers) {
      const auto packed = read_source(write(packer.pack(bytes)), {});
      ASSERT_TRUE(packed) << packer.name << ": " << packed.error().what;
      EXPECT_EQ(packed->trace != nullptr, plain->trace != nullptr);
      EXPECT_EQ(packed->profile->sample_count(), plain->profile->sample_count()) << packer.name;
      if (plain->trace) {
        EXPECT_EQ(compute_event_counts(*packed->trace).total, compute_event_counts(*plain->trace).total);
      }
    }
  }
}

TEST_F(CompressedInput, bytes_after_the_compressed_data_are_counted) {
  const std::string rmm =
      "Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00:000001,allocate,0x100,1024,0x0\n"
      "1,10:00:00:000002,free,0x100,1024,0x0\n";
  for (const std::string& bytes : {rmm, tests::joined(tests::bfc_lines())})
    for (const Packer& packer : packers) {
      const std::string packed = packer.pack(bytes),
                        row = "bytes_after_" + std::string(packer.name == "zst"s   ? "zstd"
                                                           : packer.name == "gz"s  ? "gzip"
                                                           : packer.name == "bz2"s ? "bzip2"
                                                                                   : "xz");
      const auto source = read_source(write(packed + noise(300'000)), {});
      ASSERT_TRUE(source) << source.error().text();
      EXPECT_EQ(source->profile->import.count_of(row), 300'000) << row;
      EXPECT_EQ(source->trace->import.count_of(row), 300'000) << row;
      const auto plain = read_source(write(packed), {});
      ASSERT_TRUE(plain) << plain.error().text();
      EXPECT_EQ(plain->profile->import.count_of(row), 0) << row;
    }
  // Zeros are padding, as on tapes, and in xz itself.
  const auto padded = read_source(write(zstd(rmm) + std::string(512, '\0')), {});
  ASSERT_TRUE(padded) << padded.error().text();
  EXPECT_EQ(padded->profile->import.count_of("bytes_after_zstd"), 0);
}

TEST(CompressedNames, endings_are_taken_off) {
  EXPECT_EQ(without_compressed_endings("a.pickle.zst"), "a.pickle");
  EXPECT_EQ(without_compressed_endings("a.log.bz2.gz"), "a.log");
  EXPECT_EQ(without_compressed_endings("a.log"), "a.log");
}

}  // namespace
}  // namespace hbmscope
