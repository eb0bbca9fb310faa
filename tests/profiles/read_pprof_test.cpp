// The hand-written reader compared with protobuf, on every available profile.
#include "analysis/read/pprof/read_pprof.h"

#include <gtest/gtest.h>

#include "analysis/model/profile.h"
#include "tests/profiles/generator/generate_profile.h"
#include "tests/profiles/oracle.h"
#include "tests/profiles/profile_files.h"
#include "tests/profiles/random_message.h"

namespace hbmscope::test {
namespace {

Result<Profile> read(std::string_view bytes, unsigned threads = 0) {
  ReadOptions options;
  options.threads = threads;
  return read_pprof_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "in memory", options);
}

void expect_agrees(std::string_view file, unsigned threads = 0) {
  const auto message = inflate_with_zlib(file);
  ASSERT_TRUE(message.has_value());
  const auto profile = read(file, threads);
  ASSERT_TRUE(profile.has_value()) << profile.error().text();
  EXPECT_EQ(profile->file_bytes, file.size());
  EXPECT_EQ(profile->inflated_bytes, message->size());
  for (const std::string& difference : compare_with_oracle(*message, *profile)) ADD_FAILURE() << difference;
}

TEST(ReadPprof, agrees_with_protobuf_on_the_samples) {
  ASSERT_GE(sample_files().size(), 3U);
  for (const auto& path : sample_files()) {
    SCOPED_TRACE(path.string());
    expect_agrees(read_whole_file(path));
    const auto profile = read_pprof(path.string());
    ASSERT_TRUE(profile.has_value());
    EXPECT_TRUE(is_device_memory_profile(*profile));
    EXPECT_EQ(profile->import.worst(), Severity::info);
  }
}

TEST(ReadPprof, agrees_with_protobuf_on_every_real_file) {
  std::string reason;
  const auto files = real_files(reason);
  if (files.empty()) GTEST_SKIP() << reason;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    expect_agrees(read_whole_file(path));
  }
}

TEST(ReadPprof, agrees_with_protobuf_on_generated_profiles_with_any_number_of_threads) {
  for (const bool unknown : {false, true}) {
    const std::string message =
        generate_profile({.samples = 20'000, .seed = 7, .devices = 8, .unknown_executables = unknown});
    for (const unsigned threads : {1U, 2U, 5U}) {
      SCOPED_TRACE(threads);
      expect_agrees(message, threads);
    }
    expect_agrees(gzip_text(message));
  }
}

TEST(ReadPprof, agrees_with_protobuf_on_gzip_in_several_members_and_layers) {
  const std::string message = generate_profile({.samples = 300, .seed = 3});
  expect_agrees(gzip_text(message.substr(0, 1'000)) + gzip_text(message.substr(1'000)));
  expect_agrees(gzip_text(gzip_text(message)));
}

TEST(ReadPprof, agrees_with_protobuf_on_random_messages) {
  for (unsigned seed = 0; seed < 4'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::string message = random_message(random);
    ASSERT_TRUE(oracle_accepts(message));
    expect_agrees(message, 1 + seed % 3);
    if (::testing::Test::HasFailure()) break;  // One broken seed says enough.
  }
}

TEST(ReadPprof, reads_the_same_bytes_to_the_same_columns) {
  const std::string message = generate_profile({.samples = 9'000, .seed = 5});
  const auto one = read(message, 1), four = read(message, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->values, four->values);
  EXPECT_EQ(one->stack_begin, four->stack_begin);
  EXPECT_EQ(one->stack_locations, four->stack_locations);
  EXPECT_EQ(one->label_set, four->label_set);
  EXPECT_EQ(one->labels, four->labels);
}

TEST(ReadPprof, stops_when_cancelled) {
  const std::string message = generate_profile({.samples = 9'000, .seed = 5});
  ReadControl control;
  control.cancelled = true;
  const auto profile =
      read_pprof_bytes({reinterpret_cast<const std::uint8_t*>(message.data()), message.size()}, "x", {}, &control);
  ASSERT_FALSE(profile.has_value());
  EXPECT_NE(profile.error().what.find("cancelled"), std::string::npos) << profile.error().text();
}

}  // namespace
}  // namespace hbmscope::test
