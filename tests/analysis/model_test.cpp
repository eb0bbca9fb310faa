#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/model/device_name.h"
#include "analysis/model/import_statistics.h"
#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/model/string_table.h"

namespace hbmscope {
namespace {

TEST(DeviceName, of_each_back_end) {
  const DeviceName tpu = parse_device_name("TPU_3(process=1,(1,0,0,1))");
  EXPECT_EQ(tpu.kind, "TPU");
  EXPECT_EQ(tpu.id, 3);
  EXPECT_EQ(tpu.process, 1);
  EXPECT_EQ(tpu.coordinates, "1,0,0,1");
  EXPECT_EQ(tpu.short_text(), "TPU 3 (process 1)");
  const DeviceName gpu = parse_device_name("NVIDIA A100-SXM4-40GB_0(process=0,(0,))");
  EXPECT_EQ(gpu.kind, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(gpu.coordinates, "0");
  EXPECT_EQ(gpu.short_text(), "NVIDIA A100-SXM4-40GB 0");
  EXPECT_EQ(parse_device_name("gpu:0").id, 0);
  EXPECT_EQ(parse_device_name("GPU 10").id, 10) << "as traces have it";
  EXPECT_EQ(parse_device_name("GPU 1 (rank 3)").id, 1);
  EXPECT_EQ(parse_device_name("GPU 1 (rank 3)").short_text(), "GPU 1 (rank 3)");
  EXPECT_EQ(parse_device_name("GPU 1 private pool (0, 1)").id, std::nullopt);
  EXPECT_EQ(parse_device_name("NVIDIA GeForce RTX 4090").id, std::nullopt) << "a model's number is none";
  EXPECT_EQ(parse_device_name("TFRT_CPU_12").kind, "TFRT_CPU");
  EXPECT_EQ(parse_device_name("TFRT_CPU_12").id, 12);
  EXPECT_EQ(parse_device_name("cuda(id=4,host=gpu17)").host, "gpu17");
  EXPECT_EQ(parse_device_name("cuda(id=4,host=gpu17)").id, 4);
}

TEST(DeviceName, a_silent_source_is_its_own_kind) {
  for (const char* text :
       {"", "banana", "_", "_3", "(process=0)", "TPU_", "a(b", "TPU_99999999999999999999", "((((", "),("}) {
    const DeviceName name = parse_device_name(text);
    EXPECT_EQ(name.text, text);
    EXPECT_TRUE(name.id || name.short_text() == text) << text;
  }
  EXPECT_EQ(parse_device_name("(process=0)").kind, "(process=0)");
  EXPECT_EQ(parse_device_name("banana").kind, "banana");
}

TEST(DeviceName, numbers_are_ordered_as_numbers) {
  struct Named {
    std::optional<std::string> name;
    int number;
  };
  std::vector<Named> rows = {{"TPU_10", 0}, {"TPU_2", 1}, {"TPU_1(process=1)", 2}, {"CPU_3", 3}, {"TPU_2", 4}};
  sort_by_device(rows);
  std::string order;
  for (const Named& named : rows) order += std::to_string(named.number);
  EXPECT_EQ(order, "31402") << "the same name in the order given";
}

TEST(StringTable, text_0_is_empty_and_equal_texts_are_one) {
  StringTable table;
  EXPECT_EQ(table.text(StringId::empty), "");
  EXPECT_EQ(table.intern(""), StringId::empty);
  const StringId adam = table.intern("adam");
  EXPECT_EQ(table.intern("adam"), adam);
  EXPECT_EQ(table.text(adam), "adam");
  EXPECT_EQ(table.find("adam"), adam);
  EXPECT_EQ(table.find("eve"), StringId::empty);
}

TEST(StringTable, interns_among_texts_that_were_appended) {
  StringTable table;
  const StringId first = table.append("x");
  table.append("x");
  EXPECT_EQ(table.intern("x"), first);
  const StringId later = table.append("y");
  EXPECT_EQ(table.intern("y"), later) << "also those appended after the hash table was made";
}

TEST(StringTable, grows) {
  StringTable table;
  std::vector<StringId> ids;
  ids.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) ids.push_back(table.intern("text " + std::to_string(i)));
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(table.intern("text " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    ASSERT_EQ(table.text(ids[static_cast<std::size_t>(i)]), "text " + std::to_string(i));
  }
  EXPECT_EQ(table.size(), 20'001U);
}

TEST(StringTable, texts_may_hold_any_byte) {
  StringTable table;
  const std::string zero("a\0b", 3);
  EXPECT_EQ(table.text(table.intern(zero)), zero);
  EXPECT_NE(table.intern(zero), table.intern("a"));
}

TEST(ImportStatistics, a_name_is_one_row_with_its_first_example) {
  ImportStatistics import;
  EXPECT_EQ(import.worst(), Severity::info);
  import.add("missing_location", Severity::warning, 1, "Do this.", "location 17");
  import.add("missing_location", Severity::warning, 2, "Do that.", "location 18");
  import.add("samples", Severity::info, 5);
  ASSERT_EQ(import.rows().size(), 2U);
  EXPECT_EQ(import.rows()[0].count, 3);
  EXPECT_EQ(import.rows()[0].example, "location 17");
  EXPECT_EQ(import.count_of("samples"), 5);
  EXPECT_EQ(import.count_of("nothing"), 0);
  EXPECT_EQ(import.worst(), Severity::warning);
}

TEST(Error, says_where_in_a_file_or_in_what_was_typed) {
  EXPECT_EQ((Error{"text 17 of 12 does not exist", "Was it cut off?", "a.prof", 8120, true}).text(),
            "a.prof: byte 8,120 (after inflating): text 17 of 12 does not exist. Was it cut off?");
  EXPECT_EQ((Error{"a condition is missing here", "", "", 5, false}).text(),
            "character 6: a condition is missing here.");
}

Profile profile_of(const std::vector<std::pair<std::string, std::string>>& types) {
  Profile profile;
  for (const auto& [type, unit] : types)
    profile.value_types.push_back({profile.strings.intern(type), profile.strings.intern(unit)});
  return profile;
}

TEST(MemoryValues, of_jax_go_and_others) {
  const Profile jax = profile_of({{"allocations", "count"}, {"space", "bytes"}});
  EXPECT_EQ(find_memory_values(jax).bytes, 1U);
  EXPECT_EQ(find_memory_values(jax).count, 0U);
  EXPECT_TRUE(is_device_memory_profile(jax));
  Profile go = profile_of(
      {{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}});
  EXPECT_EQ(find_memory_values(go).bytes, 3U) << "the last one, as pprof";
  EXPECT_EQ(find_memory_values(go).count, 2U);
  EXPECT_EQ(find_memory_values(go, "alloc_space").count, 0U);
  EXPECT_EQ(find_memory_values(go, "alloc").bytes, 1U);
  EXPECT_EQ(find_value_type(go, "inuse"), 2U);
  EXPECT_EQ(find_value_type(go, "inuse_space"), 3U);
  EXPECT_EQ(find_value_type(go, "space"), std::nullopt);
  EXPECT_EQ(find_value_type(jax, ""), std::nullopt);
  go.default_value_type = 1;
  EXPECT_EQ(find_memory_values(go).primary, 1U);
  const Profile cpu = profile_of({{"samples", "count"}, {"cpu", "nanoseconds"}});
  EXPECT_EQ(find_memory_values(cpu).primary, 1U);
  EXPECT_EQ(find_memory_values(cpu).bytes, std::nullopt);
  EXPECT_EQ(find_memory_values(Profile{}).count, std::nullopt);
}

}  // namespace
}  // namespace hbmscope
