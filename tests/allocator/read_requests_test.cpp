#include <sys/resource.h>

#include <string>
#include <vector>

#include <zstd.h>

#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {
namespace {

const std::string head = "{\"config\":{\"total_bytes\":1048576}}\n";

std::string compressed(const std::string& text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  return bytes;
}

void expect_refused(const std::string& text, const std::string& what) {
  const auto read = read_text(text);
  ASSERT_FALSE(read) << text;
  EXPECT_EQ(read.error().what, what);
  EXPECT_EQ(read.error().file, "a.jsonl");
  EXPECT_FALSE(read.error().remedy.empty());
}

TEST(ReadRequests, the_configuration) {
  const RequestStream stream = stream_of(
      R"({"config":{"total_bytes":1073741824,"allow_growth":1,"garbage_collection":1,"fragmentation_fraction":0.25,"spatial":0,"device_bytes":5368709120,"granularity":2097152,"placement":"reuse","snapshot_every":1000}})");
  EXPECT_EQ(stream.config.total_bytes, 1073741824U);
  EXPECT_TRUE(stream.config.allow_growth);
  EXPECT_TRUE(stream.config.garbage_collection);
  EXPECT_EQ(stream.config.fragmentation_fraction, 0.25);
  EXPECT_FALSE(stream.config.is_spatial);
  EXPECT_EQ(stream.config.upstream.device_bytes, 5368709120U);
  EXPECT_EQ(stream.config.upstream.granularity, 2097152U);
  EXPECT_EQ(stream.config.upstream.placement, Placement::reuse);
  EXPECT_EQ(version_of(stream.config), xla_gpu::Version::classic_align);
}

TEST(ReadRequests, an_unknown_key_of_the_configuration_is_reported) {
  const auto read = read_text("{\"config\":{\"total_bytes\":1024,\"colour\":\"red\"}}");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->unknown_config, std::vector<std::string>{"colour"});
}

TEST(ReadRequests, requests_with_ends_and_alignments) {
  const RequestStream stream = stream_of(
      head + "[\"a\",7,1000,0,0,1024,{\"end\":\"u\",\"align\":4096}]\n[\"a\",8,5,{\"align\":1}]\n[\"f\",7]\n");
  ASSERT_EQ(stream.operations.size(), 3U);
  EXPECT_EQ(stream.operations[0].request.bytes, 1000U);
  EXPECT_EQ(stream.operations[0].request.space, Space::collective);
  EXPECT_EQ(stream.operations[0].request.alignment, 4096U);
  EXPECT_EQ(stream.operations[0].line, 2U);
  EXPECT_EQ(stream.operations[1].request.space, Space::default_memory);
  EXPECT_EQ(stream.answers[1].outcome, RecordedOutcome::unknown);
  EXPECT_TRUE(stream.operations[2].is_free);
  EXPECT_EQ(stream.operations[2].slot, stream.operations[0].slot);
}

TEST(ReadRequests, a_stream_without_answers_has_none) {
  EXPECT_TRUE(stream_of(small_stream).has_answers());
  EXPECT_FALSE(stream_of(head + "[\"a\",1,1]\n[\"f\",1]\n").has_answers());
  EXPECT_TRUE(stream_of(head + "[\"a\",1,1]\n[\"f\",1,\"noop\"]\n").has_answers());
}

TEST(ReadRequests, a_slot_is_used_again_after_its_free) {
  const RequestStream stream = stream_of(head + "[\"a\",1,1]\n[\"f\",1]\n[\"a\",2,1]\n[\"f\",2]\n[\"a\",1,1]\n");
  EXPECT_EQ(stream.slots, 1U);
}

TEST(ReadRequests, regions_belong_to_the_operation_behind_them) {
  const RequestStream stream =
      stream_of(head +
                "[\"a\",1,1]\n{\"suballoc_fail\":512}\n{\"region\":3,\"size\":256,\"asked\":255,\"base\":\"0x1f\"}\n["
                "\"f\",1]\n{\"region_free\":3,\"size\":256}\n[\"a\",2,0,\"zero\"]\n");
  ASSERT_EQ(stream.events.size(), 3U);
  EXPECT_EQ(stream.events[0].operation, 1U);
  EXPECT_EQ(stream.events[0].event.kind, RegionEvent::Kind::refused);
  EXPECT_EQ(stream.events[1].event, (RegionEvent{RegionEvent::Kind::claimed, 3, 256, 255, 0x1f}));
  EXPECT_EQ(stream.events[2].operation, 2U);
  EXPECT_EQ(stream.events[2].event.kind, RegionEvent::Kind::released);
}

TEST(ReadRequests, zstd_is_recognised_by_content) {
  EXPECT_EQ(stream_of(compressed(small_stream)).operations.size(), 7U);
  EXPECT_EQ(stream_of(compressed(head) + compressed("[\"a\",1,1]\n")).operations.size(), 1U);
}

TEST(ReadRequests, blank_lines_and_a_missing_line_end_are_no_trouble) {
  EXPECT_EQ(stream_of("\n" + head + " \r\n[\"a\",1,1]").operations.size(), 1U);
}

TEST(ReadRequests, damaged_zstd_is_an_error_with_its_byte) {
  const std::string whole = compressed(small_stream);
  const auto cut = read_text(whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().what, "the zstd data end too early");
  EXPECT_TRUE(cut.error().offset);
  EXPECT_FALSE(read_text(whole + "behind the end"));
}

TEST(ReadRequests, a_bomb_is_stopped) {
  const auto read = read_text(compressed(head + std::string(1 << 20, '\n')), 1 << 16);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "it unpacks to more than 64.0 KiB");
}

TEST(ReadRequests, a_bomb_takes_no_memory) {
  const std::string frame = compressed(std::string(1 << 20, '\n'));
  std::string bomb;
  for (int i = 0; i < 300; ++i) bomb += frame;
  const auto peak_kib = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  const long before = peak_kib();
  const auto read = read_text(bomb, std::uint64_t{256} << 20);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "it unpacks to more than 256 MiB");
  EXPECT_LT(peak_kib() - before, 64L << 10);
}

TEST(ReadRequests, a_line_that_is_not_of_the_format_is_named) {
  expect_refused("", "line 0: there is no configuration: the file is empty");
  expect_refused("[1]\n", "line 1: a request stream begins with {\"config\": ...}");
  expect_refused("{\"config\":3}\n", "line 1: config is no object");
  expect_refused("{\"config\":{}}\n", "line 1: 'total_bytes' is missing");
  expect_refused("{\"config\":{\"total_bytes\":0}}\n", "line 1: the limit is 0");
  expect_refused("{\"config\":{\"total_bytes\":-5}}\n", "line 1: total_bytes is no whole number from 0 to 2^63 - 1");
  expect_refused("{\"config\":{\"total_bytes\":1024,\"spatial\":2}}\n", "line 1: spatial is neither 0 nor 1");
  expect_refused("{\"config\":{\"total_bytes\":1024,\"spatial\":1,\"allow_growth\":1}}\n",
                 "line 1: a pool with two ends can't grow");
  expect_refused("{\"config\":{\"total_bytes\":1024,\"placement\":\"up\"}}\n",
                 "line 1: placement is none of asc, desc, reuse");
  expect_refused("{\"config\":{\"total_bytes\":1024,\"granularity\":0}}\n",
                 "line 1: granularity is no whole number from 1 to 2^63 - 1");
  expect_refused(head + "[\"a\",1,\n", "line 2: it is no JSON");
  expect_refused(head + "\"a\"\n", "line 2: it is neither a list nor an object");
  expect_refused(head + "[]\n", "line 2: it is neither [\"a\", id, bytes, ...] nor [\"f\", id]");
  expect_refused(head + "[\"g\",1,2]\n", "line 2: it is neither [\"a\", id, bytes, ...] nor [\"f\", id]");
  expect_refused(head + "[\"a\",1,2.5]\n", "line 2: the number of bytes is no whole number from 0 to 2^63 - 1");
  expect_refused(head + "[\"a\",1,2,3]\n",
                 "line 2: an allocation's answer is \"oom\", \"zero\" or region, offset and chunk bytes");
  expect_refused(head + "[\"a\",1,2,{\"align\":48}]\n", "line 2: align is no power of two");
  expect_refused(head + "[\"a\",1,2,{\"end\":\"x\"}]\n", "line 2: end is neither \"u\" nor \"l\"");
  expect_refused(head + "[\"a\",1,2,{\"colour\":1}]\n", "line 2: a request has no 'colour'");
  expect_refused(head + "[\"f\",1]\n", "line 2: id 1 is freed but was never allocated");
  expect_refused(head + "[\"a\",1,2]\n[\"f\",1]\n[\"f\",1]\n", "line 4: id 1 is freed twice");
  expect_refused(head + "[\"a\",1,2]\n[\"a\",1,2]\n", "line 3: id 1 is allocated again before it was freed");
  expect_refused(head + "{\"moon\":1}\n",
                 "line 2: it is none of config, region, suballoc_fail, region_free, snap, final");
  expect_refused(head + "{\"region\":0,\"size\":1,\"asked\":1,\"base\":5}\n",
                 "line 2: base is no hexadecimal address such as \"0x100000000000\"");
  expect_refused(head + "{\"suballoc_fail\":1}\n", "line 2: no operation follows the regions at the end");
  expect_refused(head + "{\"snap\":0,\"fnv1a\":\"xyz\"}\n", "line 2: fnv1a is no hexadecimal number of 64 bits");
  expect_refused(head + "{\"snap\":0,\"chunks\":\"x\"}\n", "line 2: chunks is no whole number from 0 to 2^63 - 1");
  expect_refused(head + "{\"snap\":0,\"bins\":[[1,2]]}\n", "line 2: a row of bins has not 5 numbers");
  expect_refused(head + "{\"snap\":0,\"fragmentation\":\"no\"}\n",
                 "line 2: fragmentation is neither a number nor null");
}

TEST(ReadRequests, what_looks_like_one) {
  const auto looks = [](std::string_view text) {
    return looks_like_requests({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_TRUE(looks(small_stream));
  EXPECT_TRUE(looks(compressed(small_stream)));
  EXPECT_TRUE(looks("\n { \"config\": {}}"));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks("{"));
  EXPECT_FALSE(looks("{\"traceEvents\":[]}"));
}

}  // namespace
}  // namespace hbmscope::allocator
