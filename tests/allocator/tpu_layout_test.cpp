// Layouts of TPU arrays: texts, bytes and defaults. The recorded rows are what libtpu assigned, or what reports said.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "allocator/emulated/tpu/default_layout.h"
#include "tests/allocator/tpu_data.h"

namespace hbmscope::allocator::tpu {
namespace {

std::uint64_t bytes_of(std::string_view text) {
  const auto shape = parse_shape(text);
  if (!shape) {
    ADD_FAILURE() << text << ": " << shape.error().what;
    return 0;
  }
  EXPECT_EQ(text_from_shape(*shape), text);
  return compute_padded_bytes(*shape).value_or(0);
}

std::string default_text(std::string_view generation, std::string_view type, std::string_view dimensions,
                         SecondMinor mode = SecondMinor::as_compiled) {
  const auto sizes = parse_dimensions(dimensions);
  if (!sizes) return sizes.error().what;
  return text_from_shape(default_shape(*find_generation(generation), *find_element_type(type), *sizes, mode));
}

TEST(TpuLayout, only_the_first_tile_pads) {
  EXPECT_EQ(bytes_of("f32[129,1024]{1,0:T(8,128)}"), 136 * 1024 * 4);
  EXPECT_EQ(bytes_of("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}"), 5'242'880);
  EXPECT_EQ(bytes_of("bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}"), 1'638'400);
  EXPECT_EQ(bytes_of("f32[]{:T(128)}"), 512);
  EXPECT_EQ(bytes_of("f32[]"), 4);
  EXPECT_EQ(bytes_of("f32[3,5]{1,0}"), 60);
  EXPECT_EQ(bytes_of("f32[0,5]{1,0:T(8,128)}"), 0);
}

TEST(TpuLayout, element_bits_and_tail_alignment_count) {
  EXPECT_EQ(bytes_of("pred[64,512,2048]{2,1,0:T(8,128)E(32)}"), 268'435'456);
  EXPECT_EQ(bytes_of("s4[123,456]{1,0:T(2,128)E(4)}"), 124 * 512 / 2);
  EXPECT_EQ(bytes_of("s4[123,456]{1,0}"), 123 * 456);
  EXPECT_EQ(bytes_of("f32[3,100]{1,0:T(8)L(1024)S(1)}"), 4096);  // 3 x 104 = 312 elements.
}

TEST(TpuLayout, a_merged_dimension_is_one_with_the_next_minor_one) {
  EXPECT_EQ(bytes_of("f32[2,3,5]{2,1,0:T(*,8)}"), 2 * 16 * 4);  // 3 x 5 = 15 become 16.
  EXPECT_EQ(bytes_of("f32[2,3,5]{2,1,0:T(*,*,8)}"), 32 * 4);
  EXPECT_EQ(bytes_of("f32[2,3,5]{2,1,0:T(2,*,4)}"), 2 * 16 * 4);
}

TEST(TpuLayout, other_properties_are_kept) {
  for (const char* text : {"f32[4,8]{1,0:D(D,C)T(8,128)S(5)}", "f32[<=4,8]{1,0:T(8,128)}", "bf16[2]{0:S(1)SC(0:1,2)}",
                           "s32[7]{0:T(256)M(8)}", "c128[]{:T(128)}"})
    bytes_of(text);
}

TEST(TpuLayout, what_no_memory_holds_has_no_size) {
  const auto shape = parse_shape("f32[4611686018427387904,4611686018427387904]{1,0:T(8,128)}");
  ASSERT_TRUE(shape);
  EXPECT_FALSE(compute_padded_bytes(*shape));
  EXPECT_FALSE(compute_unpadded_bytes(*shape));
}

struct BadText {
  const char* text;
  std::size_t offset;
};

class TpuLayoutFault : public testing::TestWithParam<BadText> {};

TEST_P(TpuLayoutFault, says_where) {
  const auto shape = parse_shape(GetParam().text);
  ASSERT_FALSE(shape) << text_from_shape(*shape);
  EXPECT_EQ(shape.error().offset, GetParam().offset) << shape.error().what;
  EXPECT_FALSE(shape.error().what.empty());
}

INSTANTIATE_TEST_SUITE_P(All, TpuLayoutFault,
                         testing::Values(BadText{"", 0}, BadText{"f31[2]", 0}, BadText{"(f32[2])", 0},
                                         BadText{"f32", 3}, BadText{"f32[2", 5}, BadText{"f32[2,]", 6},
                                         BadText{"f32[-2]", 4}, BadText{"f32[2x3]", 5}, BadText{"f32[2,3]{1}", 10},
                                         BadText{"f32[2,3]{1,1}", 12}, BadText{"f32[2,3]{1,2}", 11},
                                         BadText{"f32[2,3]{1,0,0}", 13}, BadText{"f32[2]{0:}", 9},
                                         BadText{"f32[2]{0:T}", 10}, BadText{"f32[2]{0:T(8}", 12},
                                         BadText{"f32[2]{0:T(0)}", 11}, BadText{"f32[2]{0:T(8,*)}", 15},
                                         BadText{"f32[2]{0:S(1)T(8)}", 13}, BadText{"f32[2]{0:E(4)E(4)}", 13},
                                         BadText{"f32[2]{0:Q(4)}", 9}, BadText{"f32[2]{0} ", 9},
                                         BadText{"f32[99999999999999999999]", 4}, BadText{"f32[2]{0:S(70000)}", 11}));

TEST(TpuLayout, defaults_follow_the_compiler) {
  EXPECT_EQ(default_text("v5e", "bf16", "100x200"), "bf16[100,200]{0,1:T(8,128)(2,1)}");
  EXPECT_EQ(default_text("v5e", "f32", "1000x1"), "f32[1000,1]{0,1:T(1,128)}");
  EXPECT_EQ(default_text("v3", "f32", "1000x1"), "f32[1000,1]{0,1:T(2,128)}");
  EXPECT_EQ(default_text("v7x", "f32", "scalar"), "f32[]{:T(128)}");
  EXPECT_EQ(default_text("v4", "s8", "64x256"), "s8[64,256]{1,0:T(32,128)(4,1)}");
  EXPECT_EQ(default_text("v4", "s8", "64x256", SecondMinor::compact), "s8[64,256]{1,0:T(8,128)(4,1)}");
  EXPECT_EQ(default_text("tpu7x", "bf16", "64x256", SecondMinor::large), "bf16[64,256]{1,0:T(16,128)(2,1)}");
  EXPECT_EQ(default_text("tpu7x", "bf16", "3x256", SecondMinor::large), "bf16[3,256]{1,0:T(4,128)(2,1)}");
  EXPECT_EQ(default_text("v6e", "u2", "16x1x1x1"), "u2[16,1,1,1]{0,3,2,1:T(16,128)(16,1)E(2)}");
  EXPECT_EQ(default_text("v2", "s2", "2047"), "s2[2047]{0:T(2048)(128)(4,1)}");
}

TEST(TpuLayout, the_default_takes_the_fewest_bytes_of_all_orders) {
  std::mt19937_64 random(7);
  const Generation& v5e = *find_generation("v5e");
  for (int trial = 0; trial < 2000; ++trial) {
    const ElementType& type = all_element_types()[random() % all_element_types().size()];
    if (type.bits <= 2) continue;  // Their dimensions are chosen with other tiles than the final ones.
    std::vector<Dimension> dimensions(2 + random() % 3);
    for (Dimension& dimension : dimensions) dimension.size = 1 + random() % (random() % 2 == 0 ? 5 : 300);
    const Shape chosen = default_shape(v5e, type, dimensions);
    std::uint64_t least = ~std::uint64_t{0};
    std::vector<std::uint32_t> order(dimensions.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      Shape other = chosen;
      other.layout = default_tiles(v5e, type, dimensions, order, SecondMinor::as_compiled);
      least = std::min(least, *compute_padded_bytes(other));
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(*compute_padded_bytes(chosen), least) << text_from_shape(chosen);
    EXPECT_EQ(text_from_shape(*parse_shape(text_from_shape(chosen))), text_from_shape(chosen));
  }
}

std::string least_text(std::string_view generation, std::string_view text) {
  return text_from_shape(least_padded_shape(*find_generation(generation), *parse_shape(text)));
}

TEST(TpuLayout, the_order_that_takes_least_of_a_layout_that_does_not) {
  EXPECT_EQ(least_text("v5e", "f32[1000,1]{1,0:T(8,128)}"), "f32[1000,1]{0,1:T(1,128)}");
  EXPECT_EQ(least_text("v3", "f32[1000,1]{1,0:T(8,128)}"), "f32[1000,1]{0,1:T(2,128)}");
  EXPECT_EQ(least_text("v5e", "bf16[3,5,1000]{1,2,0:T(8,128)(2,1)S(1)}"), "bf16[3,5,1000]{2,0,1:T(4,128)(2,1)S(1)}");
  EXPECT_EQ(least_text("v5e", "f32[2]{0:T(1024)}"), "f32[2]{0:T(128)}");
  // Unchanged: no order takes less, including equal ones; without tiles nothing is padded.
  for (const char* text : {"f32[8,128]{1,0:T(8,128)}", "f32[1,224,224,3]{2,0,3,1:T(1,128)}", "f32[1000,1]{1,0}",
                           "f32[1000,1]", "f32[0,5]{1,0:T(8,128)}", "f32[]{:T(128)}"})
    EXPECT_EQ(least_text("v5e", text), text);
  // Values of 2 bits are chosen with tiles of 8 rows but have 16: the compiler's choice is not always the smallest.
  const std::string chosen = default_text("v6e", "u2", "24x15x128");
  EXPECT_EQ(chosen, "u2[24,15,128]{2,0,1:T(16,128)(16,1)E(2)}");
  EXPECT_EQ(bytes_of(chosen), 15 * 32 * 128 / 4);
  EXPECT_EQ(least_text("v6e", chosen), "u2[24,15,128]{2,1,0:T(16,128)(16,1)E(2)}");
  EXPECT_EQ(bytes_of(least_text("v6e", chosen)), 24 * 16 * 128 / 4);
}

// The layout that libtpu 0.0.51 gives an argument with a requested order (jax.experimental.layout): v5e, the last two
// on v3.
TEST(TpuLayout, a_requested_order_gets_the_compilers_tiles) {
  struct Row {
    const char* generation;
    const char* text;
    std::uint64_t bytes;
  };
  for (const Row& row :
       {Row{"v5e", "f32[1000,1]{1,0:T(8,128)}", 512000}, Row{"v5e", "bf16[3,5,1000]{1,2,0:T(8,128)(2,1)}", 768000},
        Row{"v5e", "bf16[3,5,1000]{1,0,2:T(4,128)(2,1)}", 1024000},
        Row{"v5e", "f32[1,224,224,3]{2,3,1,0:T(4,128)}", 917504},
        Row{"v5e", "f32[1,224,224,3]{0,3,2,1:T(4,128)}", 102760448},
        Row{"v5e", "f32[1,224,224,3]{1,0,3,2:T(1,128)}", 688128},
        Row{"v5e", "s8[7,33,129]{0,2,1:T(8,128)(4,1)}", 574464},
        Row{"v5e", "s4[64,3,200]{2,0,1:T(64,128)(8,1)E(4)}", 24576},
        Row{"v5e", "s4[64,3,200]{0,2,1:T(8,128)(8,1)E(4)}", 38400}, Row{"v3", "f32[1000,1]{0,1:T(2,128)}", 8192},
        Row{"v3", "bf16[3,5,1000]{0,1,2:T(8,128)(2,1)}", 2048000}}) {
    Shape shape = *parse_shape(row.text);
    shape.layout = default_tiles(*find_generation(row.generation), *shape.type, shape.dimensions,
                                 shape.layout->minor_to_major, SecondMinor::as_compiled);
    EXPECT_EQ(text_from_shape(shape), row.text);
    EXPECT_EQ(bytes_of(row.text), row.bytes);
  }
}

TEST(TpuGenerations, every_figure_has_a_source_and_both_names_find_it) {
  for (const Generation& generation : all_generations()) {
    EXPECT_EQ(find_generation(generation.name), &generation);
    EXPECT_LT(generation.hbm_usable.value, generation.hbm_total.value) << generation.name;
    EXPECT_EQ(generation.hbm_usable.source, FigureSource::compiler) << generation.name;
  }
  // For two TPUs only the memories are known: each has its source, and no layout is invented.
  const auto listed = listed_generations();
  ASSERT_EQ(listed.size(), all_generations().size() + 2);
  for (const Generation& generation : listed.last(2)) {
    EXPECT_EQ(find_generation(generation.name), nullptr);
    EXPECT_TRUE(generation.hbm_total.known());
    EXPECT_FALSE(generation.hbm_usable.known());
    EXPECT_FALSE(generation.vmem_scoped_limit.known());
    EXPECT_NE(why_no_generation(generation.other_name).what.find("only the memories of TPU"), std::string::npos);
  }
  EXPECT_EQ(why_no_generation("v9").what, "there is no TPU generation 'v9'");
  EXPECT_EQ(find_generation("v7x"), find_generation("tpu7x"));
  EXPECT_EQ(find_generation("V5E"), find_generation("v5e"));
  EXPECT_EQ(find_generation("TPU7x"), find_generation("tpu7x"));
  EXPECT_EQ(find_generation("v5"), nullptr);
  EXPECT_EQ(find_generation("v1"), nullptr);
  EXPECT_EQ(find_generation(""), nullptr);
}

TEST(TpuRecorded, every_layout_of_real_programs_round_trips) {
  const auto lines = lines_of_data("tpu/layout_strings.txt");
  if (lines.empty()) GTEST_SKIP() << no_data("tpu/layout_strings.txt");
  for (const std::string& line : lines) bytes_of(line.substr(line.rfind(' ') + 1));
}

TEST(TpuRecorded, sizes_of_reports) {
  const auto lines = lines_of_data("tpu/padding_vectors.tsv");
  if (lines.empty()) GTEST_SKIP() << no_data("tpu/padding_vectors.tsv");
  for (const std::string& line : lines) {
    if (line.starts_with('#')) continue;
    const auto cells = cells_of(line);
    EXPECT_EQ(fmt::to_string(bytes_of(cells[0])), cells[1]) << line;
    const auto unpadded = compute_unpadded_bytes(*parse_shape(cells[0]));
    EXPECT_EQ(fmt::to_string(*unpadded / (cells[0].find("E(32)") == std::string::npos ? 1 : 4)), cells[2]) << line;
  }
}

TEST(TpuRecorded, parameters_get_the_compilers_bytes_and_layouts) {
  const auto lines = lines_of_data("tpu/aot/padding.tsv");
  if (lines.empty()) GTEST_SKIP() << no_data("tpu/aot/padding.tsv");
  std::size_t other_layouts = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = cells_of(lines[i]);  // Generation, type, shape, layout, bytes.
    EXPECT_EQ(fmt::to_string(bytes_of(cells[3])), cells[4]) << lines[i];
    const std::string layout = default_text(cells[0], cells[1], cells[2]);
    if (layout != cells[3]) ++other_layouts;
    EXPECT_EQ(layout, cells[3]) << lines[i];
    EXPECT_EQ(fmt::to_string(bytes_of(layout)), cells[4]) << lines[i];
  }
  EXPECT_EQ(other_layouts, 0) << "of " << lines.size() - 1;
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
