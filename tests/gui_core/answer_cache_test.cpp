#include "app/gui/core/answer_cache.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

QueryKey key(int kind, std::uint32_t source) {
  return {kind, static_cast<SourceId>(source), SourceId::none, {}, {}};
}

TEST(AnswerCache, finds_by_the_whole_key) {
  AnswerCache cache(1000);
  const auto answer = std::make_shared<const int>(7);
  cache.insert(key(1, 1), answer, 10);
  EXPECT_EQ(cache.find(key(1, 1)), answer);
  EXPECT_EQ(cache.find(key(2, 1)), nullptr);
  QueryKey filtered = key(1, 1);
  filtered.request.where = "size>1";
  EXPECT_EQ(cache.find(filtered), nullptr);
}

TEST(AnswerCache, the_longest_unused_goes_first_when_the_limit_is_reached) {
  AnswerCache cache(100);
  for (std::uint32_t i = 0; i < 10; ++i) {
    cache.insert(key(1, i), std::make_shared<const int>(0), 10);
    EXPECT_NE(cache.find(key(1, 0)), nullptr);  // Used again and again.
  }
  cache.insert(key(1, 10), std::make_shared<const int>(0), 10);
  EXPECT_EQ(cache.bytes(), 100u);
  EXPECT_NE(cache.find(key(1, 0)), nullptr);
  EXPECT_EQ(cache.find(key(1, 1)), nullptr);
}

TEST(AnswerCache, forgets_a_source_on_either_side) {
  AnswerCache cache(1000);
  QueryKey diff = key(1, 1);
  diff.baseline = static_cast<SourceId>(2);
  cache.insert(diff, std::make_shared<const int>(0), 10);
  cache.insert(key(1, 3), std::make_shared<const int>(0), 10);
  cache.forget(static_cast<SourceId>(2));
  EXPECT_EQ(cache.find(diff), nullptr);
  EXPECT_NE(cache.find(key(1, 3)), nullptr);
  EXPECT_EQ(cache.bytes(), 10u);
}

}  // namespace
}  // namespace hbmscope::gui
