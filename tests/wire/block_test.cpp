// Whatever goes into a block comes out of it: every record, with random fields, through the columns and as rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "collector/wire/block_decoder.h"
#include "collector/wire/block_encoder.h"
#include "collector/wire/varint.h"

namespace hbmscope::wire {
namespace {

using Random = std::mt19937_64;

// Small, large, aligned and extreme numbers, as fields have them.
std::uint64_t random_number(Random& random) {
  switch (random() % 6) {
    case 0: return random() % 4;
    case 1: return random() % 100'000;
    case 2: return (random() % 1'000'000) << 9;
    case 3: return 0x7f0000000000 + (random() % (std::uint64_t{1} << 36));
    case 4: return ~std::uint64_t{0};
    default: return random();
  }
}

template <class Record>
Record random_record(Random& random) {
  Record record;
  const RecordDescription* description = find_record(static_cast<std::uint16_t>(Record::kind));
  for (unsigned i = 0; i < description->field_count; ++i) {
    const std::uint64_t value = random_number(random);
    std::memcpy(reinterpret_cast<std::uint8_t*>(&record) + description->fields[i].offset, &value,
                description->fields[i].bytes);
  }
  return record;
}

struct Written {
  std::vector<AllocRecord> allocs;
  std::vector<FreeRecord> frees;
  std::vector<CounterRecord> counters;
  std::vector<StringRecord> strings;
  std::vector<std::string> texts;
  std::vector<std::uint8_t> kinds;
  std::vector<std::int64_t> times;
};

template <class Record>
void expect_rows(const std::vector<Record>& expected, const DecodedBlock& block) {
  const auto rows = block.rows<Record>();
  ASSERT_EQ(expected.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(0, std::memcmp(&expected[i], &rows[i], sizeof(Record))) << "row " << i;
}

Written fill(BlockEncoder& encoder, Random& random, std::size_t records) {
  Written written;
  std::int64_t time = static_cast<std::int64_t>(random() % 1'000'000'000'000);
  for (std::size_t i = 0; i < records; ++i) {
    time += static_cast<std::int64_t>(random() % 3000) - 100;
    written.times.push_back(time);
    switch (random() % 4) {
      case 0:
        written.allocs.push_back(random_record<AllocRecord>(random));
        written.kinds.push_back(static_cast<std::uint8_t>(RecordKind::alloc));
        encoder.add(written.allocs.back(), time);
        break;
      case 1:
        written.frees.push_back(random_record<FreeRecord>(random));
        written.kinds.push_back(static_cast<std::uint8_t>(RecordKind::free));
        encoder.add(written.frees.back(), time);
        break;
      case 2:
        written.counters.push_back(random_record<CounterRecord>(random));
        written.kinds.push_back(static_cast<std::uint8_t>(RecordKind::counter));
        encoder.add(written.counters.back(), time);
        break;
      default:
        written.strings.push_back(random_record<StringRecord>(random));
        written.texts.push_back(std::string(random() % 30, static_cast<char>('a' + random() % 26)));
        written.kinds.push_back(static_cast<std::uint8_t>(RecordKind::string));
        encoder.add(written.strings.back(), time, written.texts.back());
    }
  }
  return written;
}

void expect_equal(const Written& written, const DecodedBlock& block) {
  ASSERT_TRUE(std::equal(written.kinds.begin(), written.kinds.end(), block.kinds().begin(), block.kinds().end()));
  ASSERT_TRUE(std::equal(written.times.begin(), written.times.end(), block.times_ns().begin(), block.times_ns().end()));
  expect_rows(written.allocs, block);
  expect_rows(written.frees, block);
  expect_rows(written.counters, block);
  expect_rows(written.strings, block);
  for (std::size_t i = 0; i < written.texts.size(); ++i) ASSERT_EQ(written.texts[i], block.text(i));
}

TEST(Block, what_goes_in_comes_out) {
  BlockDecoder decoder;
  DecodedBlock decoded;  // Reused, as readers do.
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    BlockEncoder encoder(seed);
    const Written written = fill(encoder, random, random() % 2000);
    const Block block = encoder.close();
    ASSERT_EQ(std::nullopt, decoder.decode(block, decoded)) << "seed " << seed;
    expect_equal(written, decoded);
    ASSERT_EQ(seed, decoded.header().stream);
  }
}

TEST(Block, of_what_is_not_wanted_nothing_is_touched) {
  const FieldChoice choice = FieldChoice().only(RecordKind::alloc, {"size", "stack"}).without_times();
  BlockDecoder decoder;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    BlockEncoder encoder(seed);
    const Written written = fill(encoder, random, random() % 2000);
    const Block block = encoder.close();
    DecodedBlock decoded;
    ASSERT_EQ(std::nullopt, decoder.decode(block, decoded, choice)) << "seed " << seed;
    EXPECT_TRUE(decoded.times_ns().empty());
    EXPECT_EQ(written.times.size(), decoded.kinds().size());
    const auto allocs = decoded.rows<AllocRecord>();
    ASSERT_EQ(written.allocs.size(), allocs.size());
    for (std::size_t i = 0; i < allocs.size(); ++i) {
      ASSERT_EQ(written.allocs[i].size, allocs[i].size);
      ASSERT_EQ(written.allocs[i].stack, allocs[i].stack);
      ASSERT_EQ(0U, allocs[i].address);
      ASSERT_EQ(0U, allocs[i].tag);
    }
    expect_rows(written.frees, decoded);
    // The next one is whole again.
    ASSERT_EQ(std::nullopt, decoder.decode(block, decoded));
    expect_equal(written, decoded);
  }
}

template <class Record>
void expect_record_survives(Random& random) {
  BlockEncoder encoder;
  std::vector<Record> records;
  for (int i = 0; i < 50; ++i) {
    records.push_back(random_record<Record>(random));
    encoder.add(records.back(), i);
  }
  BlockDecoder decoder;
  DecodedBlock decoded;
  const Block block = encoder.close();
  ASSERT_EQ(std::nullopt, decoder.decode(block, decoded));
  expect_rows(records, decoded);
}

TEST(Block, records_with_every_coding_survive) {
  Random random(7);
  expect_record_survives<LiveRecord>(random);
  expect_record_survives<HeapRecord>(random);
  expect_record_survives<ListingRecord>(random);
  expect_record_survives<CounterRecord>(random);
  expect_record_survives<MapRecord>(random);
  expect_record_survives<OutOfMemoryRecord>(random);
  expect_record_survives<AttributeRecord>(random);
  expect_record_survives<MarkerRecord>(random);
}

TEST(Records, every_kind_is_found_and_no_other) {
  std::size_t found = 0;
  for (std::uint32_t kind = 0; kind <= 0xffff; ++kind) {
    const RecordDescription* record = find_record(static_cast<std::uint16_t>(kind));
    if (record == nullptr) continue;
    ++found;
    ASSERT_EQ(kind, static_cast<std::uint32_t>(record->kind));
  }
  EXPECT_EQ(record_count, found);
}

TEST(Block, only_events_have_numbers) {
  BlockEncoder encoder(0, BlockType::events, 100);
  encoder.add(StringRecord{}, 0, "a");
  EXPECT_EQ(100U, encoder.add(AllocRecord{}, 0));
  encoder.add(StackRecord{}, 0);
  EXPECT_EQ(101U, encoder.add(FreeRecord{}, 0));
  const Block block = encoder.close();
  EXPECT_EQ(4U, block.header.records);
  EXPECT_EQ(2U, block.header.events);
  EXPECT_EQ(102U, block.end_event());
  EXPECT_EQ(102U, encoder.next_event());
}

TEST(Block, an_event_with_address_size_stack_and_time_takes_less_than_seven_bytes) {
  // The stream of a busy pool: some 40 hot sizes, 5000 stacks, 20,000 live blocks anywhere in 64 GiB, times 0.2 to 2.2
  // us apart: 5.2 bytes per event are random, and no code can save them. Real pools reuse addresses and take less.
  Random random(3);
  BlockEncoder encoder;
  std::int64_t time = 0;
  for (std::uint32_t i = 0; i < block_events_max; ++i) {
    time += 200 + static_cast<std::int64_t>(random() % 2000);
    if (i % 2 == 0) {
      AllocRecord record;
      record.address = 0x7f0000000000 + ((random() % (std::uint64_t{1} << 28)) << 8);
      record.requested = (random() % 40 + 1) * 4096 - random() % 3;
      record.size = (record.requested + 255) / 256 * 256;
      record.heap = 1;
      record.stack = static_cast<std::uint32_t>(random() % 5000);
      encoder.add(record, time);
    } else {
      FreeRecord record;
      record.slot = static_cast<std::uint32_t>(random() % 20'000);
      encoder.add(record, time);
    }
  }
  const Block block = encoder.close();
  EXPECT_LE(block.payload.size(), 7U * block_events_max);
}

// A block as a collector writes it: rows, without a check sum.
Block block_of_rows(const std::vector<std::uint8_t>& payload, std::uint32_t records, std::uint32_t events) {
  Block block;
  block.header.form = BlockForm::rows;
  block.header.records = records;
  block.header.events = events;
  block.header.stored_bytes = block.header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  block.payload = payload;
  return block;
}

void append_row(std::vector<std::uint8_t>& out, std::uint16_t kind, const void* fields, std::size_t bytes,
                std::string_view text = {}) {
  RowHeader row;
  row.kind = static_cast<RecordKind>(kind);
  row.text_bytes = static_cast<std::uint16_t>(text.size());
  row.struct_bytes = static_cast<std::uint16_t>(bytes);
  row.words = static_cast<std::uint16_t>((sizeof(row) + bytes + text.size() + 7) / 8);
  const std::size_t begin = out.size();
  out.resize(begin + std::size_t{row.words} * 8);
  std::memcpy(out.data() + begin, &row, sizeof(row));
  std::memcpy(out.data() + begin + sizeof(row), fields, bytes);
  // Also for an empty text, which has no address.
  std::copy(text.begin(), text.end(), out.data() + begin + sizeof(row) + bytes);
}

TEST(Block, rows_are_read_and_unknown_ones_passed_over) {
  std::vector<std::uint8_t> payload;
  AllocRecord alloc;
  alloc.address = 4096;
  StringRecord name;
  name.id = 3;
  const std::uint64_t future[4] = {1, 2, 3, 4};
  append_row(payload, static_cast<std::uint16_t>(RecordKind::string), &name, sizeof(name), "train.py");
  append_row(payload, 200, future, sizeof(future));
  append_row(payload, static_cast<std::uint16_t>(RecordKind::alloc), &alloc, sizeof(alloc));
  BlockDecoder decoder;
  DecodedBlock decoded;
  ASSERT_EQ(std::nullopt, decoder.decode(block_of_rows(payload, 3, 2), decoded));
  EXPECT_EQ(1U, decoded.unknown_records());
  EXPECT_EQ("train.py", decoded.text(0));
  EXPECT_EQ(4096U, decoded.rows<AllocRecord>()[0].address);
}

TEST(Block, a_shorter_struct_of_an_older_writer_reports_less) {
  std::vector<std::uint8_t> payload;
  AllocRecord alloc;
  alloc.address = 4096;
  alloc.size = 512;
  append_row(payload, static_cast<std::uint16_t>(RecordKind::alloc), &alloc, 16);  // Address and size only.
  BlockDecoder decoder;
  DecodedBlock decoded;
  ASSERT_EQ(std::nullopt, decoder.decode(block_of_rows(payload, 1, 1), decoded));
  EXPECT_EQ(512U, decoded.rows<AllocRecord>()[0].size);
  EXPECT_EQ(unknown_bytes, decoded.rows<AllocRecord>()[0].requested) << "not told, which is not 0";
  EXPECT_EQ(0U, decoded.rows<AllocRecord>()[0].stack);
}

TEST(Block, hostile_payloads_end_with_a_text) {
  // With a correct checksum, as an attacker would write it.
  BlockEncoder encoder;
  Random random(11);
  fill(encoder, random, 300);
  const Block good = encoder.close();
  BlockDecoder decoder;
  DecodedBlock decoded;
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Block bad = good;
    for (unsigned flips = 0; flips < 1 + seed % 4; ++flips)
      bad.payload[random() % bad.payload.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
    if (seed % 3 == 0) bad.payload.resize(random() % bad.payload.size());
    if (seed % 5 == 0) bad.header.records = static_cast<std::uint32_t>(random() % 1000);
    if (seed % 7 == 0) bad.header.form = static_cast<BlockForm>(random() % 3);
    bad.header.stored_bytes = static_cast<std::uint32_t>(bad.payload.size());
    bad.header.xxh3 = compute_block_hash(bad);
    if (decoder.decode(bad, decoded)) ++refused;
  }
  EXPECT_GT(refused, 2000U);
}

}  // namespace
}  // namespace hbmscope::wire
