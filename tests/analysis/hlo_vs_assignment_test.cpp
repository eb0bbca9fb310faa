// Facts about a program from files next to its buffer assignment: lifetimes of values, the source lines that made them,
// the code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/query/heap_rows.h"
#include "analysis/query/program_memory.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/read/hlo/live_ranges.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/proto_message.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {
namespace {

using tests::Message;

// a is live before b and shares its position with c, which overwrites it; the tuple's second value is a table.
const std::string assignment = R"(BufferAssignment:
allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
 value: <1 x @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 1: size 12288, page 0, preallocated-temp:
 value: <2 a @0> (size=8192,offset=0): f32[9,128]{1,0:T(8,128)}
 value: <3 b{0} @0> (size=4096,offset=8192): f32[8,100]{1,0:T(8,128)}
 value: <4 c @0> (size=8192,offset=0): f32[16,128]{1,0:T(8,128)}
 value: <5 d @0> (size=4096,offset=8192): f32[8,128]{1,0:T(8,128)}

Total bytes used: 16384
)";
const std::string ranges = R"(HloLiveRange (max 6):
  InstructionSequence:
    0:x
    1:a
    2:b
    3:c
    4:d
  BufferLiveRange:
    x{}:0-6
    a{}:1-3
    b{0}:2-3
    c{}:3-5
    d{}:4-5
  Live ranges at 3 (peak):
    a{}: 8192 bytes (cumulative: 8192 bytes)
)";

Trace joined_trace(const std::string& text, const HloExtras& beside) {
  auto trace = read_hlo(bytes_of(text), "dump", nullptr, beside);
  EXPECT_TRUE(trace) << trace.error().what;
  return std::move(*trace);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("hbmscope-beside-" + std::to_string(getpid()));
};
using LiveRanges = Folder;

TEST_F(LiveRanges, are_read_until_what_sums_them_up) {
  const auto read = hlo::read_live_ranges(bytes_of(ranges), "text");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 5U);
  EXPECT_EQ(read->at("b{0}").begin, 2U);
  EXPECT_EQ(read->at("b{0}").end, 3U);
  EXPECT_FALSE(hlo::read_live_ranges(bytes_of(ranges.substr(0, ranges.find("BufferLiveRange"))), "text"));
  for (std::size_t length = 0; length < ranges.size(); ++length)
    hlo::read_live_ranges(bytes_of(ranges.substr(0, length)), "text");
}

TEST_F(LiveRanges, make_the_arenas_of_a_text_live) {
  const Trace without = joined_trace(assignment, {});
  EXPECT_EQ(without.import.count_of("arenas_without_times"), 1);
  const Trace trace = joined_trace(assignment, {bytes_of(ranges), {}});
  EXPECT_EQ(trace.import.count_of("arenas_without_times"), 0);
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(stream.last_state().in_use_bytes(1), 4096U);  // The argument stays.
  EXPECT_EQ(stream.peak(1).in_use_bytes, 4096U + 8192 + 4096);
  EXPECT_EQ(compute_event_counts(trace).alloc, 1U + 3);  // a with c over it is one block.
  EXPECT_EQ(stream.last_state().problems().total(), 0U);
  const Trace other =
      joined_trace(assignment, {bytes_of("HloLiveRange (max 6):\n  BufferLiveRange:\n    a{}:1-3\n"), {}});
  EXPECT_EQ(other.import.count_of("values_without_ranges"), 3);
}

TEST_F(LiveRanges, are_found_from_the_assignment_and_the_other_way_round) {
  const std::string text = write("module_1.jit_f.after-buffer-assignment.txt", assignment);
  EXPECT_EQ(read_source(text, {})->trace->import.count_of("arenas_without_times"), 1);
  const std::string times = write("module_1.jit_f.after-live-range.txt", ranges);
  for (const std::string& file : {text, times}) {
    const auto source = read_source(file, {});
    ASSERT_TRUE(source) << source.error().what;
    EXPECT_EQ(source->trace->import.count_of("arenas_without_times"), 0) << file;
    EXPECT_EQ(find_program_memory(*source->trace)->argument_bytes, 4096U);
  }
  std::filesystem::remove(text);
  const auto alone = read_source(times, {});
  ASSERT_TRUE(alone) << alone.error().what;
  EXPECT_EQ(alone->trace->streams.front().peak(1).in_use_bytes, 8192U);  // What is listed at the peak.
  EXPECT_EQ(alone->trace->import.count_of("values_without_size"), 4);
  write("module_1.jit_f.after-live-range.txt", ranges.substr(0, ranges.find("  Live ranges at")));
  const auto without_peak = read_source(times, {});
  ASSERT_FALSE(without_peak);
  EXPECT_NE(without_peak.error().what.find("not their sizes and addresses"), std::string::npos);
}

TEST_F(LiveRanges, give_the_programs_of_the_compiler_the_course_that_their_messages_have) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data =
      std::filesystem::path(named != nullptr ? named : "../shared/data") / "tpu/aot/programs";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no programs in " << data << " (HBMSCOPE_DATA names the folder)";
  const auto bytes = [](std::uint64_t number) { return static_cast<double>(number); };
  int programs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename() != "live-range.txt.gz") continue;
    SCOPED_TRACE(entry.path().string());
    const auto message =
        read_source((entry.path().parent_path() / "hlo_with_buffer_assignment.hlo.pb.gz").string(), {});
    const auto text = read_source((entry.path().parent_path() / "buffer-assignment.txt.gz").string(), {});
    ASSERT_TRUE(message && text);
    ++programs;
    EXPECT_EQ(text->trace->import.count_of("arenas_without_times"), 0);
    const auto expected = compute_heap_rows(*message->trace, message->states),
               found = compute_heap_rows(*text->trace, text->states);
    ASSERT_EQ(expected.size(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      // The message has scalars and tables that share a place where the texts have several.
      EXPECT_NEAR(bytes(found[i].peak_in_use_bytes), bytes(expected[i].peak_in_use_bytes), 65536) << found[i].name;
      EXPECT_NEAR(bytes(found[i].in_use_bytes), bytes(expected[i].in_use_bytes), 65536) << found[i].name;
    }
  }
  EXPECT_GT(programs, 0);
}

// One argument, f32[9,100] in tiles of 8 x 128, made at the innermost of some lines.
std::string program_with_lines(std::uint64_t caller_of_first) {
  const auto place = [](std::uint64_t function, std::uint64_t line) {
    Message location;
    return location.number(1, 1).number(2, function).number(3, line);
  };
  const auto frame = [](std::uint64_t location, std::uint64_t caller) {
    Message message;
    message.number(1, location);
    return caller == 0 ? message : message.number(2, caller);
  };
  Message index, tile, layout, shape, metadata, fusion, computation, module, at, buffer, assigned, allocation, all,
      proto;
  index.text(1, "/home/me/train.py").text(2, "<module>").text(2, "step").add(3, place(1, 40)).add(3, place(2, 7));
  index.add(4, frame(1, caller_of_first)).add(4, frame(2, 1));
  tile.text(1, std::string("\x08\x80\x01", 3));
  layout.text(1, std::string("\x01\x00", 2)).add(6, tile);
  shape.number(2, 11).number(3, 9).number(3, 100).add(5, layout);
  metadata.text(2, "jit(step)/dot").number(15, 2);
  fusion.text(1, "dot").text(2, "fusion").add(3, shape).add(7, metadata).number(35, 1);
  computation.text(1, "main").add(2, fusion);
  module.text(1, "jit_step").text(2, "main").add(3, computation).number(6, 9).add(17, index);
  buffer.number(1, 1).number(2, 8192).add(3, at.number(4, 1));
  allocation.number(1, 0).number(2, 8192).number(5, 1).add(9, assigned.number(1, 1).number(2, 0).number(3, 8192));
  return proto.add(1, module).add(3, all.add(1, buffer).add(3, allocation)).bytes;
}

TEST(HloLines, lead_to_a_value_from_the_outermost_in) {
  const Trace trace = joined_trace(program_with_lines(0), {});
  const Stream& stream = trace.streams.front();
  ASSERT_EQ(stream.last_state().heap(1).live_blocks, 1U);
  const LiveBlock block = stream.last_state().slots()[0];
  std::vector<std::string> functions;
  for (std::uint32_t stack = block.stack; stack != 0; stack = stream.definitions().stack(stack).parent)
    functions.emplace_back(
        stream.definitions().text(stream.definitions().frame(stream.definitions().stack(stack).frame).function));
  EXPECT_EQ(functions, (std::vector<std::string>{"dot", "jit(step)", "step", "<module>"}));
  const auto own = find_own_frame(stream.definitions(), block.stack);
  ASSERT_TRUE(own);
  EXPECT_EQ(stream.definitions().text(own->file), "/home/me/train.py");
  EXPECT_EQ(own->line, 7U);
  EXPECT_EQ(block.requested, 9U * 100 * 4) << "what is beyond it is padding";
  // Lines that call one another in a circle have an end.
  EXPECT_EQ(joined_trace(program_with_lines(2), {}).streams.front().last_state().heap(1).live_blocks, 1U);
}

TEST(HloCode, counts_if_the_compiler_reported_its_size) {
  EXPECT_EQ(find_program_memory(joined_trace(assignment, {}))->code_bytes, std::nullopt);
  EXPECT_EQ(find_program_memory(joined_trace(assignment, {{}, 12345}))->code_bytes, 12345U);
}

}  // namespace
}  // namespace hbmscope
