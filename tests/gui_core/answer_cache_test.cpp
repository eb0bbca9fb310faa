#include "app/gui/core/answer_cache.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

AnswerKey key(std::uint32_t source, AnswerOptions options = {}) {
  AnswerKey key{static_cast<SourceId>(source), std::move(options)};
  key.type = &typeid(int);
  return key;
}

TEST(AnswerCache, finds_by_the_whole_key) {
  AnswerCache cache(1000);
  const auto answer = std::make_shared<const int>(7);
  cache.insert(key(1), answer, 10);
  EXPECT_EQ(cache.find(key(1)), answer);
  EXPECT_EQ(cache.find(key(1, true)), nullptr);
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
  AnswerKey diff = key(1, StackMatch::line);
  diff.baseline = static_cast<SourceId>(2);
  cache.insert(diff, std::make_shared<const int>(0), 10);
  cache.insert(key(3), std::make_shared<const int>(0), 10);
  cache.forget(static_cast<SourceId>(2));
  EXPECT_EQ(cache.find(diff), nullptr);
  EXPECT_NE(cache.find(key(3)), nullptr);
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(AnswerKey, each_option_makes_another_key_and_equal_keys_have_equal_hashes) {
  const AnswerKey plain = key(1, HeapKey{0, 1});
  EXPECT_EQ(plain, key(1, HeapKey{0, 1}));
  EXPECT_EQ(AnswerKeyHash{}(plain), AnswerKeyHash{}(key(1, HeapKey{0, 1})));
  EXPECT_NE(plain, key(1, HeapKey{0, 2}));
  EXPECT_NE(plain, key(1, AddressRange{0, 1})) << "other options";
  EXPECT_NE(plain, key(1));
  AnswerKey other_type = plain;
  other_type.type = &typeid(double);
  EXPECT_NE(plain, other_type);
  other_type.type = nullptr;
  EXPECT_NE(plain, other_type) << "no question yet";
  AnswerKey later = plain;
  later.at = "#5";
  EXPECT_NE(plain, later);
  EXPECT_NE(AnswerKeyHash{}(plain), AnswerKeyHash{}(later));
}

}  // namespace
}  // namespace hbmscope::gui
