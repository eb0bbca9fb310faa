// The reader's reaction to invalid files: an Error with the position and a remedy or, if the rest is usable, a row in
// the import statistics. Never a crash, and never a figure that is silently too low.
#include <gtest/gtest.h>

#include "analysis/read/pprof/read_pprof.h"
#include "tests/profiles/generator/generate_profile.h"
#include "tests/profiles/generator/wire_writer.h"
#include "tests/profiles/oracle.h"
#include "tests/profiles/profile_files.h"
#include "tests/profiles/random_message.h"

namespace hbmscope::test {
namespace {

constexpr const char* file_name = "bad.prof";

Result<Profile> read(std::string_view bytes, const ReadOptions& options = {}) {
  return read_pprof_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, file_name, options);
}

// An Error for users: the file, what is wrong, the remedy, and the position if there is one.
void expect_helpful(const Error& error, std::uint64_t bytes) {
  EXPECT_EQ(error.file, file_name);
  EXPECT_FALSE(error.what.empty());
  EXPECT_FALSE(error.remedy.empty()) << error.text();
  EXPECT_LE(error.offset.value_or(0), bytes) << error.text();
}

void expect_error(std::string_view bytes, std::string_view part_of_text, bool with_offset = false) {
  const auto profile = read(bytes);
  ASSERT_FALSE(profile.has_value()) << "was read, though it should say: " << part_of_text;
  expect_helpful(profile.error(), bytes.size());
  EXPECT_NE(profile.error().text().find(part_of_text), std::string::npos) << profile.error().text();
  EXPECT_EQ(profile.error().offset.has_value(), with_offset) << profile.error().text();
}

void expect_statistic(const Profile& profile, std::string_view name, std::int64_t count, Severity severity) {
  EXPECT_EQ(profile.import.count_of(name), count) << name;
  for (const ImportStatistic& row : profile.import.rows()) {
    if (row.name != name) continue;
    EXPECT_EQ(row.severity, severity) << name;
    EXPECT_FALSE(row.remedy.empty()) << name;
  }
}

std::string small_message() {
  return *inflate_with_zlib(read_whole_file(std::filesystem::path(HBMSCOPE_SOURCE_DIR) / "samples/sharded.pprof.gz"));
}

// The pieces of a tiny profile: allocations and space, texts, and whatever a test puts between them.
std::string message_with(std::string_view middle) {
  std::string out, type;
  put_integer(type, 1, 1);
  put_integer(type, 2, 2);
  put_bytes(out, 1, type);
  type.clear();
  put_integer(type, 1, 3);
  put_integer(type, 2, 4);
  put_bytes(out, 1, type);
  out += middle;
  for (const char* text : {"", "allocations", "count", "space", "bytes", "f", "f.py", "kind", "executable"})
    put_bytes(out, 6, text);
  return out;
}
std::string sample(std::uint64_t location, std::uint64_t count, std::uint64_t bytes, bool executable = false) {
  std::string ids, values, label, body, out;
  put_varint(ids, location);
  put_varint(values, count);
  put_varint(values, bytes);
  put_bytes(body, 1, ids);
  put_bytes(body, 2, values);
  put_integer(label, 1, 7);
  put_integer(label, 2, 8);
  if (executable) put_bytes(body, 3, label);
  put_bytes(out, 2, body);
  return out;
}
std::string location(std::uint64_t id, std::uint64_t function) {
  std::string line, body, out;
  put_integer(line, 1, function);
  put_integer(body, 1, id);
  put_bytes(body, 4, line);
  put_bytes(out, 4, body);
  return out;
}
std::string function(std::uint64_t id, std::uint64_t name) {
  std::string body, out;
  put_integer(body, 1, id);
  put_integer(body, 2, name);
  put_bytes(out, 5, body);
  return out;
}

TEST(BadInput, message_cut_at_any_byte_is_an_error_or_a_warning) {
  const std::string message = small_message();
  int read_anyway = 0;
  for (std::size_t length = 1; length < message.size(); ++length) {
    SCOPED_TRACE(length);
    const auto profile = read(message.substr(0, length));
    if (!profile) {
      expect_helpful(profile.error(), length);
      continue;
    }
    ++read_anyway;
    EXPECT_GE(profile->import.worst(), Severity::warning);
  }
  EXPECT_GT(read_anyway, 0);  // Between two texts the message itself is whole; the missing ones are counted.
}

TEST(BadInput, gzip_cut_at_any_byte_is_an_error) {
  const std::string file = gzip_text(small_message());
  for (std::size_t length = 1; length < file.size(); ++length) {
    SCOPED_TRACE(length);
    const auto profile = read(file.substr(0, length));
    ASSERT_FALSE(profile.has_value());
    expect_helpful(profile.error(), length);
    EXPECT_TRUE(length < 2 || profile.error().offset.has_value()) << profile.error().text();
  }
}

TEST(BadInput, flipped_bits_never_crash_and_what_is_read_is_what_protobuf_reads) {
  const std::string message = small_message();
  Random random(11);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 6'000; ++i) {
    std::string damaged = message;
    for (std::uint32_t k = random.between(1, 4); k > 0; --k)
      damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] ^= static_cast<char>(1U << random.below(8));
    const auto profile = read(damaged);
    if (!profile) {
      expect_helpful(profile.error(), damaged.size());
      ++refused;
      continue;
    }
    ++accepted;
    if (!oracle_accepts(damaged)) continue;
    for (const std::string& difference : compare_with_oracle(damaged, *profile))
      ADD_FAILURE() << i << ": " << difference;
    if (HasFailure()) break;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

TEST(BadInput, random_messages_with_flipped_bits_agree_with_protobuf) {
  for (unsigned seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(1'000'000 + seed);
    std::string damaged = random_message(random);
    damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] ^= static_cast<char>(1U << random.below(8));
    const auto profile = read(damaged);
    if (!profile) {
      expect_helpful(profile.error(), damaged.size());
      continue;
    }
    if (!oracle_accepts(damaged)) continue;
    for (const std::string& difference : compare_with_oracle(damaged, *profile)) ADD_FAILURE() << difference;
    if (HasFailure()) break;
  }
}

TEST(BadInput, flipped_bits_in_gzip_are_an_error_or_change_nothing) {
  const std::string message = small_message(), file = gzip_text(message);
  for (std::size_t at = 0; at < file.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = file;
    damaged[at] ^= static_cast<char>(1U << (at % 8));
    const auto profile = read(damaged);
    if (!profile) {
      expect_helpful(profile.error(), damaged.size());
    } else {
      // The header's time and the bits after the last block's end are covered by no checksum, and do not matter.
      EXPECT_TRUE(compare_with_oracle(message, *profile).empty());
    }
  }
}

TEST(BadInput, empty_file) {
  expect_error("", "empty");
}
TEST(BadInput, gzip_of_nothing) {
  expect_error(gzip_text(""), "nothing is inside");
}
TEST(BadInput, other_formats_are_named) {
  expect_error("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3221225472 bytes.", "plain text");
  expect_error("{\"traceEvents\": []}", "JSON");
  expect_error("<!DOCTYPE html><html></html>", "HTML");
  expect_error(std::string("\x80\x04\x95\x0b\x00", 5), "PyTorch memory snapshot");
  expect_error(gzip_text("just words in a gzip"), "plain text");
}
TEST(BadInput, missing_file_and_folder) {
  const auto missing = read_pprof("no/such/file.prof");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().text().find("no such file"), std::string::npos);
  EXPECT_EQ(missing.error().file, "no/such/file.prof");
  const auto folder = read_pprof(HBMSCOPE_SOURCE_DIR);
  ASSERT_FALSE(folder.has_value());
  EXPECT_NE(folder.error().text().find("folder"), std::string::npos);
}

TEST(BadInput, number_of_eleven_bytes_names_its_byte) {
  std::string period;
  put_tag(period, 12, WireType::varint);
  period += std::string(10, '\xff') + '\x01';
  const std::string message = message_with(period);
  expect_error(message, "longer than ten bytes", true);
  EXPECT_EQ(*read(message).error().offset, message.find('\x60'));  // Where the field begins: 12 << 3.
  // Inside of a packed run and inside of a sample too.
  std::string body, packed(10, '\xff'), in_sample;
  packed += '\x01';
  put_bytes(body, 1, packed);
  put_bytes(in_sample, 2, body);
  expect_error(message_with(in_sample), "longer than ten bytes", true);
}

TEST(BadInput, length_beyond_the_end_names_its_byte) {
  std::string message = message_with("");
  message += "\x32\xff\x01 too short";
  expect_error(message, "ends inside", true);
}

TEST(BadInput, index_outside_of_the_string_table_is_counted) {
  const auto profile = read(message_with(sample(1, 1, 64) + location(1, 1) + function(1, 999)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "missing_text", 1, Severity::warning);
  EXPECT_EQ(profile->text(profile->functions[0].name), "<missing text>");
  EXPECT_EQ(profile->values[1][0], 64);
}

TEST(BadInput, duplicate_ids_are_counted_and_the_later_one_holds) {
  const auto profile =
      read(message_with(sample(1, 1, 64) + location(1, 1) + location(1, 1) + function(1, 5) + function(1, 6)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "duplicate_location_id", 1, Severity::warning);
  expect_statistic(*profile, "duplicate_function_id", 1, Severity::warning);
  EXPECT_EQ(row(profile->stack(0)[0]), 1U);
  EXPECT_EQ(row(profile->location_lines(profile->stack(0)[0])[0].function), 1U);
}

TEST(BadInput, missing_locations_and_functions_are_counted_and_their_bytes_kept) {
  const auto profile = read(message_with(sample(77, 1, 64) + sample(1, 2, 6) + location(1, 88)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "missing_location", 1, Severity::warning);
  expect_statistic(*profile, "missing_function", 1, Severity::warning);
  EXPECT_EQ(profile->values[1], (std::vector<std::int64_t>{64, 6}));
  EXPECT_TRUE(profile->location_lines(profile->stack(0)[0]).empty());
}

TEST(BadInput, sums_of_two_to_the_63_are_counted_as_a_loss) {
  const std::uint64_t half = std::uint64_t{1} << 62;
  const auto profile = read(message_with(sample(1, 1, half) + sample(1, 1, half) + sample(1, 1, 5) + location(1, 1)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "sum_over_2_63", 1, Severity::loss);
  EXPECT_EQ(profile->values[1][0] + profile->values[1][1] + profile->values[1][2], static_cast<std::int64_t>(half) + 5);
}

TEST(BadInput, counts_of_unknown_sizes_do_not_overflow) {
  const std::uint64_t half = std::uint64_t{1} << 62, minus_one = ~std::uint64_t{0};
  const auto profile = read(message_with(sample(1, half, minus_one, true) + sample(1, half, minus_one, true) +
                                         sample(1, 3, minus_one, true) + location(1, 1)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "unknown_size", static_cast<std::int64_t>(half) + 3, Severity::notice);
  expect_statistic(*profile, "sum_over_2_63", 1, Severity::loss);
}

TEST(BadInput, surplus_and_missing_values_are_counted_as_a_loss) {
  std::string body, values, in_sample;
  put_varint(values, 7);
  put_bytes(body, 2, values);
  put_bytes(in_sample, 2, body);
  const auto profile = read(message_with(in_sample + sample(1, 1, 5) + location(1, 1)));
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "value_mismatch", 1, Severity::loss);
  EXPECT_EQ(profile->values[0], (std::vector<std::int64_t>{7, 1}));
  EXPECT_EQ(profile->values[1], (std::vector<std::int64_t>{0, 5}));
}

TEST(BadInput, gzip_bomb_stops_at_the_limit_and_says_how_to_raise_it) {
  const std::string bomb = gzip_text(std::string(std::size_t{64} << 20, '\0'));
  ASSERT_LT(bomb.size(), 100'000U);
  ReadOptions options;
  options.max_inflated_bytes = std::uint64_t{1} << 20;
  const auto profile = read(bomb, options);
  ASSERT_FALSE(profile.has_value());
  EXPECT_NE(profile.error().text().find("1.00 MiB"), std::string::npos) << profile.error().text();
  EXPECT_NE(profile.error().text().find("--max-size"), std::string::npos) << profile.error().text();
  // The limit applies to the whole file, not to a member, and a file just within the limit is read.
  const std::string message = generate_profile({.samples = 2'000, .seed = 1});
  const std::string members = gzip_text(message.substr(0, 100'000)) + gzip_text(message.substr(100'000));
  options.max_inflated_bytes = message.size() - 1;
  EXPECT_FALSE(read(members, options).has_value());
  options.max_inflated_bytes = message.size();
  EXPECT_TRUE(read(members, options).has_value());
}

TEST(BadInput, bytes_behind_the_gzip_data_are_counted) {
  const auto profile = read(gzip_text(small_message()) + "trailing words");
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  expect_statistic(*profile, "bytes_after_gzip", 14, Severity::warning);
}

}  // namespace
}  // namespace hbmscope::test
