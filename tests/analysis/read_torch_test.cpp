// Unusual snapshots and their oddities. tests/torch compares every value of ordinary ones with Python's own pickle.
#include "analysis/read/torch/read_torch.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <libdeflate.h>

#include "tests/analysis/torch_by_hand.h"

namespace hbmscope {
namespace {

TEST(Torch, the_oldest_schema_is_a_bare_list_with_history_in_its_blocks) {
  const std::string newest = dict({{"addr", integer(0x1000)},
                                   {"real_size", integer(300)},
                                   {"frames", list({frame("inner", 3), frame("outer", 9)})}});
  const std::string older = dict({{"real_size", integer(100)}});
  const auto snapshot = read(pickle_of(list({segment(
      {dict({{"size", integer(512)}, {"state", text("active_awaiting_free")}, {"history", list({newest, older})}}),
       block()})})));
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
  EXPECT_FALSE(snapshot->has_traces);
  EXPECT_EQ(snapshot->blocks.address, (std::vector<std::uint64_t>{0x1000, 0x1200})) << "summed up from the segment";
  EXPECT_EQ(snapshot->blocks.requested_bytes, (std::vector<std::int64_t>{300, absent_bytes}));
  EXPECT_EQ(snapshot->blocks.state[0], TorchBlockState::active_pending_free);
  EXPECT_EQ(snapshot->segments.allocated_bytes[0], absent_bytes);
  const auto frames = snapshot->stack_frames(snapshot->blocks.stack[0]);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(snapshot->text(frames[0].function), "inner");
  EXPECT_EQ(frames[1].line, 9);
  EXPECT_EQ(snapshot->import.worst(), Severity::info);
}

TEST(Torch, addresses_keep_their_64_bits_however_python_wrote_them) {
  const std::uint64_t high = 0xffff800000001000;
  const auto snapshot =
      read(snapshot_of({segment({block()}, {{"address", word64(high)}}), segment({}, {{"address", integer(-4096)}})},
                       {entry({{"addr", word64(high)}}), entry({{"addr", integer(static_cast<std::int64_t>(high))}})}));
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->segments.address, (std::vector<std::uint64_t>{high, 0xfffffffffffff000}));
  EXPECT_EQ(snapshot->blocks.address[0], high);
  EXPECT_EQ(snapshot->traces[0].address, (std::vector<std::uint64_t>{high, high}));
  EXPECT_EQ(snapshot->import.worst(), Severity::info);
}

TEST(Torch, entries_say_what_they_are_and_unknown_ones_are_kept_with_their_word) {
  const auto snapshot = read(snapshot_of(
      {}, {entry({{"time_us", integer(17)}, {"stream", integer(5)}}), entry({{"action", text("user_defined")}}),
           dict({{"action", text("oom")}, {"device_free", integer(1 << 20)}, {"size", integer(1 << 30)}}),
           dict({{"action", text("oom")}, {"size", integer(1)}}), dict({{"size", integer(1)}})}));
  ASSERT_TRUE(snapshot.has_value());
  const TorchTrace& trace = snapshot->traces[0];
  EXPECT_EQ(trace.action, (std::vector<TorchAction>{TorchAction::alloc, TorchAction::unknown, TorchAction::oom,
                                                    TorchAction::oom, TorchAction::unknown}));
  EXPECT_EQ(trace.time_us[0], 17);
  EXPECT_EQ(trace.time_us[1], absent_time);
  ASSERT_EQ(trace.out_of_memory.size(), 2U);
  EXPECT_EQ(trace.out_of_memory[0].entry, 2U);
  EXPECT_EQ(trace.out_of_memory[0].device_free_bytes, 1 << 20);
  EXPECT_EQ(trace.out_of_memory[1].device_free_bytes, absent_bytes);
  ASSERT_EQ(trace.other_actions.size(), 2U);
  EXPECT_EQ(snapshot->text(trace.other_actions[0].action), "user_defined");
  expect_counted(*snapshot, "unknown_action", 2, Severity::warning);
  expect_counted(*snapshot, "missing_address", 1, Severity::warning);
}

TEST(Torch, odd_numbers_are_counted_and_never_fatal) {
  const std::string nan = "G\x7f\xf8\x00\x00\x00\x00\x00\x00"s, half = "G\x3f\xe0\x00\x00\x00\x00\x00\x00"s;
  const auto snapshot = read(snapshot_of(
      {segment({block({{"size", integer(-1)}}), block({{"size", word64(~std::uint64_t{0})}}),
                block({{"requested_size", integer(std::int64_t{1} << 48)}}), block({{"size", text("many")}})}),
       segment({}, {{"device", integer(std::int64_t{1} << 40)}})},
      {entry({{"addr", text("0x7f")}}), entry({{"time_us", nan}}), entry({{"stream", half}}),
       entry({{"size", "\x8a\x0a" + std::string(10, 'x')}}), entry({{"addr", "N"}, {"stream", "N"}})}));
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
  EXPECT_EQ(snapshot->blocks.size_bytes, (std::vector<std::int64_t>{0, 0, 512, 0}));
  EXPECT_EQ(snapshot->blocks.requested_bytes[2], absent_bytes);
  EXPECT_EQ(snapshot->traces[0].time_us[1], absent_time);
  expect_counted(*snapshot, "odd_sizes", 5, Severity::loss);
  expect_counted(*snapshot, "odd_numbers", 4, Severity::warning);
  expect_counted(*snapshot, "segment_sum", 1, Severity::warning);
}

TEST(Torch, what_is_no_record_is_left_out_and_counted) {
  const auto snapshot = read(pickle_of(
      dict({{"segments", list({"N", segment({"N", block()}), segment({}, {{"blocks", "N"}, {"frames", text("no")}})})},
            {"device_traces", list({"N", list({integer(1), entry({{"frames", list({"N", frame("f", 1)})}})})})},
            {"external_annotations", list({"N", dict({{"name", text("step")}})})}})));
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
  EXPECT_EQ(snapshot->segments.size(), 2U);
  EXPECT_EQ(snapshot->segments.block_begin, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(snapshot->traces.size(), 2U);
  EXPECT_EQ(snapshot->traces[1].device, 1);
  EXPECT_EQ(snapshot->stack_frames(snapshot->traces[1].stack[0]).size(), 1U);
  for (const char* name : {"odd_segments", "odd_blocks", "odd_traces", "odd_entries"})
    expect_counted(*snapshot, name, 1, Severity::loss);
  for (const char* name : {"odd_frames", "odd_annotations"}) expect_counted(*snapshot, name, 1, Severity::warning);
}

TEST(Torch, fields_of_the_future_are_named) {
  const auto snapshot = read(snapshot_of({segment({block({{"colour", integer(1)}})})}, {entry({{"fx_node", "N"}})}));
  expect_counted(*snapshot, "unknown_fields", 1, Severity::notice);
  EXPECT_EQ(snapshot->import.rows()[0].example, "colour");
}

TEST(Torch, shared_lists_of_frames_are_one_stack_and_equal_ones_too) {
  const std::string shared = list({frame("inner", 1), frame("outer", 2)});
  const auto snapshot = read(
      snapshot_of({}, {entry({{"frames", shared + "q\x05"}}), entry({{"frames", "h\x05"}}), entry({{"frames", shared}}),
                       entry({{"frames", list({frame("other", 1), frame("outer", 2)})}}), entry({{"frames", "]"}})}));
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
  const auto& stack = snapshot->traces[0].stack;
  EXPECT_EQ(stack[0], stack[1]);
  EXPECT_EQ(stack[0], stack[2]);
  EXPECT_NE(stack[0], stack[3]);
  EXPECT_EQ(stack[4], TorchStackId::none);
  EXPECT_EQ(snapshot->stacks.frames.size(), 3U);
  EXPECT_EQ(snapshot->stacks.caller.size(), 4U) << "nothing, outer, inner, other";
  for (std::size_t i = 1; i < snapshot->stacks.caller.size(); ++i) EXPECT_LT(row(snapshot->stacks.caller[i]), i);
}

TEST(Torch, endless_stacks_are_cut_at_their_outer_end) {
  std::vector<std::string> frames(5'000, frame("deep", 1));
  frames[0] = frame("innermost", 7);
  const auto snapshot = read(snapshot_of({}, {entry({{"frames", list(frames)}})}));
  const auto kept = snapshot->stack_frames(snapshot->traces[0].stack[0]);
  EXPECT_EQ(kept.size(), TorchStacks::stack_frames_max);
  EXPECT_EQ(snapshot->text(kept[0].function), "innermost");
  expect_counted(*snapshot, "cut_stacks", 1, Severity::notice);
}

TEST(Torch, pickles_that_hold_themselves_end) {
  // The list of segments is a segment's list of blocks, and the stack of a segment is a list of itself.
  EXPECT_TRUE(
      read(pickle_of("}(" + text("segments") + "]q\x01(" + segment({}, {{"blocks", "h\x01"}, {"frames", "h\x01"}}) +
                     "e" + text("device_traces") + "h\x01u")));
  EXPECT_TRUE(read(pickle_of("]q\x01h\x01"
                             "a"))
                  .error()
                  .what.find("not a memory snapshot") != std::string::npos);
  // Settings that hold themselves twice at every level are 2^depth rows.
  const auto snapshot = read(pickle_of("}(" + text("segments") + "]" + text("allocator_settings") + "}q\x01(" +
                                       text("a") + "h\x01" + text("b") + "h\x01uu"));
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
  EXPECT_LE(snapshot->settings.size(), 4'096U);
}

TEST(Torch, one_record_listed_again_and_again_is_no_way_to_fill_the_memory) {
  std::string again;
  for (int i = 0; i < 10'000; ++i) again += "h\x01";
  const std::string blocks = "](" + block() + "q\x01" + again + "eq\x02";
  std::string segments = segment({}, {{"blocks", blocks}}) + "q\x03";
  for (int i = 0; i < 10'000; ++i) segments += "h\x03";
  expect_error(pickle_of(dict({{"segments", "](" + segments + "e"}})), "again and again");
}

TEST(Torch, settings_are_flat_texts_as_python_prints_them) {
  const std::string half = "G\x3f\xe0\x00\x00\x00\x00\x00\x00"s, zero = "G" + std::string(8, '\0');
  const auto snapshot = read(pickle_of(dict({{"segments", "]"},
                                             {"allocator_settings", dict({{"conf", text("a:b")},
                                                                          {"ratio", half},
                                                                          {"zero", zero},
                                                                          {"on", "\x88"},
                                                                          {"no", "N"},
                                                                          {"size", integer(-1)},
                                                                          {"division", dict({{"256", integer(4)}})},
                                                                          {"list", list({"N", "N"})}})}})));
  std::string all;
  for (const TorchSetting& setting : snapshot->settings)
    all += std::string(snapshot->text(setting.key)) + "=" + std::string(snapshot->text(setting.value)) + ";";
  EXPECT_EQ(all, "conf=a:b;ratio=0.5;zero=0.0;on=True;no=None;size=-1;division.256=4;list=<list of 2>;");
}

TEST(Torch, a_snapshot_cut_at_any_byte_is_an_error) {
  const std::string whole = snapshot_of({segment({block(), block()})}, {entry({{"frames", list({frame("f", 1)})}})});
  ASSERT_TRUE(read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = read(whole.substr(0, size));
    ASSERT_FALSE(cut.has_value()) << size;
    EXPECT_FALSE(cut.error().remedy.empty());
    EXPECT_LE(cut.error().offset.value_or(0), size);
  }
}

TEST(Torch, flipped_bits_never_crash) {
  const std::string whole = snapshot_of({segment({block(), block()})}, {entry({{"frames", list({frame("f", 1)})}})});
  int accepted = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto snapshot = read(damaged);
    accepted += snapshot.has_value();
    if (!snapshot) {
      EXPECT_FALSE(snapshot.error().remedy.empty()) << snapshot.error().text();
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Torch, empty_records_are_records) {
  const auto snapshot = read(pickle_of("}(" + text("segments") + "](}}e" + text("allocator_settings") + "}u"));
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->segments.size(), 2U);
  EXPECT_TRUE(read(pickle_of("}")).error().what.find("an empty dict") != std::string::npos);
}

TEST(Torch, other_files_are_named) {
  expect_error("", "empty");
  expect_error("RESOURCE_EXHAUSTED: Out of memory", "plain text");
  expect_error("{\"cells\": []}", "JSON");
  expect_error(
      "\x7f"
      "ELF",
      "a program");
  expect_error("\x01\x02\x03", "not a PyTorch memory snapshot");
  expect_error(pickle_of(dict({{"state_dict", "N"}, {"epoch", integer(3)}})), "a dict with state_dict, epoch");
  expect_error(pickle_of(integer(12)), "it has 12");
  expect_error(pickle_of(list({dict({{"loss", "N"}}), "N"})), "it has <list of 2>");
  expect_error(pickle_of("cos\nsystem\n"), "wants to run code: opcode GLOBAL (os.system) at byte 2");
  expect_error("\x80\x02K", "ends too early");
}

TEST(Torch, knows_pickles_and_archives_by_their_first_bytes) {
  EXPECT_TRUE(looks_like_torch(bytes_of("\x80\x04N.")));
  EXPECT_TRUE(looks_like_torch(bytes_of("PK\x03\x04")));
  EXPECT_FALSE(looks_like_torch(bytes_of("\x1f\x8b")));
  EXPECT_FALSE(looks_like_torch({}));
}

// A zip archive of entries that are stored, or deflated if they say so.
struct ZipFile {
  std::string name, content;
  bool deflate = false;
  std::uint32_t flags = 0, claimed_bytes = 0;  // 0: the truth.
};
std::string zip_of(const std::vector<ZipFile>& files) {
  std::string archive, directory;
  for (const ZipFile& file : files) {
    std::string packed = file.content;
    if (file.deflate) {
      libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
      packed.resize(libdeflate_deflate_compress_bound(compressor, packed.size()));
      packed.resize(libdeflate_deflate_compress(compressor, file.content.data(), file.content.size(), packed.data(),
                                                packed.size()));
      libdeflate_free_compressor(compressor);
    }
    const std::uint64_t size = file.claimed_bytes == 0 ? file.content.size() : file.claimed_bytes;
    const std::string rest = little_endian(20, 2) + little_endian(file.flags, 2) +
                             little_endian(file.deflate ? 8 : 0, 2) + little_endian(0, 4) +
                             little_endian(libdeflate_crc32(0, file.content.data(), file.content.size()), 4) +
                             little_endian(packed.size(), 4) + little_endian(size, 4) +
                             little_endian(file.name.size(), 2) + little_endian(0, 2);
    directory.append("PK\x01\x02").append(little_endian(20, 2)).append(rest).append(10, '\0');
    directory.append(little_endian(archive.size(), 4)).append(file.name);
    archive.append("PK\x03\x04").append(rest).append(file.name).append(packed);
  }
  return archive + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(files.size(), 2) +
         little_endian(files.size(), 2) + little_endian(directory.size(), 4) + little_endian(archive.size(), 4) +
         little_endian(0, 2);
}

TEST(TorchZip, finds_the_pickle_of_torch_save_and_of_an_upload) {
  const std::string whole = snapshot_of({segment({block()})});
  for (const bool deflate : {false, true}) {
    EXPECT_EQ(read(zip_of({{"a/data.pkl", whole, deflate}, {"a/version", "3\n"}}))->segments.size(), 1U);
    EXPECT_EQ(read(zip_of({{"snapshot.pickle", whole, deflate}, {"__MACOSX/._snapshot.pickle", "x"}}))->blocks.size(),
              1U);
  }
  expect_error(zip_of({{"a/data/0", "x"}}), "its only file is no pickle");
  expect_error(zip_of({{"a.pickle", whole}, {"b.pickle", whole}}), "2 pickles");
}

TEST(TorchZip, offsets_count_from_the_beginning_of_a_stored_archive) {
  const std::string archive = zip_of({{"a/data.pkl", pickle_of("cos\nsystem\n")}});
  EXPECT_EQ(read(archive).error().offset, archive.find("cos\n"));
  EXPECT_FALSE(read(archive).error().inflated);
  const auto inflated = read(zip_of({{"a/data.pkl", pickle_of("cos\nsystem\n"), true}}));
  EXPECT_EQ(inflated.error().offset, 2U);
  EXPECT_TRUE(inflated.error().inflated);
}

TEST(TorchZip, bombs_lies_and_locks_are_refused) {
  TorchReadOptions small;
  small.max_inflated_bytes = 1 << 16;
  expect_error(zip_of({{"data.pkl", std::string(1 << 20, 'N'), true}}), "64.0 KiB, the limit", small);
  expect_error(zip_of({{"data.pkl", "x", true, 0, 0x7fffffff}}), "claims more than it can contain");
  expect_error(zip_of({{"data.pkl", "x", true, 0, 50}}), "can't be inflated");
  expect_error(zip_of({{"data.pkl", "x", false, 1}}), "encrypted");
}

TEST(TorchZip, an_archive_cut_or_damaged_anywhere_never_crashes) {
  const std::string whole = zip_of({{"a/data.pkl", snapshot_of({segment({block()})}), true}, {"a/version", "3"}});
  for (std::size_t size = 1; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size)).has_value()) << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    if (const auto snapshot = read(damaged); !snapshot) {
      EXPECT_FALSE(snapshot.error().remedy.empty());
    }
  }
}

TEST(ReadTorch, the_state_of_a_large_snapshot_is_there_before_its_history) {
  const std::string bytes =
      large_snapshot({segment({block(), block({{"frames", list({frame("f", 7)})}})}), segment({block()})});
  const auto state = read_torch_state(bytes_of(bytes), "a.pickle");
  ASSERT_TRUE(state);
  const auto whole = read(bytes);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(state->has_traces);
  EXPECT_TRUE(whole->has_traces);
  EXPECT_EQ(whole->segments.size(), state->segments.size());
  EXPECT_EQ(whole->blocks.size(), state->blocks.size());
  EXPECT_EQ(whole->stacks.frames.size(), state->stacks.frames.size());
  EXPECT_EQ(whole->file_bytes, state->file_bytes);
  // As Python's own pickler writes it: one frame around everything.
  const std::string framed = "\x80\x04\x95" + little_endian(bytes.size() - 2, 8) + bytes.substr(2);
  const auto state_of_framed = read_torch_state(bytes_of(framed), "a.pickle");
  ASSERT_TRUE(state_of_framed);
  EXPECT_EQ(whole->blocks.size(), state_of_framed->blocks.size());
}

TEST(ReadTorch, what_has_no_state_in_front_of_its_history_has_none_to_show) {
  EXPECT_FALSE(read_torch_state(bytes_of(snapshot_of({segment({block()})})), "small"));
  EXPECT_FALSE(read_torch_state(bytes_of(large_snapshot({})), "no segments"));
  const std::string bytes = large_snapshot({segment({block()})});
  EXPECT_FALSE(read_torch_state(bytes_of("\x80\x04N." + bytes), "another pickle in front"));
  const std::size_t begin = bytes.find("device_traces") - 5;  // The key's opcode and length.
  EXPECT_FALSE(read_torch_state(bytes_of("\x80\x04}(" + bytes.substr(begin)), "the history comes first"));
  std::string damaged = bytes;
  damaged[6] = '\xff';
  EXPECT_FALSE(read_torch_state(bytes_of(damaged), "damaged"));
}

}  // namespace
}  // namespace hbmscope
