#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// Signed numbers, as these functions take them.
constexpr std::int64_t signed_kib = 1024, signed_mib = signed_kib * signed_kib, signed_gib = signed_mib * signed_kib;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

std::int64_t bytes_of(double number, std::int64_t unit) {
  return static_cast<std::int64_t>(number * static_cast<double>(unit));
}

TEST(Bytes, three_digits_and_binary_units) {
  EXPECT_EQ(text_from_bytes(0), "0 B");
  EXPECT_EQ(text_from_bytes(512), "512 B");
  EXPECT_EQ(text_from_bytes(1023), "1023 B");
  EXPECT_EQ(text_from_bytes(1024), "1.00 KiB");
  EXPECT_EQ(text_from_bytes(846 * signed_kib), "846 KiB");
  EXPECT_EQ(text_from_bytes(2'254'857'830), "2.10 GiB");
  EXPECT_EQ(text_from_bytes(bytes_of(59.9, signed_gib)), "59.9 GiB");
  EXPECT_EQ(text_from_bytes(most), "8.00 EiB");
}

TEST(Bytes, what_rounds_up_to_the_next_unit_is_shown_in_it) {
  EXPECT_EQ(text_from_bytes(bytes_of(1023.6, signed_kib)), "1.00 MiB");
  EXPECT_EQ(text_from_bytes(bytes_of(1023.4, signed_kib)), "1023 KiB");
  EXPECT_EQ(text_from_bytes(bytes_of(1023.9, signed_gib)), "1.00 TiB");
}

TEST(Bytes, what_rounds_up_to_one_more_digit_loses_one_behind_the_point) {
  EXPECT_EQ(text_from_bytes(bytes_of(9.994, signed_gib)), "9.99 GiB");
  EXPECT_EQ(text_from_bytes(bytes_of(9.996, signed_gib)), "10.0 GiB");
  EXPECT_EQ(text_from_bytes(bytes_of(99.96, signed_mib)), "100 MiB");
  EXPECT_EQ(text_from_bytes(bytes_of(999.6, signed_mib)), "1000 MiB");
}

TEST(Bytes, negative_ones_have_a_minus_that_can_be_copied) {
  EXPECT_EQ(text_from_bytes(-846 * signed_kib), "-846 KiB");
  EXPECT_EQ(text_from_bytes(least), "-8.00 EiB");
  EXPECT_EQ(exact_text_from_bytes(2'254'857'830), "2,254,857,830 B");
  EXPECT_EQ(exact_text_from_bytes(least), "-9,223,372,036,854,775,808 B");
}

TEST(Bytes, deltas_have_a_sign_in_any_case) {
  EXPECT_EQ(delta_text_from_bytes(0), "0 B");
  EXPECT_EQ(delta_text_from_bytes(2 * signed_gib), "+2.00 GiB");
  EXPECT_EQ(delta_text_from_bytes(-846 * signed_kib), "\u2212846 KiB");
  EXPECT_EQ(delta_text_from_bytes(least), "\u22128.00 EiB");
  EXPECT_EQ(delta_text_from_count(-3), "\u22123");
  EXPECT_EQ(delta_text_from_count(1200), "+1,200");
}

TEST(Bytes, a_pair_gets_digits_until_it_differs) {
  EXPECT_EQ(texts_from_bytes(3 * signed_gib, 2 * signed_gib).first, "3.00 GiB");
  const TextPair close = texts_from_bytes(3 * signed_gib, 3 * signed_gib + signed_mib);
  EXPECT_EQ(close.first, "3.000 GiB");
  EXPECT_EQ(close.second, "3.001 GiB");
  EXPECT_EQ(texts_from_bytes(signed_gib, signed_gib).second, "1.00 GiB");
  EXPECT_EQ(texts_from_bytes(signed_gib, signed_gib + 1).second, "1,073,741,825 B");
  EXPECT_EQ(texts_from_bytes(-signed_gib, signed_gib).first, "-1.00 GiB");
}

TEST(Counts, have_commas_and_over_ten_million_an_m) {
  EXPECT_EQ(text_from_count(1'203'551), "1,203,551");
  EXPECT_EQ(text_from_count(10'000'000), "10,000,000");
  EXPECT_EQ(text_from_count(12'400'123), "12.4 M");
  EXPECT_EQ(text_from_count(99'960'000), "100 M");
  EXPECT_EQ(text_from_count(999'600'000), "1.00 G");
  EXPECT_EQ(text_from_count(-12'400'123), "-12.4 M");
  EXPECT_EQ(exact_text_from_count(12'400'123), "12,400,123");
}

TEST(Shares, one_decimal_and_never_minus_zero) {
  EXPECT_EQ(text_from_share(372, 1000), "37.2 %");
  EXPECT_EQ(text_from_share(0, 5), "0.0 %");
  EXPECT_EQ(text_from_share(-1, 1'000'000), "0.0 %");
  EXPECT_EQ(text_from_share(-1, 10), "-10.0 %");
  EXPECT_EQ(text_from_share(1, 0), "–");
  EXPECT_EQ(text_from_share(most, most), "100.0 %");
}

TEST(Shares, growth_of_nothing_is_new) {
  EXPECT_EQ(delta_text_from_share(100, 105), "+5.0 %");
  EXPECT_EQ(delta_text_from_share(100, 50), "\u221250.0 %");
  EXPECT_EQ(delta_text_from_share(0, 50), "new");
  EXPECT_EQ(delta_text_from_share(0, 0), "0.0 %");
  EXPECT_EQ(delta_text_from_share(-100, 100), "+200.0 %");
}

TEST(Values, other_units_than_bytes) {
  EXPECT_EQ(text_from_value(2 * signed_gib, "bytes"), "2.00 GiB");
  EXPECT_EQ(text_from_value(1200, "count"), "1,200");
  EXPECT_EQ(text_from_value(999, "nanoseconds"), "999 ns");
  EXPECT_EQ(text_from_value(999'950, "nanoseconds"), "1.00 ms");
  EXPECT_EQ(text_from_value(340'000, "nanoseconds"), "340 µs");
  EXPECT_EQ(text_from_value(12'403'000'000, "nanoseconds"), "12.403 s");
  EXPECT_EQ(text_from_value(least, "nanoseconds"), "-9223372036.855 s");
  EXPECT_EQ(text_from_value(5, "samples"), "5 samples");
  EXPECT_EQ(delta_text_from_value(-340'000, "nanoseconds"), "\u2212340 µs");
  EXPECT_EQ(delta_text_from_value(signed_gib, "bytes"), "+1.00 GiB");
  EXPECT_EQ(texts_from_values(1000, 2000, "nanoseconds").second, "2.00 µs");
}

TEST(Bytes, part_and_whole_have_digits_until_they_differ) {
  EXPECT_EQ(text_from_part_of(3ULL << 30, 4ULL << 30), "3.00 GiB of 4.00 GiB");
  EXPECT_EQ(text_from_part_of(4ULL << 30, 4ULL << 30), "4.00 GiB of 4.00 GiB");
  EXPECT_EQ(text_from_part_of(11291ULL << 20, 11295ULL << 20), "11.026 GiB of 11.030 GiB");
}

TEST(Times, since_a_start) {
  EXPECT_EQ(text_from_moment_ns(340'000), "340 µs");
  EXPECT_EQ(text_from_moment_ns(490'999'000), "490.999 ms");
  EXPECT_EQ(text_from_moment_ns(-1'882'660'000), "-1.883 s");
  EXPECT_EQ(text_from_moment_ns(205'123'000'000), "3:25.123");
  EXPECT_EQ(text_from_moment_ns(3'805'100'000'000), "1:03:25.1");
  EXPECT_EQ(text_from_moment_ns(3'809'214'300, 50'000), "3.80921 s");
  EXPECT_EQ(text_from_moment_ns(3'809'214'300, 0), "3.809214300 s");
  EXPECT_EQ(text_from_moment_ns(490'999'123, 100), "490.9991 ms");
  EXPECT_EQ(text_from_moment_ns(340'125, 1), "340.125 µs");
  EXPECT_EQ(text_from_moment_ns(205'123'456'000, 1000), "3:25.123456");
  EXPECT_EQ(text_from_moment_ns(3'805'123'456'000, 1000), "1:03:25.123456");
}

TEST(Times, are_utc) {
  EXPECT_EQ(text_from_unix_ns(1'795'269'802'000'000'000), "2026-11-21 14:03:22");
  EXPECT_EQ(text_from_unix_ns(0), "1970-01-01 00:00:00");
}

TEST(ParseBytes, units_of_people) {
  EXPECT_EQ(parse_bytes("512").value(), 512);
  EXPECT_EQ(parse_bytes("1GiB").value(), signed_gib);
  EXPECT_EQ(parse_bytes(" 1.5 G ").value(), signed_gib + signed_gib / 2);
  EXPECT_EQ(parse_bytes("1.5MB").value(), 1'500'000);
  EXPECT_EQ(parse_bytes("40gb").value(), 40'000'000'000);
  EXPECT_EQ(parse_bytes("0x200").value(), 512);
  EXPECT_EQ(parse_bytes("-1KiB").value(), -1024);
  EXPECT_EQ(parse_bytes("0.3").value(), 0);
  EXPECT_EQ(parse_bytes("0.5").value(), 1);
}

TEST(ParseBytes, reads_what_the_formatter_prints) {
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{512}, 846 * signed_kib, 3 * signed_gib, 5 * signed_gib * 1024 * 1024}) {
    EXPECT_EQ(parse_bytes(text_from_bytes(bytes)).value(), bytes);
    EXPECT_EQ(parse_bytes(exact_text_from_bytes(bytes)).value(), bytes);
  }
}

TEST(ParseBytes, refuses_what_is_no_size) {
  for (const char* text : {"", " ", "abc", "1.5X", "1,5GiB", "--5", "-", "0x", "0x-5", "0xffffffffffffffff", "inf",
                           "nan", "1e3", "16EiB", "9.3e18", "GiB", "1 2", "1,23", "1,2345"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  EXPECT_NE(parse_bytes("1.5X").error().text().find("1.5X"), std::string::npos);
}

TEST(Clamped, stays_at_the_end_of_the_range) {
  EXPECT_EQ(clamped_difference(5, 7), -2);
  EXPECT_EQ(clamped_difference(most, -1), most);
  EXPECT_EQ(clamped_difference(least, 1), least);
  EXPECT_EQ(clamped_sum(most, 1), most);
  EXPECT_EQ(clamped_sum(least, -1), least);
  EXPECT_EQ(clamped_magnitude(least), most);
  EXPECT_EQ(clamped_magnitude(-3), 3);
}

}  // namespace
}  // namespace hbmscope
