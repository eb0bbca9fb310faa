// Lists of arrays: safetensors, JSON as nested as a pytree, rows between tabs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "analysis/read/array_listing/read_array_listing.h"

namespace hbmscope {
namespace {

Result<std::vector<ListedArray>> parse(std::string_view text) {
  return parse_array_listing({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "list");
}

// "name type[sizes]{layout}" of each array; or the error.
std::string reported(std::string_view text) {
  const auto arrays = parse(text);
  if (!arrays) return "refused: " + arrays.error().what;
  std::string all;
  for (const ListedArray& array : *arrays)
    all += (all.empty() ? "" : "; ") + array.name + " " + allocator::tpu::text_from_shape(array.shape);
  return all;
}

std::string safetensors(std::string_view json) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(json.size() >> (8 * i));
  return text + std::string(json);
}

constexpr std::string_view head = R"({"__metadata__": {"format": "pt"},
  "model.w": {"dtype": "BF16", "shape": [4096, 100], "data_offsets": [0, 819200]},
  "model.step": {"dtype": "I64", "shape": [], "data_offsets": [819200, 819208]}})";

TEST(ArrayListing, safetensors_with_its_length_and_as_json_alone) {
  EXPECT_EQ(reported(safetensors(head)), "model.w bf16[4096,100]; model.step s64[]");
  EXPECT_EQ(reported(head), reported(safetensors(head)));
  EXPECT_EQ(reported(safetensors(head) + std::string(819208, 'x')), reported(head));
  EXPECT_EQ(reported(safetensors(head).substr(0, 60)),
            "refused: the list: its header of " + std::to_string(head.size()) + " bytes is cut off");
}

TEST(ArrayListing, of_a_large_file_only_the_head_is_read) {
  const auto path = std::filesystem::path(testing::TempDir()) / "listing.safetensors";
  std::ofstream(path, std::ios::binary) << safetensors(head);
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);  // A hole of zeros: more than read_file may return.
  const auto arrays = read_array_listing(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(arrays) << arrays.error().text();
  EXPECT_EQ(arrays->size(), 2U);
  EXPECT_FALSE(read_array_listing(path.string()));
}

TEST(ArrayListing, json_is_nested_as_the_pytree_is) {
  EXPECT_EQ(reported(R"({"params": {"dense": {"kernel": {"dtype": "float32", "shape": [1000, 1]}, "bias": null},
                     "blocks": [{"w": "bfloat16[8,128]"}, {"w": "s8[64]{0:T(512)(128)(4,1)}"}]}})"),
            "params/dense/kernel f32[1000,1]; params/blocks/0/w bf16[8,128]; params/blocks/1/w "
            "s8[64]{0:T(512)(128)(4,1)}");
  EXPECT_EQ(reported(R"([{"name": "w", "dtype": "f32", "shape": [1000, 1], "layout": "{1,0:T(8,128)}"}])"),
            "w f32[1000,1]{1,0:T(8,128)}");
  EXPECT_EQ(reported(R"({"w": {"dtype": "f32", "shape": [2], "layout": "f32[3]{0:T(128)}"}})"),
            "refused: w: the layout 'f32[3]{0:T(128)}' is not of f32[2]");
  EXPECT_EQ(reported(R"({"w": 7})"), "refused: w: it is not an array, and contains none");
  EXPECT_EQ(reported(R"({"w": {"dtype": "f31", "shape": [2]}})"), "refused: w: there is no element type 'f31'");
  EXPECT_EQ(reported(R"({"w": {"dtype": "f32", "shape": [-2]}})"),
            "refused: w: its shape has a size that is not a whole number");
  EXPECT_EQ(reported(R"({"weight_map": {"a": "model-1.safetensors"}})"),
            "refused: the list: this is an index of shards, which has no sizes");
  EXPECT_EQ(reported("{}"), "refused: the list: there is no array in it");
  EXPECT_EQ(reported("{\"w\": "), "refused: the list: it begins like JSON but is not valid");
  const auto deep = reported(std::string(100'000, '[') + std::string(100'000, ']'));
  EXPECT_NE(deep.find("nested too deeply"), std::string::npos);
}

TEST(ArrayListing, rows_between_tabs) {
  EXPECT_EQ(reported("name\tdtype\tshape\nw\tfloat32\t(1000, 1)\r\nb\tbf16\t(8,)\n\ns\tbool\t()\nm\ts8\t8x128\n"),
            "w f32[1000,1]; b bf16[8]; s pred[]; m s8[8,128]");
  EXPECT_EQ(reported("dtype\tshape\tlayout\nf32\t2x3\t{1,0:T(8,128)}\nf32\tscalar\t\n"),
            "row 1 f32[2,3]{1,0:T(8,128)}; row 2 f32[]");
  EXPECT_EQ(reported("dtype\tshape\nf32\n"), "refused: line 2: 1 columns where the head line has 2");
  EXPECT_EQ(reported("dtype\tshape\nf32\t2y3\n"),
            "refused: line 2: the shape '2y3': 'x' is expected between dimensions, here is 'y'");
  EXPECT_NE(reported("a\tb\n").find("does not name columns dtype and shape"), std::string::npos);
  EXPECT_NE(reported("").find("does not name columns"), std::string::npos);
}

TEST(ArrayListing, types_have_the_names_of_many) {
  const auto name_of = [](std::string_view name) {
    const auto* type = find_array_type(name);
    return std::string(type != nullptr ? type->name : "none");
  };
  for (const auto& [name, expected] :
       std::vector<std::pair<std::string, std::string>>{{"BOOL", "pred"},
                                                        {"bool", "pred"},
                                                        {"torch.bfloat16", "bf16"},
                                                        {"float16", "f16"},
                                                        {"F64", "f64"},
                                                        {"I8", "s8"},
                                                        {"int4", "s4"},
                                                        {"uint2", "u2"},
                                                        {"U16", "u16"},
                                                        {"complex64", "c64"},
                                                        {"float8_e4m3b11fnuz", "f8e4m3b11fnuz"},
                                                        {"F8_E5M2", "f8e5m2"},
                                                        {"F8_E8M0", "f8e8m0fnu"},
                                                        {"F4", "f4e2m1fn"},
                                                        {"pred", "pred"},
                                                        {"int", "none"},
                                                        {"", "none"},
                                                        {"object", "none"}})
    EXPECT_EQ(name_of(name), expected) << name;
}

TEST(ArrayListing, damage_is_refused_and_never_fatal) {
  std::mt19937_64 random(3);
  const std::string whole = safetensors(head);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = trial % 2 == 0 ? whole : std::string(head);
    for (std::uint64_t i = 0; i <= random() % 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    (void)parse(text);
  }
}

}  // namespace
}  // namespace hbmscope
