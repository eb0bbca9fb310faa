// Two optimisations of the reader of pickles: dicts that look like a million others are read at once, and files are
// read in parts. Neither may change the result.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/pickle_by_hand.h"

namespace hbmscope::pickle {
namespace {

// Everything below a value, as text: equal where two documents say the same.
std::string text_of(const Document& document, Value value) {
  if (value.is_none()) return "None";
  if (const auto number = document.integer(value)) return std::to_string(static_cast<std::int64_t>(number->bits));
  if (const auto text = document.text(value)) return "'" + std::string(*text) + "'";
  std::string out;
  if (value.is(Value::Tag::list)) {
    for (const Value item : document.items(value)) out += text_of(document, item) + ",";
    return "[" + out + "]";
  }
  const auto keys = document.keys(document.shape(value)), values = document.values(value);
  for (std::size_t i = 0; i < keys.size(); ++i)
    out += text_of(document, keys[i]) + ":" + text_of(document, values[i]) + ",";
  return "{" + out + "}";
}

// Leaves room after it, so that no dict before it is near the end.
const std::string long_text = "X\x00\x02\x00\x00"s + std::string(512, 'x');

TEST(Pickle, dicts_whose_keys_were_met_before_say_the_same_as_those_that_spell_them) {
  const std::vector<std::string> numbers = {"K\x07",
                                            "M\x07\x08",
                                            "J\xff\xff\xff\xff",
                                            "\x8a\x01\xff"s,
                                            "\x8a\x06\x01\x02\x03\x04\x05\x06",
                                            "\x8a\x00"s,
                                            "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
                                            "N",
                                            "h\x01",
                                            "j\x01\x00\x00\x00"s,
                                            "\x89",
                                            "]",
                                            "K\x01K\x02\x86",
                                            "K\x01K\x02\x86\x94",
                                            "J\xff\xff\xff\xff\x8a\x02\x01\x02\x86\x94",
                                            "K\x01K\x02\x86r\x09\x00\x00\x00"s,
                                            "K\x01K\x02\x86\x94K\x03\x86\x94",
                                            "K\x01K\x02K\x03\x87\x94",
                                            "h\x01K\x02\x86\x94",
                                            "K\x02h\x01\x86\x94",
                                            "NK\x02\x86\x94"};
  for (const std::string& puts : {"\x94"s, "q\x02"s, "r\x02\x00\x00\x00"s})
    for (const std::string& a : numbers)
      for (const std::string& b : numbers) {
        const std::string met = "\x8c\x01k\x94\x8c\x01l\x94";  // Numbers 0 and 1.
        const std::string usual = "}" + puts + "(h\x00"s + a + "j\x01\x00\x00\x00"s + b + "u";
        const std::string spelt = "}" + puts + "(\x8c\x01k" + a + "\x8c\x01l" + b + "u";
        // As a list: both keys, the dict, the dict again by its number, and the text after it.
        const auto all = [&](const std::string& dict) { return "](" + met + dict + "h\x02" + long_text + "e"; };
        const Read read(all(usual)), other(all(spelt));
        ASSERT_TRUE(read.document && other.document) << a << b;
        EXPECT_EQ(text_of(read.get(), read.root()), text_of(other.get(), other.root()));
        EXPECT_EQ(read.get().items(read.root())[2], read.get().items(read.root())[3]) << "memoized";
      }
}

TEST(Pickle, pairs_of_numbers_in_usual_dicts_have_their_numbers_in_the_memo) {
  const std::string met = "\x8c\x01k\x94\x8c\x01l\x94\x8c\x01m\x94";  // Numbers 0 to 2; the dict is 3.
  for (const std::string& puts : {"\x94\x94\x94"s, "q\x03q\x04q\x05"s, "r\x03\0\0\0r\x04\0\0\0r\x05\0\0\0"s}) {
    const std::size_t each = puts.size() / 3;
    const std::string dict = "}" + puts.substr(0, each) + "(h\x00K\x01K\x02\x86"s + puts.substr(each, each) +
                             "h\x01K\x03h\x02K\x04K\x05\x86"s + puts.substr(2 * each) + "u";
    const Read read("](" + met + dict + "h\x03h\x04h\x05" + long_text + "e");
    ASSERT_TRUE(read.document);
    const auto items = read.get().items(read.root());
    EXPECT_EQ(text_of(read.get(), items[3]), "{'k':[1,2,],'l':3,'m':[4,5,],}");
    EXPECT_EQ(items[4], items[3]);
    EXPECT_EQ(text_of(read.get(), items[5]), "[1,2,]");
    EXPECT_EQ(text_of(read.get(), items[6]), "[4,5,]");
    EXPECT_EQ(items[5], read.get().values(items[3])[0]) << "the same object";
  }
}

TEST(Pickle, dicts_that_are_nearly_as_usual_are_refused_where_any_other_would_be) {
  const std::string met = "\x8c\x01k\x94";
  expect_refused(Read("](" + met + "}\x94(h\x05K\x01u" + long_text + "e"), "5, which was never put there", 11);
  expect_refused(Read("](" + met + "}\x94(h\x00h\x07u"s + long_text + "e"), "7, which was never put there", 13);
  expect_refused(Read("](" + met + "}\x94(h\x00K\x01h\x00u"s + long_text + "e"), "a key without a value", 17);
  const Read many("](" + met + "}\x94(" +
                  [] {
                    std::string pairs;
                    for (int i = 0; i < 40; ++i) pairs += "h\x00K"s + std::string(1, static_cast<char>(i));
                    return pairs;
                  }() +
                  "u" + long_text + "e");
  ASSERT_TRUE(many.document);
  EXPECT_EQ(many.get().values(many.get().items(many.root())[1]).size(), 40U) << "more keys than any usual dict";
}

// Returns its data in parts, like a file.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string bytes, std::uint64_t size) : bytes_(std::move(bytes)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<std::uint8_t> room) override {
    const std::size_t got = std::min(room.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), got, room.begin());
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::uint64_t size_;
  std::size_t at_ = 0;
};

std::string four_bytes(std::size_t size) {
  std::string out;
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(size >> (8 * i));
  return out;
}

TEST(Pickle, read_in_parts_it_gives_the_same) {
  constexpr std::size_t window = std::size_t{1} << 20;
  // Opcodes with arguments lie over every end of a window, at every byte of theirs; one text is larger than a window.
  for (std::size_t shift = 0; shift < 28; ++shift) {
    std::string body = "](\x8c\x01k\x94X" + four_bytes(window - 64 + shift) + std::string(window - 64 + shift, 'a');
    for (int i = 0; i < 20'000; ++i)
      body += "}\x94(h\x00\x8a\x06\x01\x02\x03\x04\x05\x06u\x8a\x07\x01\x02\x03\x04\x05\x06\x07J\x01\x02\x03\x04"s;
    body += "X" + four_bytes(window + 9) + std::string(window + 9, 'b') +
            "K\x05"
            "e";
    const std::string bytes = "\x80\x04" + body + ".";
    const auto whole = read_pickle(bytes_of(bytes), "a.pickle");
    ASSERT_TRUE(whole);
    Document document;
    Pieces pieces(bytes, bytes.size());
    const auto error = read_pickle(document, pieces, "a.pickle");
    ASSERT_FALSE(error) << error->what;
    ASSERT_TRUE(text_of(*whole, whole->root()) == text_of(document, document.root())) << shift;
    EXPECT_EQ(document.end_offset(), whole->end_offset());
  }
}

TEST(Pickle, read_in_parts_it_is_cut_off_at_the_same_byte) {
  constexpr std::size_t window = std::size_t{1} << 20;
  std::string bytes = "\x80\x04](\x8c\x01k\x94";
  while (bytes.size() < 2 * window)
    bytes +=
        "}\x94(h\x00\x8a\x06\x01\x02\x03\x04\x05\x06u\x8c\x03"s
        "abc";
  bytes += "e.";
  for (const std::size_t around : {window, 2 * window})
    for (std::size_t size = around - 40; size < around + 40 && size < bytes.size(); ++size) {
      const std::string cut = bytes.substr(0, size);
      const auto whole = read_pickle(bytes_of(cut), "a.pickle");
      for (const std::uint64_t said : {std::uint64_t{size}, std::uint64_t{bytes.size()}}) {  // It was cut meanwhile.
        Document document;
        Pieces pieces(cut, said);
        const auto error = read_pickle(document, pieces, "a.pickle");
        ASSERT_TRUE(error && !whole) << size;
        if (said == size) {
          EXPECT_EQ(error->what, whole.error().what);
        }
        EXPECT_EQ(error->offset, whole.error().offset) << size << " " << error->what << " " << whole.error().what;
      }
    }
}

}  // namespace
}  // namespace hbmscope::pickle
