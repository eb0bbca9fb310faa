#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/analysis/torch_by_hand.h"

namespace hbmscope {
namespace {

// Entries are taken while the pickle is read, so lists that come otherwise than PyTorch writes them are a matter of
// their own. What each file says is clear without that.
std::vector<std::uint64_t> addresses(const Result<TorchSnapshot>& snapshot, std::size_t device) {
  if (!snapshot) return {};
  return snapshot->traces.size() > device ? snapshot->traces[device].address : std::vector<std::uint64_t>();
}
using Addresses = std::vector<std::uint64_t>;
std::string entry_at(std::int64_t address) {
  return entry({{"addr", integer(address)}});  // The key comes twice; the later one holds.
}
std::string with_traces(const std::string& traces, const Fields& more = {}) {
  Fields fields = {{"segments", list({})}, {"device_traces", traces}};
  fields.insert(fields.end(), more.begin(), more.end());
  return pickle_of(dict(fields));
}
const std::string memoized = "\x94", first_memoized = "h\0"s;

TEST(TorchEntries, come_in_batches_one_by_one_and_for_several_devices) {
  const std::string batches = "](" + entry_at(1) + entry_at(2) + "e(" + entry_at(3) + "e" + entry_at(4) + "a";
  const auto snapshot = read(with_traces("](" + batches + "]" + "]" + entry_at(5) + "a" + batches + "e"));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  ASSERT_EQ(snapshot->traces.size(), 4U);
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 2, 3, 4}));
  EXPECT_EQ(addresses(snapshot, 1), Addresses());
  EXPECT_EQ(addresses(snapshot, 2), (Addresses{5}));
  EXPECT_EQ(addresses(snapshot, 3), (Addresses{1, 2, 3, 4}));
  for (std::int32_t device = 0; device < 4; ++device)
    EXPECT_EQ(snapshot->traces[static_cast<std::size_t>(device)].device, device);
}

TEST(TorchEntries, may_be_met_again_in_their_batch_in_a_later_one_and_elsewhere) {
  const std::string known = "]](" + entry_at(9) + "e";  // From here on entries take no memory.
  EXPECT_EQ(addresses(read(with_traces(known + "(" + entry_at(1) + memoized + first_memoized + "ea")), 0),
            (Addresses{9, 1, 1}));
  const std::string later = "(" + entry_at(1) + memoized + "e(" + entry_at(2) + first_memoized + "ea";
  EXPECT_EQ(addresses(read(with_traces(known + later)), 0), (Addresses{9, 1, 2, 1}));
  const auto elsewhere = read(with_traces(known + "(" + entry_at(1) + memoized + entry_at(2) + "ea",
                                          {{"allocator_settings", dict({{"last", first_memoized}})}}));
  EXPECT_EQ(addresses(elsewhere, 0), (Addresses{9, 1, 2}));
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->settings.size(), 4U) << "its fields as settings";
  // Under a number that something else had before.
  const std::string put = "q\0"s;
  EXPECT_EQ(
      addresses(read(pickle_of("}(" + text("segments") + "]" + text("x") + text("y") + put + text("device_traces") +
                               known + "(" + entry_at(1) + put + "e(" + entry_at(2) + first_memoized + "eau")),
                0),
      (Addresses{9, 1, 2, 1}));
  expect_error(with_traces(known + "(" + entry_at(1) + memoized +
                           "e(h\x05"
                           "ea"),
               "5, which was never put there");
}

TEST(TorchEntries, that_several_opcodes_fill_or_that_are_none_are_in_their_place) {
  const std::string later = entry_at(7) + text("stream") + integer(9) + "s";
  const auto snapshot = read(with_traces(list({list({entry_at(1), later, integer(3), entry_at(2)})})));
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 7, 2}));
  EXPECT_EQ(snapshot->traces[0].stream[0], 0);
  EXPECT_EQ(snapshot->traces[0].stream[1], 9);
  EXPECT_EQ(snapshot->traces[0].stream[2], 0);
  expect_counted(*snapshot, "odd_entries", 1, Severity::loss);
}

TEST(TorchEntries, may_get_more_of_their_stacks_later) {
  const std::string frames = "]" + memoized + "(" + frame("f", 7) + "e";
  const std::string of_entry = entry({{"frames", frames}, {"addr", integer(1)}});
  const auto snapshot =
      read(with_traces(list({"](" + of_entry + "e" + "(" + entry_at(2) + "e"}),
                       {{"allocator_settings", dict({{"x", first_memoized + frame("g", 8) + "a"}})}}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 2}));
  EXPECT_EQ(snapshot->stack_frames(snapshot->traces[0].stack[0]).size(), 2U);
}

TEST(TorchEntries, have_pools_of_their_own_if_they_report_them) {
  const auto of_pool = [](std::int64_t address, const std::string& pool) {
    return entry({{"addr", integer(address)}, {"pool_id", pool}});
  };
  const std::string first = "K\0K\x01\x86"s, second = "K\x02K\x03\x86";
  const std::string batch = "(" + of_pool(1, first) + of_pool(2, second) + "e";
  const auto snapshot = read(with_traces("]]" + batch + batch + batch + "(" + entry_at(3) + "ea"));
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 2, 1, 2, 1, 2, 3}));
  const auto& pool = snapshot->traces[0].pool;
  EXPECT_EQ(pool[4], (TorchPoolId{0, 1, true}));
  EXPECT_EQ(pool[5], (TorchPoolId{2, 3, true}));
  EXPECT_EQ(pool[6], TorchPoolId());
  EXPECT_EQ(snapshot->import.count_of("unknown_fields"), 0);
}

TEST(TorchEntries, that_were_forgotten_may_have_stacks_that_are_tuples) {
  const auto in_tuple = [](const std::string& function) {
    return "(" + entry({{"addr", integer(1)}, {"frames", frame(function, 1) + "\x85"}}) + "e";
  };
  const auto snapshot = read(with_traces("]]" + in_tuple("a") + in_tuple("b") + in_tuple("c") + "a"));
  ASSERT_TRUE(snapshot);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto frames = snapshot->stack_frames(snapshot->traces[0].stack[i]);
    ASSERT_EQ(frames.size(), 1U) << i;
    EXPECT_EQ(snapshot->text(frames[0].function), std::string(1, static_cast<char>('a' + i)));
  }
}

TEST(TorchEntries, may_be_frames_of_one_another) {
  // Each third entry's stack is the entry before it: no frame's number may be another one's later.
  std::string batches;
  int number = 0;
  for (int batch = 0; batch < 6; ++batch) {
    batches += "(";
    for (int i = 0; i < 3; ++i, number += 2)
      batches += entry({{"name", text("f" + std::to_string(number))}, {"addr", integer(number)}}) + "r" +
                 little_endian(static_cast<std::uint64_t>(number), 4) +
                 entry({{"addr", integer(number + 1)},
                        {"frames", "j" + little_endian(static_cast<std::uint64_t>(number), 4) + "\x85"}});
    batches += "e";
  }
  const auto snapshot = read(with_traces("]]" + batches + "a"));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  ASSERT_EQ(snapshot->traces[0].size(), 36U);
  for (std::size_t i = 1; i < 36; i += 2) {
    const auto frames = snapshot->stack_frames(snapshot->traces[0].stack[i]);
    ASSERT_EQ(frames.size(), 1U) << i;
    EXPECT_EQ(snapshot->text(frames[0].function), "f" + std::to_string(i - 1));
  }
}

TEST(TorchEntries, may_wait_on_the_stack_and_come_again) {
  // A dict is below the entries, is one of them, and finally becomes a segment's only block.
  const std::string waiting = entry_at(7) + "q\x05";
  const std::string batch = "(" + entry_at(1) + "e";
  const auto snapshot = read(pickle_of("}(" + text("device_traces") + "]]" + batch + batch + "a" + text("segments") +
                                       "](" + waiting + "h\x05" + "eu"));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 1}));
  EXPECT_EQ(snapshot->segments.size(), 2U);
}

TEST(TorchEntries, may_hold_what_is_not_complete_yet) {
  // The list of entries as an entry's stack, and as its metadata; the outermost dict as a frame.
  const auto with = [](const Fields& more) {
    return pickle_of("}" + memoized + "(" + text("segments") + "]" + text("device_traces") + "]]" + memoized + "(" +
                     entry(more) + "eau");
  };
  const std::string the_list = "h\x01";
  const auto metadata = read(with({{"user_metadata", the_list}}));
  ASSERT_TRUE(metadata) << metadata.error().text();
  EXPECT_EQ(metadata->text(metadata->traces[0].user_metadata[0]), "<list of 1>");
  const auto stack = read(with({{"frames", the_list}}));
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->stack_frames(stack->traces[0].stack[0]).size(), 1U);
  const auto frame_of_all = read(pickle_of("}" + memoized + "(" + text("device_traces") + "]](" +
                                           entry({{"frames", list({first_memoized})}}) + "ea" + text("segments") + "]" +
                                           text("name") + text("all") + "u"));
  ASSERT_TRUE(frame_of_all);
  const auto frames = frame_of_all->stack_frames(frame_of_all->traces[0].stack[0]);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frame_of_all->text(frames[0].function), "all");
  // A frame that two opcodes fill.
  const std::string in_two = frame("f", 7) + text("more") + integer(1) + "s";
  const auto two = read(with({{"frames", list({in_two})}}));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->text(two->stack_frames(two->traces[0].stack[0])[0].function), "f");
}

TEST(TorchEntries, of_another_dict_or_of_a_key_that_comes_again_are_none) {
  const std::string of_another = pickle_of(
      dict({{"segments", list({})}, {"more", dict({{"device_traces", list({list({entry_at(1), entry_at(2)})})}})}}));
  const auto snapshot = read(of_another);
  ASSERT_TRUE(snapshot);
  EXPECT_FALSE(snapshot->has_traces);
  EXPECT_TRUE(snapshot->traces.empty());
  const std::string first = list({list({entry_at(1), entry_at(2)})}), second = list({list({entry_at(3)})});
  EXPECT_EQ(addresses(read(with_traces(first, {{"device_traces", second}})), 0), (Addresses{3}));
  EXPECT_EQ(addresses(read(with_traces(first, {{"other", dict({{"device_traces", second}})}})), 0), (Addresses{1, 2}));
}

TEST(TorchEntries, may_be_in_the_list_of_devices_itself) {
  const auto snapshot = read(with_traces("]" + memoized + first_memoized + "(" + entry_at(1) + "ea"));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->traces.size(), 2U) << "an entry, which is no list, and the list";
}

TEST(TorchEntries, of_one_list_may_be_of_two_devices) {
  const std::string list_of_two = "]" + memoized + "(" + entry_at(1) + entry_at(2) + "e";
  const auto snapshot = read(with_traces("](" + list_of_two + first_memoized + "e"));
  EXPECT_EQ(addresses(snapshot, 0), (Addresses{1, 2}));
  EXPECT_EQ(addresses(snapshot, 1), (Addresses{1, 2}));
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : name_(testing::TempDir() + "hbmscope_read_torch_test_" + std::to_string(getpid())) {
    std::ofstream(name_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::remove(name_.c_str()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// No value: it is not read in parts, or can't be opened.
std::optional<Result<TorchSnapshot>> read_large(const std::string& path, const TorchReadOptions& options = {}) {
  auto file = InputFile::open(path, std::uint64_t{1} << 32);
  return file ? read_large_torch(*file, options) : std::nullopt;
}

TEST(ReadTorch, a_large_file_is_read_in_parts_and_gives_the_same) {
  const std::string bytes = large_snapshot({segment({block({{"frames", list({frame("f", 7)})}})})});
  const TemporaryFile file(bytes);
  const auto pieces = read_large(file.name());
  ASSERT_TRUE(pieces && *pieces);
  const TorchSnapshot& snapshot = **pieces;
  const auto whole = read(bytes);
  ASSERT_TRUE(whole);
  ASSERT_EQ(snapshot.traces.size(), 1U);
  EXPECT_EQ(snapshot.traces[0].address, whole->traces[0].address);
  EXPECT_EQ(snapshot.traces[0].size_bytes, whole->traces[0].size_bytes);
  EXPECT_EQ(snapshot.traces[0].action, whole->traces[0].action);
  EXPECT_EQ(snapshot.blocks.address, whole->blocks.address);
  EXPECT_EQ(snapshot.stack_frames(snapshot.blocks.stack[0]).size(), 1U);
  EXPECT_EQ(snapshot.file_bytes, bytes.size());
  EXPECT_EQ(snapshot.import.rows().size(), whole->import.rows().size());
}

TEST(ReadTorch, what_is_small_packed_or_none_is_looked_at_as_a_whole) {
  const std::string bytes = large_snapshot({segment({block()})});
  EXPECT_FALSE(read_large(TemporaryFile(snapshot_of({segment({block()})})).name())) << "small";
  EXPECT_FALSE(read_large(TemporaryFile("PK\3\4" + bytes).name())) << "a zip";
  EXPECT_FALSE(read_large(TemporaryFile(std::string(std::size_t{9} << 20, 'x')).name())) << "a text";
  EXPECT_FALSE(read_large(testing::TempDir())) << "a folder";
  EXPECT_FALSE(read_large("/nowhere")) << "nothing";
  TorchReadOptions small;
  small.max_inflated_bytes = 1 << 20;
  EXPECT_FALSE(read_large(TemporaryFile(bytes).name(), small)) << "larger than is wanted";
  const auto cut = read_large(TemporaryFile(bytes.substr(0, bytes.size() - 100)).name());
  ASSERT_TRUE(cut);
  ASSERT_FALSE(*cut);
  EXPECT_EQ(cut->error().offset, read(bytes.substr(0, bytes.size() - 100)).error().offset);
}

}  // namespace
}  // namespace hbmscope
