// Protobuf's wire format: numbers of every length, whether or not bytes follow that can be read as one word.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "analysis/read/protobuf_cursor.h"
#include "tests/analysis/proto_message.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {
namespace {

using protobuf::varint_key;
using protobuf::WireCursor;
using protobuf::WireField;
using protobuf::WireProblem;
using tests::Message;

protobuf::ByteRange range_of(const std::string& text) {
  const auto bytes = bytes_of(text);
  return {bytes.data(), bytes.data() + bytes.size()};
}

TEST(WireCursor, numbers_of_every_length) {
  for (unsigned shift = 0; shift < 64; ++shift)
    for (const std::uint64_t value : {(std::uint64_t{1} << shift) - 1, std::uint64_t{1} << shift,
                                      ~std::uint64_t{0} >> shift, 0x0123456789abcdefU >> shift})
      for (const std::size_t bytes_after : {0, 1, 7, 20}) {
        Message message;
        message.number(1, value);
        if (bytes_after > 0) message.text(2, std::string(bytes_after, '\xff'));
        WireCursor cursor(range_of(message.bytes));
        WireField field;
        ASSERT_TRUE(cursor.next_field(field));
        EXPECT_EQ(varint_key(1), field.key);
        EXPECT_EQ(value, field.varint);
        EXPECT_EQ(bytes_after > 0, cursor.next_field(field));
        EXPECT_FALSE(cursor.next_field(field));
        EXPECT_EQ(WireProblem::none, cursor.problem());
      }
}

TEST(WireCursor, numbers_without_an_end_are_named) {
  for (std::size_t length = 0; length < 20; ++length) {
    const std::string bytes = "\x08" + std::string(length, '\x80');
    WireCursor cursor(range_of(bytes));
    WireField field;
    EXPECT_FALSE(cursor.next_field(field));
    EXPECT_EQ(length < 10 ? WireProblem::cut_off : WireProblem::long_varint, cursor.problem());
  }
}

TEST(WireCursor, groups_are_skipped) {
  const std::string group = "\x0b\x08\x01\x13\x14\x1a\x02xx\x0c";  // Another group is inside.
  const std::string bytes = group + Message().number(4, 300).bytes;
  WireCursor cursor(range_of(bytes));
  WireField field;
  ASSERT_TRUE(cursor.next_field(field));
  ASSERT_TRUE(cursor.next_field(field));
  EXPECT_EQ(varint_key(4), field.key);
  EXPECT_EQ(300U, field.varint);
  for (std::size_t length = 1; length < group.size(); ++length) {
    const std::string cut = group.substr(0, length);
    WireCursor of_cut(range_of(cut));
    EXPECT_FALSE(of_cut.next_field(field));
    EXPECT_EQ(WireProblem::cut_off, of_cut.problem());
  }
  const std::string wrong_end = "\x0b\x14";
  WireCursor of_wrong(range_of(wrong_end));
  EXPECT_FALSE(of_wrong.next_field(field));
  EXPECT_EQ(WireProblem::bad_group, of_wrong.problem());
}

}  // namespace
}  // namespace hbmscope
