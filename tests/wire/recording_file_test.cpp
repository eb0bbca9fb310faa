// Recordings that were cut off, changed, or never finished.
#include "collector/wire/recording_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "collector/wire/block_encoder.h"

namespace hbmscope::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("hbmscope_recording_" + std::to_string(getpid()) + ".hbm")).string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};

Bytes read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

constexpr unsigned block_count = 6, events_in_block = 500;

Bytes make_recording(std::vector<std::size_t>* ends = nullptr) {
  const TemporaryFile file;
  RecordingWriter writer;
  EXPECT_EQ(std::nullopt, writer.open(file.path));
  BlockEncoder encoder;
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < block_count; ++i) {
    for (unsigned k = 0; k < events_in_block; ++k) {
      AllocRecord record;
      record.address = random();
      encoder.add(record, std::int64_t{i} * events_in_block + k);
    }
    EXPECT_EQ(std::nullopt, writer.append(encoder.close()));
    if (ends != nullptr) ends->push_back(std::filesystem::file_size(file.path));
  }
  EXPECT_EQ(std::nullopt, writer.finish());
  return read_bytes(file.path);
}

struct Seen {
  std::optional<RecordingScan> scan;
  std::vector<std::uint64_t> first_events;
};

Seen scan(const Bytes& bytes) {
  Seen seen;
  seen.scan = scan_recording(bytes.data(), bytes.size(), [&](const SharedBlock& block) {
    seen.first_events.push_back(block->header.first_event);
    return true;
  });
  return seen;
}

TEST(RecordingFile, a_finished_one_is_whole) {
  const Seen seen = scan(make_recording());
  ASSERT_TRUE(seen.scan);
  EXPECT_TRUE(seen.scan->has_index);
  EXPECT_EQ(0U, seen.scan->lost_bytes);
  EXPECT_EQ(block_count, seen.first_events.size());
}

// The result of a recording cut off at `size`: every block that ends before, and the number of bytes after it.
void expect_opens_to_the_last_whole_block(const Bytes& whole, const std::vector<std::size_t>& ends, std::size_t size) {
  const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  const Seen seen = scan(cut);
  ASSERT_TRUE(seen.scan) << size;
  const auto expected = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
  ASSERT_EQ(expected, seen.first_events.size()) << size;
  ASSERT_FALSE(seen.scan->has_index) << size;
  const std::size_t last_end = expected == 0 ? sizeof(FileHeader) : ends[expected - 1];
  // Within the index and the trailer nothing of the stream is missing.
  if (expected < block_count) {
    ASSERT_EQ(size - last_end, seen.scan->lost_bytes) << size;
  }
}

TEST(RecordingFile, cut_at_any_byte_of_its_end_it_opens_to_the_last_whole_block) {
  std::vector<std::size_t> ends;
  const Bytes whole = make_recording(&ends);
  for (std::size_t size = ends[block_count - 2]; size < whole.size(); ++size)
    ASSERT_NO_FATAL_FAILURE(expect_opens_to_the_last_whole_block(whole, ends, size));
}

TEST(RecordingFile, cut_at_a_thousand_random_places_it_opens_to_the_last_whole_block) {
  std::vector<std::size_t> ends;
  const Bytes whole = make_recording(&ends);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t size = sizeof(FileHeader) + random() % (whole.size() - sizeof(FileHeader));
    ASSERT_NO_FATAL_FAILURE(expect_opens_to_the_last_whole_block(whole, ends, size));
  }
}

TEST(RecordingFile, ten_thousand_flipped_bits_lose_one_block_each_at_most) {
  Bytes bytes = make_recording();
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t at = sizeof(FileHeader) + random() % (bytes.size() - sizeof(FileHeader));
    const auto bit = static_cast<std::uint8_t>(1U << (random() % 8));
    bytes[at] ^= bit;
    const Seen seen = scan(bytes);
    ASSERT_TRUE(seen.scan);
    ASSERT_GE(seen.first_events.size() + 1, block_count) << "byte " << at;
    if (seen.first_events.size() < block_count) {
      ASSERT_GT(seen.scan->lost_bytes, 0U);
      ASSERT_TRUE(seen.scan->first_fault_offset);
      ASSERT_FALSE(seen.scan->first_fault.empty());
    }
    bytes[at] ^= bit;
  }
}

TEST(RecordingFile, garbage_is_no_recording) {
  EXPECT_FALSE(scan({}).scan);
  EXPECT_FALSE(scan(Bytes(1000, 0x42)).scan);
}

TEST(RecordingFile, a_full_disk_is_an_error_and_stays_one) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  RecordingWriter writer;
  writer.open("/dev/full");
  BlockEncoder encoder;
  encoder.add(AllocRecord{}, 0);
  const auto failure = writer.append(encoder.close());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure, writer.append(Block{}));
}

TEST(RecordingFile, continues_where_it_was_finished) {
  const TemporaryFile file;
  const Bytes before = make_recording();
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(before.data()), static_cast<std::streamsize>(before.size()));
  RecordingWriter writer;
  ASSERT_EQ(std::nullopt, writer.reopen(file.path));
  BlockEncoder encoder(0, BlockType::events, block_count * events_in_block);
  encoder.add(AllocRecord{}, block_count * events_in_block);
  ASSERT_EQ(std::nullopt, writer.append(encoder.close()));
  ASSERT_EQ(std::nullopt, writer.finish());
  const Seen seen = scan(read_bytes(file.path));
  EXPECT_TRUE(seen.scan->has_index);
  EXPECT_EQ(seen.scan->lost_bytes, 0U);
  EXPECT_EQ(seen.first_events.size(), block_count + 1);
  EXPECT_EQ(seen.scan->written.at(0).blocks, block_count + 1) << "the index knows the earlier blocks, too";
}

TEST(RecordingFile, that_was_not_finished_is_not_continued) {
  const TemporaryFile file;
  Bytes bytes = make_recording();
  bytes.resize(bytes.size() / 2);
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  RecordingWriter writer;
  EXPECT_NE(std::nullopt, writer.reopen(file.path));
  EXPECT_EQ(bytes, read_bytes(file.path));
}

}  // namespace
}  // namespace hbmscope::wire
