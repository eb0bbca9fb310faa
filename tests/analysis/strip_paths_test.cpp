// A recording without folders: nothing of them is left in any string, and all else is what it was.
#include "analysis/write/strip_paths.h"

#include <gtest/gtest.h>

#include <cstring>

#include "analysis/query/profile_view.h"
#include "collector/wire/block_encoder.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

TEST(StripPaths, files_keep_their_name_and_whose_code_they_are) {
  const std::pair<const char*, const char*> cases[] = {
      {"/home/me/proj/train.py", "…/train.py"},
      {"train.py", "train.py"},
      {"??", "??"},
      {"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"},
      {"/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", "…/site-packages/linear.py"},
      {"C:\\Users\\me\\venv\\Lib\\site-packages\\torch\\_dynamo.py", "…/site-packages/_dynamo.py"},
      {"C:\\Users\\me\\train.py", "…/train.py"},
      {"/usr/lib/python3.11/threading.py", "…/lib/python3/threading.py"},
      {"C:\\Users\\me\\Python311\\Lib\\threading.py", "…/lib/python3/threading.py"},
      {"../csu/libc-start.c", "libc-start.c"},
      {"./me/secret/x.py", "…/x.py"},
      {"/home/me/kernels/mine.cu", "…/mine.cu"},
      {"/tmp/ipykernel_35137/199179691.py", "…/ipykernel_/199179691.py"},
      {"/home/me/", "…"},
      {"", ""},
  };
  for (const auto& [file, expected] : cases) {
    EXPECT_EQ(expected, stripped_file(file));
    EXPECT_EQ(expected, stripped_file(expected)) << "a second time changes nothing";
    EXPECT_EQ(is_library_file(file), is_library_file(expected)) << file;
  }
  EXPECT_EQ("<python>", package_of(stripped_file("/usr/lib/python3.11/threading.py"), {}));
  EXPECT_EQ("<notebook>", file_tail(stripped_file("/tmp/ipykernel_35137/199179691.py")));
}

TEST(StripPaths, words_of_a_command_line) {
  EXPECT_EQ("python …/train.py --data=… --out '…/a b' x:…/y 3/4 /",
            stripped_words("python /home/me/train.py --data=/mnt/x/ --out '../me/a b' x:~/y 3/4 /"));
  EXPECT_EQ("expandable_segments:True,max:0.5", stripped_words("expandable_segments:True,max:0.5"));
  EXPECT_EQ("…/libcuda.so:…/lib", stripped_words("/opt/me/libcuda.so:/home/me/lib"));
  EXPECT_EQ("", stripped_words(""));
}

TEST(StripPaths, home_folders_have_no_name) {
  EXPECT_EQ("cd …", stripped_words("cd /home/alice"));
  EXPECT_EQ("…:…/x", stripped_words("/home/alice:/home/alice/x"));
  EXPECT_EQ("in …", stripped_text("in /Users/alice"));
}

TEST(StripPaths, texts_lose_what_says_that_it_is_a_path) {
  const std::pair<const char*, const char*> cases[] = {
      {"step::(lambda at /home/alice/proj/x.cpp:12:5)::operator()", "step::(lambda at …/x.cpp:12:5)::operator()"},
      {"foo<'lambda'(C:\\Users\\alice\\x.cu)>", "foo<'lambda'(…/x.cu)>"},
      {"C:/Users/alice/x.cu:3", "…/x.cu:3"},
      {"loaded \\\\server\\share\\w.bin", "loaded …/w.bin"},
      {"can't open \"/data/alice/w.bin\"", "can't open \"…/w.bin\""},
      {"~/run/x and ~alice/y, ./a/b; ../c", "…/x and …/y, …/b; …/c"},
      {"file:///home/alice/x.py", "file:…/x.py"},
      {"$_0@/home/alice/x.cc", "$_0@…/x.cc"},
      {"/home/alice", "…"},
      {"/home/alice/", "…"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(expected, stripped_text(text));
    EXPECT_EQ(expected, stripped_text(expected)) << "a second time changes nothing";
  }
}

TEST(StripPaths, a_command_loses_its_arguments) {
  for (const auto& [text, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/usr/bin/python3 /home/me/train.py --lr 3", "…/python3 …/train.py …"},
           {"python train.py", "python train.py"},
           {"python -m secret.module", "python …"},
           {"./train", "…/train"},
           {"sh -c echo\thunter2", "sh …"},
           {"python …/train.py …", "python …/train.py …"},
           {"", ""}})
    EXPECT_EQ(expected, stripped_command(text));
}

TEST(StripPaths, texts_that_are_no_paths_stay) {
  for (const char* text : {"Ratio operator/(Ratio, Ratio)",
                           "operator/",
                           "operator/=",
                           "a/b",
                           "a / b",
                           "step 3/4",
                           "torch/nn",
                           "params/w/0",
                           "jit(train_step)/jit(main)/transpose(jvp(net))/dot_general",
                           "/job:localhost/replica:0/task:0/device:GPU:0",
                           "https://host/a/b",
                           "1.5 GB/s",
                           "/",
                           "//",
                           "and/or",
                           "~Tensor",
                           "~",
                           "ns::Tensor::~Tensor()",
                           "</b>",
                           "[memory]",
                           "x: y",
                           "a:b/c",
                           "\\d+",
                           "std::vector<int, std::allocator<int> >",
                           "%fusion.1",
                           "C:",
                           "b:/",
                           "…/x.cpp",
                           ""})
    EXPECT_EQ(text, stripped_text(text));
}

std::vector<wire::SharedBlock> stripped(const Stream& stream) {
  std::vector<wire::SharedBlock> blocks;
  EXPECT_TRUE(for_each_stripped_block(stream, nullptr, [&](const wire::SharedBlock& block) {
    blocks.push_back(block);
    return true;
  }));
  return blocks;
}

// Every text that a file holds, found without asking what it is for.
template <class Blocks>
std::string all_texts(const Blocks& blocks) {
  std::string texts;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (const wire::SharedBlock& block : blocks) {
    EXPECT_EQ(std::nullopt, decoder.decode(*block, decoded));
    for (std::size_t i = 0; i < decoded.rows<wire::StringRecord>().size(); ++i)
      texts += std::string(decoded.text(i)) + "\n";
  }
  return texts;
}

TEST(StripPaths, nothing_of_a_folder_is_left_and_the_events_are_the_same) {
  TraceBuilder built;
  built.writer.define_string("/home/me/late.py");  // Long before a frame says what it is.
  built.writer.add_job_fact("command", "python /home/me/train.py --data /home/me/data --user alice --password=hunter2");
  built.writer.add_job_fact("variable.XLA_FLAGS",
                            "--xla_dump_to=/home/me/dump --xla_gpu_autotune_level=2 --hosts=alice");
  built.writer.add_job_fact("hbmscope.drop_frames", "a/b|c");
  built.writer.add_job_fact("hbmscope.dry_run.verdict", "fits: 2 GiB\nHow: hbmscope open /home/me/train.programs\n");
  const std::uint32_t heap = built.heap("GPU 0", wire::heap_flag::has_requested);
  built.live(heap, 0x9000, 64);
  built.writer.flush();
  wire::ModuleRecord module;
  module.id = 1;
  module.path = built.writer.define_string("/home/me/lib/mine.so");
  built.writer.add(module, 0);
  const auto text = [&](const std::string& words) { return built.writer.define_string(words + " at /home/me/x.py"); };
  wire::AllocRecord tagged;
  tagged.address = 0xf000;
  tagged.size = 16;
  tagged.heap = heap;
  tagged.tag = text("tag");
  tagged.stack = built.writer.define_stack(0, built.writer.define_frame("f(lambda at /home/me/x.cpp:12)", "x.cpp", 12));
  built.writer.alloc(tagged, built.time_ns);
  wire::MarkerRecord mark;
  mark.name = text("mark");
  built.writer.add(mark, built.time_ns);
  wire::OutOfMemoryRecord failure;
  failure.heap = heap;
  failure.reason = text("reason");
  built.writer.add(failure, built.time_ns);
  wire::DriverRefusalRecord refusal;
  refusal.heap = heap;
  refusal.call = text("call");
  built.writer.add(refusal, built.time_ns);
  wire::AttributeRecord attribute;
  attribute.key = built.writer.define_string("path");
  attribute.value = text("attribute");
  built.writer.add(attribute, built.time_ns);
  for (int i = 0; i < 300; ++i) {
    built.alloc(heap, 0x1000, 16, built.stack("main;f" + std::to_string(i % 7)));
    if (i % 50 == 0) built.writer.flush();
    built.free(heap, 0x1000);
  }
  const std::uint32_t late = built.writer.define_stack(0, built.writer.define_frame("f", "/home/me/late.py", 3));
  built.alloc(heap, 0x2000, 16, late);
  built.writer.flush();
  const Stream& stream = built.trace.streams.front();
  ASSERT_NE(std::string::npos, all_texts(stream.blocks()).find("/home/me"));

  const std::vector<wire::SharedBlock> blocks = stripped(stream);
  EXPECT_EQ(std::string::npos, all_texts(blocks).find("home")) << all_texts(blocks);
  Stream again;
  for (const wire::SharedBlock& block : blocks) ASSERT_EQ(std::nullopt, again.append(block));
  EXPECT_EQ(std::string::npos, all_texts(blocks).find("hunter2"));
  EXPECT_EQ(std::string::npos, all_texts(blocks).find("alice"));
  EXPECT_EQ("python …/train.py …", again.definitions().job_fact("command"));
  EXPECT_EQ("--xla_dump_to=… --xla_gpu_autotune_level=2 --hosts=…", again.definitions().job_fact("variable.XLA_FLAGS"));
  EXPECT_EQ("a/b|c", again.definitions().job_fact("hbmscope.drop_frames"));
  EXPECT_EQ("fits: 2 GiB\nHow: hbmscope open …/train.programs\n",
            again.definitions().job_fact("hbmscope.dry_run.verdict"));
  for (const char* kept : {"f(lambda at …/x.cpp:12)", "tag at …/x.py", "mark at …/x.py", "reason at …/x.py",
                           "call at …/x.py", "attribute at …/x.py"})
    EXPECT_NE(std::string::npos, all_texts(blocks).find(kept)) << kept;
  EXPECT_EQ("…/late.py",
            again.definitions().text(again.definitions().frame(again.definitions().frame_count() - 1).file));
  EXPECT_EQ(0U, again.definitions().bad_definitions() + again.definitions().missing_definitions());
  EXPECT_EQ(0U, again.counts().missing_blocks);
  EXPECT_EQ(stream.counts().total, again.counts().total);
  for (std::uint64_t position = 0; position <= stream.end_position(); position += 37) {
    const StreamState before = stream.state_at(position), after = again.state_at(position);
    ASSERT_EQ(before.time_ns(), after.time_ns());
    ASSERT_EQ(before.slots().size(), after.slots().size());
    for (std::size_t slot = 0; slot < before.slots().size(); ++slot) {
      ASSERT_EQ(before.slots()[slot].event, after.slots()[slot].event);
      ASSERT_EQ(before.slots()[slot].stack, after.slots()[slot].stack);
      ASSERT_EQ(before.slots()[slot].address, after.slots()[slot].address);
    }
  }
  // A stripped trace stays unchanged to the byte.
  const std::vector<wire::SharedBlock> twice = stripped(again);
  ASSERT_EQ(blocks.size(), twice.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(blocks[i]->payload, twice[i]->payload);
}

template <class Record>
void add_filled(wire::BlockEncoder& encoder, std::vector<std::int64_t>& times) {
  Record record;
  std::memset(reinterpret_cast<void*>(&record), 0x21, sizeof(record));
  times.push_back(static_cast<std::int64_t>(times.size()) * 7);
  encoder.add(record, times.back());
}

template <class Record>
void expect_same(const wire::DecodedBlock& a, const wire::DecodedBlock& b) {
  ASSERT_EQ(1U, a.rows<Record>().size());
  ASSERT_EQ(1U, b.rows<Record>().size());
  EXPECT_EQ(0, std::memcmp(a.rows<Record>().data(), b.rows<Record>().data(), sizeof(Record)));
}

template <class... Records>
void check_all() {
  wire::BlockEncoder encoder;
  std::vector<std::int64_t> times;
  (add_filled<Records>(encoder, times), ...);
  wire::StringRecord path;
  path.id = 0x21212121;  // Every filled record refers to this as its file.
  encoder.add(path, 0, "/home/me/x.py");
  const auto block = std::make_shared<const wire::Block>(encoder.close());
  Stream stream;
  ASSERT_EQ(std::nullopt, stream.append(block));
  const std::vector<wire::SharedBlock> blocks = stripped(stream);
  wire::BlockDecoder decoder;
  wire::DecodedBlock before, after;
  ASSERT_EQ(std::nullopt, decoder.decode(*block, before));
  ASSERT_EQ(std::nullopt, decoder.decode(*blocks.at(0), after));
  EXPECT_EQ("…/x.py", after.text(0));
  EXPECT_TRUE(std::equal(before.kinds().begin(), before.kinds().end(), after.kinds().begin(), after.kinds().end()));
  EXPECT_TRUE(
      std::equal(before.times_ns().begin(), before.times_ns().end(), after.times_ns().begin(), after.times_ns().end()));
  (expect_same<Records>(before, after), ...);
}

TEST(StripPaths, records_of_every_kind_are_copied_whole) {
  using namespace wire;
  check_all<FrameRecord, StackRecord, ModuleRecord, HeapRecord, JobRecord, ClockRecord, CodeRecord, LiveRecord,
            ListingRecord, RegionLiveRecord, FreeSlotRecord, AllocRecord, FreeRecord, FreeRequestedRecord, FreeAtRecord,
            FreeRequestedAtRecord, MoveRecord, AttributeRecord, RegionGrowRecord, RegionShrinkRecord, HeapGoneRecord,
            PhysicalCreateRecord, PhysicalImportRecord, PhysicalExportRecord, PhysicalReleaseRecord, ReserveRecord,
            UnreserveRecord, MapRecord, UnmapRecord, DriverRefusalRecord, OutOfMemoryRecord, MarkerRecord,
            CounterRecord, LossRecord>();
}

TEST(StripPaths, stops_where_requested) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (std::uint64_t i = 0; i < 5; ++i) {
    built.alloc(heap, 0x1000 * i, 1, built.stack("f" + std::to_string(i)));
    built.writer.flush();
  }
  int visits = 0;
  EXPECT_TRUE(
      for_each_stripped_block(built.trace.streams[0], nullptr, [&](const wire::SharedBlock&) { return ++visits < 2; }));
  EXPECT_EQ(2, visits);
  PassControl control;
  control.cancelled = true;
  EXPECT_TRUE(for_each_stripped_block(built.trace.streams[0], &control, [&](const wire::SharedBlock&) {
    ADD_FAILURE();
    return true;
  }));
}

}  // namespace
}  // namespace hbmscope
