#include "analysis/read/pickle/read_pickle.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "analysis/read/pickle/old_protocols.h"
#include "analysis/read/pickle/opcodes.h"
#include "tests/analysis/pickle_by_hand.h"

namespace hbmscope::pickle {
namespace {

TEST(Pickle, integers_of_every_opcode) {
  EXPECT_EQ(Read("K\xff").integer(), 255);
  EXPECT_EQ(Read("M\xff\xff").integer(), 65'535);
  EXPECT_EQ(Read("J\xff\xff\xff\xff"s).integer(), -1);
  EXPECT_EQ(Read("J\x00\x00\x00\x80"s).integer(), -2'147'483'648LL);
  EXPECT_EQ(Read("\x8a\x00"s).integer(), 0);
  EXPECT_EQ(Read("\x8a\x01\xff").integer(), -1);
  EXPECT_EQ(Read("\x8a\x06\x00\x00\x00\x40\x44\x7f"s).integer(), 0x7f4440000000);
  EXPECT_EQ(Read("\x8b\x02\x00\x00\x00\x34\x12"s).integer(), 0x1234);
  for (const std::int64_t value :
       {std::int64_t{1} << 60, -(std::int64_t{1} << 60), (std::int64_t{1} << 60) - 1, -(std::int64_t{1} << 60) - 1,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    std::string body = "\x8a\x08";
    for (unsigned i = 0; i < 8; ++i) body += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    EXPECT_EQ(Read(body).integer(), value) << "on both sides of what a Value holds itself";
  }
}

TEST(Pickle, integers_of_64_bits_keep_their_bits_and_wider_ones_say_so) {
  const Read unsigned_max("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"s);
  const auto max = *unsigned_max.get().integer(unsigned_max.root());
  EXPECT_EQ(max.bits, ~std::uint64_t{0});
  EXPECT_FALSE(max.is_negative || max.is_too_wide);
  const Read wide("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
  EXPECT_TRUE(wide.get().integer(wide.root())->is_too_wide);
  const Read below("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff");  // -2^63 - 1
  EXPECT_TRUE(below.get().integer(below.root())->is_too_wide);
  EXPECT_TRUE(below.get().integer(below.root())->is_negative);
}

TEST(Pickle, constants_and_floats) {
  EXPECT_TRUE(Read("N").root().is_none());
  EXPECT_TRUE(Read("\x88").root().is_true());
  EXPECT_TRUE(Read("\x89").root().is_boolean());
  EXPECT_FALSE(Read("\x89").root().is_true());
  EXPECT_FALSE(Read("N").root().is_boolean());
  EXPECT_EQ(Read("\x88").integer(), 1);
  const Read real("G\x3f\xe8\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(*real.get().real(real.root()), 0.75);
  EXPECT_FALSE(real.get().integer(real.root()));
}

TEST(Pickle, texts_and_bytes_of_every_opcode) {
  for (const std::string& body : {"\x8c\x03"
                                  "abc"s,
                                  "X\x03\x00\x00\x00"
                                  "abc"s,
                                  "\x8d\x03\x00\x00\x00\x00\x00\x00\x00"
                                  "abc"s,
                                  "U\x03"
                                  "abc"s,
                                  "T\x03\x00\x00\x00"
                                  "abc"s})
    EXPECT_EQ(Read(body).text(), "abc");
  for (const std::string& body : {"C\x02"
                                  "ab"s,
                                  "B\x02\x00\x00\x00"
                                  "ab"s,
                                  "\x8e\x02\x00\x00\x00\x00\x00\x00\x00"
                                  "ab"s,
                                  "\x96\x02\x00\x00\x00\x00\x00\x00\x00"
                                  "ab"s}) {
    const Read read(body, 5);
    EXPECT_EQ(read.get().bytes(read.root())->size(), 2U);
    EXPECT_FALSE(read.get().text(read.root()));
  }
}

TEST(Pickle, equal_texts_are_one_value) {
  const Read read(
      "(\x8c\x03"
      "abc\x8c\x03"
      "abd\x8c\x03"
      "abcX\x03\x00\x00\x00"
      "abcl"s);
  const auto items = read.get().items(read.root());
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0], items[2]);
  EXPECT_EQ(items[0], items[3]);
  EXPECT_FALSE(items[0] == items[1]);
}

TEST(Pickle, lists_and_tuples_of_every_opcode) {
  for (const std::string& body : {"](K\x01K\x02"
                                  "e"s,
                                  "(K\x01K\x02l"s,
                                  "]K\x01"
                                  "aK\x02"
                                  "a"s,
                                  "(K\x01K\x02t"s, "K\x01K\x02\x86"s,
                                  "](K\x01"
                                  "eK\x02"
                                  "a"s}) {
    const Read read(body);
    ASSERT_TRUE(read.document.has_value()) << read.document.error().text();
    const auto items = read.get().items(read.root());
    ASSERT_EQ(items.size(), 2U) << body;
    EXPECT_EQ(items[0].as_small(), 1);
    EXPECT_EQ(items[1].as_small(), 2);
    EXPECT_EQ(read.get().is_tuple(read.root()), body.back() == 't' || body.back() == '\x86');
  }
  EXPECT_TRUE(Read("]").get().items(Read("]").root()).empty());
  EXPECT_EQ(Read("K\x01\x85").get().list_count(), 1U);
  const Read three("NNN\x87");
  EXPECT_EQ(three.get().items(three.root()).size(), 3U);
  EXPECT_TRUE(Read(")").document.has_value());
}

TEST(Pickle, long_lists_grow_in_batches) {
  std::string body = "]";
  constexpr int batches = 50, batch = 1'000;
  for (int i = 0; i < batches; ++i) {
    body += "(";
    for (int j = 0; j < batch; ++j) body += "M"s + static_cast<char>(j & 255) + static_cast<char>(j >> 8);
    body += "e";
  }
  const Read read(body);
  const auto items = read.get().items(read.root());
  ASSERT_EQ(items.size(), std::size_t{batches} * batch);
  for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(items[i].as_small(), static_cast<std::int64_t>(i % batch));
}

TEST(Pickle, dicts_of_every_opcode) {
  for (const std::string& body : {"}(U\x01"
                                  "aK\x01U\x01"
                                  "bK\x02u"s,
                                  "(U\x01"
                                  "aK\x01U\x01"
                                  "bK\x02"
                                  "d"s,
                                  "}U\x01"
                                  "aK\x01sU\x01"
                                  "bK\x02s"s,
                                  "}(U\x01"
                                  "aK\x01u(U\x01"
                                  "bK\x02u"s}) {
    const Read read(body);
    ASSERT_TRUE(read.document.has_value()) << read.document.error().text();
    EXPECT_EQ(read.get().values(read.root()).size(), 2U);
    EXPECT_EQ(read.get().find(read.root(), "a").as_small(), 1);
    EXPECT_EQ(read.get().find(read.root(), "b").as_small(), 2);
    EXPECT_TRUE(read.get().find(read.root(), "c").is_missing());
  }
  EXPECT_TRUE(Read("}(u").document.has_value());
  EXPECT_TRUE(Read("N").get().find(Value::none(), "a").is_missing());
}

TEST(Pickle, the_later_of_two_equal_keys_holds) {
  const Read read(
      "}(U\x01"
      "aK\x01U\x01"
      "aK\x02u"s),
      several(
          "}(U\x01"
          "aK\x01uU\x01"
          "aK\x02s"s);
  EXPECT_EQ(read.get().find(read.root(), "a").as_small(), 2);
  EXPECT_EQ(several.get().find(several.root(), "a").as_small(), 2);
}

TEST(Pickle, dicts_with_the_same_keys_share_a_shape) {
  const Read read(
      "(}(U\x01"
      "aK\x01U\x01"
      "bK\x02u}(U\x01"
      "aK\x03U\x01"
      "bK\x04u}(U\x01"
      "bK\x03U\x01"
      "aK\x04ul"s);
  const auto items = read.get().items(read.root());
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(read.get().shape(items[0]), read.get().shape(items[1]));
  EXPECT_NE(read.get().shape(items[0]), read.get().shape(items[2]));
  EXPECT_EQ(read.get().find(items[2], "a").as_small(), 4);
}

TEST(Pickle, wide_dicts_keep_all_their_keys) {
  std::string body = "}(";
  for (int i = 0; i < 200; ++i) body += "M"s + static_cast<char>(i) + '\0' + "K\x07";
  body +=
      "uU\x03"
      "endK\x09s";
  const Read read(body);
  EXPECT_EQ(read.get().values(read.root()).size(), 201U);
  EXPECT_EQ(read.get().keys(read.get().shape(read.root()))[150].as_small(), 150);
  EXPECT_EQ(read.get().find(read.root(), "end").as_small(), 9);
}

TEST(Pickle, many_shapes_are_all_found_again) {
  std::string body = "(";
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 3'000; ++i) {
      const std::string key = std::to_string(i);
      body += "}(U"s + static_cast<char>(key.size()) + key + "K\x01u";
    }
  const Read read(body + "l");
  const auto items = read.get().items(read.root());
  ASSERT_EQ(items.size(), 6'000U);
  int shared = 0;
  for (std::size_t i = 0; i < 3'000; ++i) shared += read.get().shape(items[i]) == read.get().shape(items[i + 3'000]);
  EXPECT_GT(shared, 2'990) << "a chain of collisions may be cut short, rarely";
}

TEST(Pickle, memo_keeps_sharing) {
  const Read read("(]\x94K\x05h\x00j\x00\x00\x00\x00]q\x07h\x07]r\x09\x00\x00\x00h\x09l"s);
  ASSERT_TRUE(read.document.has_value()) << read.document.error().text();
  const auto items = read.get().items(read.root());
  ASSERT_EQ(items.size(), 8U);
  EXPECT_EQ(items[0], items[2]);
  EXPECT_EQ(items[0], items[3]);
  EXPECT_EQ(items[4], items[5]);
  EXPECT_EQ(items[6], items[7]);
  EXPECT_FALSE(items[0] == items[4]);
  EXPECT_EQ(read.get().list_count(), 4U);
}

TEST(Pickle, a_list_may_hold_itself) {
  const Read read(
      "]\x94h\x00"
      "a"s);
  ASSERT_EQ(read.get().items(read.root()).size(), 1U);
  EXPECT_EQ(read.get().items(read.root())[0], read.root());
}

TEST(Pickle, stack_opcodes) {
  EXPECT_EQ(Read("K\x01K\x02"
                 "0")
                .integer(),
            1);
  EXPECT_EQ(Read("K\x01(K\x02K\x03"
                 "1")
                .integer(),
            1);
  EXPECT_EQ(Read("K\x01(0").integer(), 1);
  const Read twice("]2\x86");
  EXPECT_EQ(twice.get().items(twice.root())[0], twice.get().items(twice.root())[1]);
}

TEST(Pickle, protocols_two_to_five) {
  for (int protocol = 2; protocol <= 5; ++protocol) EXPECT_EQ(Read("N", protocol).get().protocol(), protocol);
  expect_refused(Read("N", 6), "protocol 6", 0);
  EXPECT_FALSE(read_pickle(bytes_of("(dp0\n."), "a.pickle"));
  EXPECT_FALSE(read_pickle({}, "a.pickle"));
  EXPECT_FALSE(looks_like_pickle(bytes_of("\x80")));
}

// They do not begin with an opcode for the protocol; protocol 0 is all letters.
TEST(Pickle, protocols_zero_and_one_are_named_in_the_error) {
  const auto error_of = [](const std::string& bytes) {
    const auto document = read_pickle(bytes_of(bytes), "a.pickle");
    EXPECT_FALSE(document) << bytes;
    EXPECT_FALSE(document.error().remedy.empty());
    return document.error();
  };
  const std::string classic = "cos\nsystem\n(S\"touch /tmp/x\"\ntR.";
  EXPECT_EQ("this Python pickle of protocol 0 or 1 wants to run code: opcode GLOBAL (os.system) at byte 0",
            error_of(classic).what);
  EXPECT_EQ(0U, error_of(classic).offset);
  const Error later = error_of("(dp0\nVa\np1\n(Vx\niposix\nsystem\ns.");
  EXPECT_EQ(15U, later.offset);
  EXPECT_NE(std::string::npos, later.what.find("opcode INST (posix.system) at byte 15")) << later.what;
  EXPECT_NE(std::string::npos, error_of("c__builtin__\neval\n.\n").what.find("(__builtin__.eval)"));
  // As written by pickle.dumps({"segments": [{"device": 0, "address": 139637976727552}]}, 0), and by protocol 1.
  for (
      const std::string& harmless :
      {"(dp0\nVsegments\np1\n(lp2\n(dp3\nVdevice\np4\nI0\nsVaddress\np5\nL139637976727552L\nsas."s,
       "}q\0X\x08\0\0\0segmentsq\x01]q\x02}q\x03(X\x06\0\0\0deviceq\x04K\0X\x07\0\0\0addressq\x05L139637976727552L\nuas."s})
    EXPECT_EQ("this is a Python pickle of protocol 0 or 1, which hbmscope cannot read", error_of(harmless).what);
}

TEST(Pickle, what_is_no_old_pickle_is_not_called_one) {
  for (const std::string& other : {""s,
                                   "."s,
                                   "cos\nsystem\n(S\"touch\"\ntR"s,
                                   "cos\nsystem\n."s + "and more"s,
                                   "Ia\n."s,
                                   "S\"x'\n."s,
                                   "R."s,
                                   "(."s,
                                   "a."s,
                                   "t."s,
                                   "K."s,
                                   "T\xff\xff\xff\x7f."s,
                                   "N0."s,
                                   "NN."s,
                                   "I am a log.\n"s,
                                   "Nothing to see here.\n"s,
                                   "c f\nx y\n."s,
                                   "Thread,Time,Action,Pointer,Size,Stream\n"s,
                                   "{\"a\": 1}."s,
                                   std::string(10'000, '(') + "."})
    EXPECT_FALSE(find_old_pickle(bytes_of(other))) << other.substr(0, 40);
}

TEST(Pickle, everything_that_names_or_calls_code_is_refused_with_its_byte) {
  struct Refused {
    char opcode;
    const char* name;
  };
  for (const Refused& r : {Refused{'c', "GLOBAL"},
                           {'\x93', "STACK_GLOBAL"},
                           {'R', "REDUCE"},
                           {'b', "BUILD"},
                           {'i', "INST"},
                           {'o', "OBJ"},
                           {'\x81', "NEWOBJ"},
                           {'\x92', "NEWOBJ_EX"},
                           {'\x82', "EXT1"},
                           {'\x83', "EXT2"},
                           {'\x84', "EXT4"}}) {
    SCOPED_TRACE(r.name);
    expect_refused(Read("NN0"s + r.opcode + "os\nsystem\n"), "wants to run code: opcode "s + r.name, 5);
    expect_refused(Read("NN0"s + r.opcode + "os\nsystem\n"), "at byte 5", 5);
  }
  for (const Refused& r : {Refused{'P', "PERSID"},
                           {'Q', "BINPERSID"},
                           {'\x97', "NEXT_BUFFER"},
                           {'\x98', "READONLY_BUFFER"},
                           {'I', "INT"},
                           {'L', "LONG"},
                           {'F', "FLOAT"},
                           {'S', "STRING"},
                           {'V', "UNICODE"},
                           {'g', "GET"},
                           {'p', "PUT"},
                           {'\x8f', "EMPTY_SET"},
                           {'\x90', "ADDITEMS"},
                           {'\x91', "FROZENSET"}})
    expect_refused(Read("N"s + r.opcode), "opcode "s + r.name + " at byte 3", 3);
  expect_refused(Read("N\xff"), "0xff at 3 is no opcode", 3);
}

TEST(Pickle, a_refusal_names_what_the_file_wanted) {
  expect_refused(Read("cos\nsystem\n"), "(os.system)", 2);
  expect_refused(Read("\x8c\x05posix\x8c\x06system\x93"), "(posix.system)", 17);
  const Read model("ctorch._utils\n_rebuild_tensor_v2\n");
  EXPECT_NE(model.document.error().remedy.find("saved model"), std::string::npos);
  const Read strange("c\x1b[31m\nred\n");
  EXPECT_EQ(strange.document.error().what.find('\x1b'), std::string::npos);
}

TEST(Pickle, every_byte_is_an_opcode_that_is_read_or_refused) {
  for (int byte = 0; byte < 256; ++byte) {
    const Read read("N"s + static_cast<char>(byte));
    if (!read.document) {
      EXPECT_FALSE(read.document.error().remedy.empty()) << byte;
    }
    const OpcodeInfo info = find_opcode(static_cast<std::uint8_t>(byte));
    EXPECT_EQ(info.name.empty(), info.use == OpcodeUse::unknown) << byte;
    if (info.use != OpcodeUse::plain) {
      EXPECT_FALSE(read.document.has_value()) << byte;
    }
  }
}

TEST(Pickle, damage_is_refused_with_its_byte) {
  expect_refused(Read("e"), "APPENDS without a MARK", 2);
  expect_refused(Read("u"), "SETITEMS without a MARK", 2);
  expect_refused(Read("a"), "APPEND has nothing", 2);
  expect_refused(Read("NNa"), "no list", 4);
  expect_refused(Read("N(Ne"), "no list", 5);
  expect_refused(Read("(e"), "no list", 3);
  expect_refused(Read("](NNu"), "no dict", 6);
  expect_refused(Read("}(Nu"), "a key without a value", 5);
  expect_refused(Read("0"), "POP has nothing", 2);
  expect_refused(Read("(N\x86"), "TUPLE2 has nothing", 4);
  expect_refused(Read(""), "STOP has nothing", 2);
  expect_refused(Read("N("), "STOP comes inside", 4);
  expect_refused(Read("(N"), "STOP comes inside", 4);
  expect_refused(Read("h\x00"s), "never put there", 2);
  expect_refused(Read("Nq\x03h\x02"s), "never put there", 5);
  expect_refused(Read("\x94"), "MEMOIZE has nothing", 2);
}

TEST(Pickle, claims_beyond_the_end_allocate_nothing) {
  const std::string huge(8, '\x7f');
  expect_refused(Read("\x8d" + huge), "BINUNICODE8 claims", 2);
  expect_refused(Read("\x8e" + huge), "BINBYTES8 claims", 2);
  expect_refused(Read("\x96" + huge), "BYTEARRAY8 claims", 2);
  expect_refused(Read("\x95" + huge), "FRAME claims", 2);
  expect_refused(Read("\x8b\xff\xff\xff\x7f"), "LONG4 claims", 2);
  expect_refused(Read("X\xff\xff\xff\xff"), "BINUNICODE claims", 2);
  expect_refused(Read("Nr\xff\xff\xff\xff"), "more than there are bytes", 3);
}

TEST(Pickle, deep_nesting_takes_no_recursion) {
  constexpr int depth = 200'000;
  const Read deep(std::string(depth, ']') + std::string(depth - 1, 'a'));
  ASSERT_TRUE(deep.document.has_value());
  Value at = deep.root();
  int levels = 1;
  for (; !deep.get().items(at).empty(); ++levels) at = deep.get().items(at)[0];
  EXPECT_EQ(levels, depth);
  expect_refused(Read(std::string(5'000, '(')), "4096 marks", 2 + 4'096);
}

TEST(Pickle, a_pickle_cut_at_any_byte_is_an_error) {
  const std::string whole = Read("\x95\x04\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x03keyJ\x01\x02\x03\x04u"s).bytes;
  ASSERT_TRUE(read_pickle(bytes_of(whole), "a.pickle"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = read_pickle(bytes_of(whole.substr(0, size)), "a.pickle");
    ASSERT_FALSE(cut) << size;
    EXPECT_LE(cut.error().offset.value(), size);
  }
}

TEST(Pickle, stops_at_its_end_and_on_request) {
  const std::string two = "\x80\x04K\x01.\x80\x04K\x02."s;
  const auto first = read_pickle(bytes_of(two), "a.pickle");
  EXPECT_EQ(first->end_offset(), 5U);
  ReadControl control;
  control.cancelled = true;
  EXPECT_FALSE(read_pickle(bytes_of(two), "a.pickle", {}, &control));
}

}  // namespace
}  // namespace hbmscope::pickle
