// What blocks are, as far as it was said of them or follows from what was said of others.
#include "analysis/query/block_labels.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/query/block_list.h"
#include "analysis/query/label_rows.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

class BlockLabelsTest : public testing::Test {
 protected:
  std::uint64_t alloc(std::uint64_t size, std::uint32_t stack = 0, std::string_view tag = {}) {
    wire::AllocRecord block;
    block.address = address_ += 1 << 20;
    block.size = block.requested = size;
    block.heap = heap_;
    block.stack = stack;
    if (!tag.empty()) block.tag = built_.writer.define_string(tag);
    const std::uint64_t event = built_.writer.alloc(block, built_.time_ns += 1000);
    by_event_[event] = {stack, size};
    return event;
  }
  void say(std::uint64_t allocation, std::string_view key, std::string_view value) {
    wire::AttributeRecord record;
    record.allocation = allocation;
    record.key = built_.writer.define_string(key);
    record.value = built_.writer.define_string(value);
    record.stack = by_event_[allocation].first;
    record.size = by_event_[allocation].second;
    built_.writer.add(record, built_.time_ns += 1000);
  }
  std::uint32_t stack(std::string_view function, std::string_view file, std::uint32_t caller = 0) {
    return built_.writer.define_stack(caller, built_.writer.define_frame(function, file, 1));
  }
  Category category(std::uint64_t event) {
    const auto states = built_.states_at();
    const BlockLabels labels(built_.trace.streams[0]);
    for (const LiveBlock& block : states[0].slots())
      if (block.is_live() && block.event == event) return labels.category(block);
    ADD_FAILURE() << "no block " << event;
    return Category::unknown;
  }
  BlockLabels labels() {
    built_.states_at();
    return BlockLabels(built_.trace.streams[0]);
  }
  std::uint64_t count(const std::string& where) {
    const auto states = built_.states_at();
    const auto live = collect_live_rows(built_.trace, states, false);
    const auto list = compute_block_list(built_.trace, states, *live, {where});
    return list ? list->rows.size() : ~std::uint64_t{0};
  }

  TraceBuilder built_;
  std::uint32_t heap_ = built_.heap("GPU_0_bfc", 0);
  std::uint64_t address_ = 0;
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> by_event_;
};

TEST_F(BlockLabelsTest, an_arrays_name_is_the_one_of_all_others_from_the_same_output) {
  const auto first = alloc(8), second = alloc(8), third = alloc(8), other = alloc(8);
  for (const auto each : {first, second, third}) say(each, "array", "f32[2] output 0 of step");
  say(first, "name", "params['w']");
  say(first, "category", "parameters");
  say(first, "held by", "global of train.py");
  say(other, "array", "f32[2] output 1 of step");
  EXPECT_EQ("params['w']", labels().name(second));
  EXPECT_EQ("params['w'] f32[2]", labels().title(third));
  EXPECT_EQ("global of train.py", labels().holder(second));
  EXPECT_EQ(Category::parameters, category(second));
  EXPECT_EQ("", labels().name(other));
  EXPECT_EQ("f32[2] output 1 of step", labels().title(other));
  EXPECT_EQ(Category::unknown, category(other));
  say(second, "name", "best['w']");  // Two names: then a third array may have either.
  EXPECT_EQ("best['w']", labels().name(second));
  EXPECT_EQ("", labels().name(third));
  EXPECT_EQ(4U, count("array:step"));
  EXPECT_EQ(3U, count("array:\"output 0\""));
  EXPECT_EQ(1U, count("array=best['w']"));
}

TEST_F(BlockLabelsTest, what_is_said_last_counts) {
  const auto block = alloc(8);
  say(block, "name", "a");
  say(block, "name", "b");
  say(block, "held by", "global of train.py");
  EXPECT_EQ("b", labels().name(block));
  EXPECT_EQ("global of train.py", labels().holder(block));
  EXPECT_EQ(1U, count("held:train"));
  EXPECT_FALSE(labels().has_categories());
}

TEST_F(BlockLabelsTest, blocks_of_one_line_and_size_share_their_category_if_all_agree) {
  const std::uint32_t line = stack("train", "/home/me/train.py");
  const auto first = alloc(100, line), second = alloc(100, line), larger = alloc(101, line), third = alloc(100, line);
  say(first, "category", "gradients");
  EXPECT_EQ(Category::gradients, category(second));
  EXPECT_EQ(Category::unknown, category(larger));
  say(third, "category", "inputs");
  EXPECT_EQ(Category::unknown, category(second));
  EXPECT_EQ(Category::gradients, category(first));
}

TEST_F(BlockLabelsTest, blocks_of_a_program_that_are_no_arrays_are_temporaries) {
  const auto output = alloc(8, 0, "jit_step"), temporary = alloc(8, 0, "jit_step"), mine = alloc(8, 0, "loss");
  const auto batch = alloc(8);
  say(output, "array", "f32[2] output 0 of jit_step");
  say(batch, "array", "f32[64,8] from the host");
  EXPECT_EQ(Category::unknown, category(output));
  EXPECT_EQ(Category::temporaries, category(temporary));
  EXPECT_EQ(Category::unknown, category(mine));
  EXPECT_EQ(Category::inputs, category(batch));
}

TEST_F(BlockLabelsTest, stacks_of_pytorch_say_what_a_block_is_for) {
  const std::uint32_t step = stack("train", "/home/me/train.py");
  const std::uint32_t forward = stack("Block.forward", "/home/me/model.py", step);
  const std::uint32_t linear = stack("linear", "/venv/torch/nn/functional.py", forward);
  const std::uint32_t adam = stack("step", "/venv/torch/optim/adamw.py", step);
  const std::uint32_t engine = stack("torch::autograd::Engine::thread_main(...)", "libtorch_cpu.so");
  const auto kept = alloc(10, linear), update = alloc(11, adam), back = alloc(12, engine), plain = alloc(13, step);
  EXPECT_EQ(Category::unknown, category(kept)) << "stacks alone don't make a trace one with categories";
  say(alloc(14), "category", "parameters");
  EXPECT_EQ(Category::activations, category(kept));
  EXPECT_EQ(Category::temporaries, category(update));
  EXPECT_EQ(Category::temporaries, category(back));
  EXPECT_EQ(Category::unknown, category(plain));
  EXPECT_EQ(1U, count("category=activations"));
  EXPECT_EQ(1U, count("category=other"));
}

TEST_F(BlockLabelsTest, sums_are_by_category_and_by_name_without_indices) {
  for (int i = 0; i < 3; ++i) {
    const auto kept = alloc(100);
    say(kept, "name", "history[" + std::to_string(i) + "]");
    say(kept, "held by", "global of train.py");
  }
  const auto weight = alloc(50);
  say(weight, "name", "model.0.weight");
  say(weight, "category", "parameters");
  const auto states = built_.states_at();
  const auto holders = compute_holder_rows(built_.trace, states);
  ASSERT_EQ(2U, holders.size());
  EXPECT_EQ("history[*]", holders[0].name);
  EXPECT_EQ("global of train.py", holders[0].holder);
  EXPECT_EQ(300U, holders[0].bytes);
  EXPECT_EQ(3U, holders[0].blocks);
  EXPECT_EQ("model.*.weight", holders[1].name);
  EXPECT_EQ(Category::parameters, holders[1].category);
  const auto categories = compute_category_rows(built_.trace, states);
  ASSERT_EQ(2U, categories.size());
  EXPECT_EQ(Category::unknown, categories[0].category);
  EXPECT_EQ(300U, categories[0].bytes);
  EXPECT_EQ(50U, categories[1].bytes);
}

TEST(WithoutIndices, only_whole_numbers_go) {
  EXPECT_EQ("a[*][*]", without_indices("a[0][12]"));
  EXPECT_EQ("layers.*.w2", without_indices("layers.11.w2"));
  EXPECT_EQ("x['3d']", without_indices("x['3d']"));
  EXPECT_EQ("conv2d", without_indices("conv2d"));
  EXPECT_EQ("", without_indices(""));
}

}  // namespace
}  // namespace hbmscope
