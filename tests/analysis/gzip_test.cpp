#include "analysis/read/gzip.h"
#include "tests/analysis/text_bytes.h"

#include <string>

#include <gtest/gtest.h>
#include <libdeflate.h>

namespace hbmscope {
namespace {

constexpr std::uint64_t plenty = std::uint64_t{1} << 30;

std::string zip(const std::string& text, int level = 6) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
  std::string zipped(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  zipped.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), zipped.data(), zipped.size()));
  libdeflate_free_compressor(compressor);
  return zipped;
}

Result<std::string> unzip(const std::string& zipped, std::uint64_t limit = plenty, ImportStatistics* import = nullptr) {
  ImportStatistics own;
  const auto buffer = inflate_gzip(bytes_of(zipped), "a.gz", limit, import == nullptr ? own : *import);
  if (!buffer) return Failure(buffer.error());
  return std::string(buffer->bytes().begin(), buffer->bytes().end());
}

// Text that does not compress to nothing.
std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

TEST(Gzip, knows_itself_by_its_first_two_bytes) {
  EXPECT_TRUE(is_gzip(bytes_of(zip("x"))));
  EXPECT_FALSE(is_gzip(bytes_of("x")));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f")));
  EXPECT_FALSE(is_gzip({}));
}

TEST(Gzip, inflates_any_size) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{300}, std::size_t{1} << 20})
    for (const std::string& text : {noise(size), std::string(size, 'a')}) EXPECT_EQ(unzip(zip(text)).value(), text);
}

TEST(Gzip, members_are_one_after_the_other) {
  ImportStatistics import;
  EXPECT_EQ(unzip(zip("one ") + zip("") + zip(noise(100'000)) + zip("two"), plenty, &import).value(),
            "one " + noise(100'000) + "two");
  EXPECT_EQ(import.count_of("gzip_members"), 4);
  EXPECT_EQ(import.worst(), Severity::info);
}

TEST(Gzip, a_trailer_that_lies_about_the_size_is_not_believed) {
  std::string zipped = zip(noise(1000)) + zip("end");
  EXPECT_EQ(unzip(zipped).value().size(), 1003U) << "the last member's trailer says 3";
  // A member of 40 bytes that claims 4 GiB: nothing like that is allocated for it.
  std::string liar = zip("abc");
  for (std::size_t i = liar.size() - 4; i < liar.size(); ++i) liar[i] = '\xff';
  EXPECT_FALSE(unzip(liar));
}

TEST(Gzip, bytes_behind_the_last_member_are_counted_and_left_out) {
  ImportStatistics import;
  EXPECT_EQ(unzip(zip("text") + std::string(5, '\0'), plenty, &import).value(), "text");
  EXPECT_EQ(import.count_of("bytes_after_gzip"), 5);
  EXPECT_EQ(import.worst(), Severity::warning);
}

TEST(Gzip, a_bomb_stops_at_the_limit_and_says_how_to_raise_it) {
  const std::string bomb = zip(std::string(64 << 20, '\0'), 12);
  ASSERT_LT(bomb.size(), 80'000U);
  const auto refused = unzip(bomb, 1 << 20);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("--max-size"), std::string::npos);
  EXPECT_NE(refused.error().text().find("1.00 MiB"), std::string::npos);
  EXPECT_EQ(unzip(bomb, 64 << 20).value().size(), std::size_t{64} << 20) << "exactly the limit is allowed";
  EXPECT_FALSE(unzip(bomb, (64 << 20) - 1));
  EXPECT_FALSE(unzip(zip("abc"), 0));
}

TEST(Gzip, many_small_members_are_a_bomb_too) {
  std::string members;
  for (int i = 0; i < 100; ++i) members += zip(std::string(1 << 16, '\0'));
  EXPECT_FALSE(unzip(members, 1 << 20));
  EXPECT_EQ(unzip(members).value().size(), std::size_t{100} << 16);
}

TEST(Gzip, damage_names_the_byte) {
  const std::string whole = zip(noise(10'000));
  const auto cut = unzip(whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().offset, whole.size() / 2);
  EXPECT_NE(cut.error().text().find("ends too early"), std::string::npos);
  std::string broken = whole;
  broken[whole.size() - 6] = static_cast<char>(~broken[whole.size() - 6]);  // In the checksum.
  ASSERT_FALSE(unzip(broken));
  EXPECT_GT(unzip(broken).error().offset.value(), whole.size() - 10);
  const auto second = unzip(zip("x") + whole.substr(0, 100));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().offset, zip("x").size() + 100) << "counted from the beginning of the file";
}

}  // namespace
}  // namespace hbmscope
