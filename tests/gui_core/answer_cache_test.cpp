#include "app/gui/core/answer_cache.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

AnswerKey key(std::uint32_t source, AnswerOptions options = options::Top{}) {
  return {static_cast<SourceId>(source), std::move(options)};
}

TEST(AnswerCache, finds_by_the_whole_key) {
  AnswerCache cache(1000);
  const auto answer = std::make_shared<const int>(7);
  cache.insert(key(1), answer, 10);
  EXPECT_EQ(cache.find(key(1)), answer);
  EXPECT_EQ(cache.find(key(1, options::Summary{})), nullptr);
  AnswerKey filtered = key(1);
  filtered.request.where = "size>1";
  EXPECT_EQ(cache.find(filtered), nullptr);
}

TEST(AnswerCache, the_longest_unused_goes_first_when_the_limit_is_reached) {
  AnswerCache cache(100);
  for (std::uint32_t i = 0; i < 10; ++i) {
    cache.insert(key(i), std::make_shared<const int>(0), 10);
    EXPECT_NE(cache.find(key(0)), nullptr);  // Used again and again.
  }
  cache.insert(key(10), std::make_shared<const int>(0), 10);
  EXPECT_EQ(cache.bytes(), 100u);
  EXPECT_NE(cache.find(key(0)), nullptr);
  EXPECT_EQ(cache.find(key(1)), nullptr);
}

TEST(AnswerCache, forgets_a_source_on_either_side) {
  AnswerCache cache(1000);
  AnswerKey diff = key(1, options::Diff{});
  diff.baseline = static_cast<SourceId>(2);
  cache.insert(diff, std::make_shared<const int>(0), 10);
  cache.insert(key(3), std::make_shared<const int>(0), 10);
  cache.forget(static_cast<SourceId>(2));
  EXPECT_EQ(cache.find(diff), nullptr);
  EXPECT_NE(cache.find(key(3)), nullptr);
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(AnswerKey, each_option_makes_another_key_and_equal_keys_have_equal_hashes) {
  const AnswerKey plain = key(1, options::HeapMap{{0, 1}, HeapColoring::size});
  EXPECT_EQ(plain, key(1, options::HeapMap{{0, 1}, HeapColoring::size}));
  EXPECT_EQ(AnswerKeyHash{}(plain), AnswerKeyHash{}(key(1, options::HeapMap{{0, 1}, HeapColoring::size})));
  EXPECT_NE(plain, key(1, options::HeapMap{{0, 2}, HeapColoring::size}));
  EXPECT_NE(plain, key(1, options::HeapMap{{0, 1}, HeapColoring::age}));
  EXPECT_NE(plain, key(1, options::HeapMap{{0, 1}, HeapColoring::size, "#4"}));
  EXPECT_NE(plain, key(1, options::Free{{0, 1}}));
  EXPECT_NE(plain, key(1, {})) << "no question yet";
  AnswerKey later = plain;
  later.at = "#5";
  EXPECT_NE(plain, later);
  EXPECT_NE(AnswerKeyHash{}(plain), AnswerKeyHash{}(later));
}

}  // namespace
}  // namespace hbmscope::gui
