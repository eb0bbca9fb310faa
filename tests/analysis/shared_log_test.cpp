// A sequence whose copies share earlier elements: nothing moves, nothing is copied, nothing changes in a copy.
#include "analysis/model/shared_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace hbmscope {
namespace {

TEST(SharedLog, holds_what_was_appended) {
  SharedLog<std::string, 4> log;
  EXPECT_TRUE(log.empty());
  for (int i = 0; i < 1000; ++i) log.push_back(std::to_string(i));
  ASSERT_EQ(1000U, log.size());
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(std::to_string(i), log[i]);
  EXPECT_EQ("0", log.front());
  EXPECT_EQ("999", log.back());
  int next = 0;
  for (const std::string& text : log) ASSERT_EQ(std::to_string(next++), text);
  EXPECT_EQ(1000, next);
}

TEST(SharedLog, is_searched_like_a_vector) {
  SharedLog<int, 8> log;
  for (int i = 0; i < 500; ++i) log.push_back(i * 3);
  for (int wanted = 0; wanted < 1500; ++wanted)
    ASSERT_EQ(wanted / 3 + 1, std::upper_bound(log.begin(), log.end(), wanted) - log.begin());
}

TEST(SharedLog, a_long_one_has_an_eighth_in_reserve) {
  SharedLog<int, 2> log;
  for (int i = 0; i < 300'000; ++i) {
    log.push_back(i);
    ASSERT_LE(log.size(), log.capacity());
    ASSERT_LE(log.capacity(), log.size() < 1000 ? 2 * log.size() + 2 : log.size() * 9 / 8 + 2) << log.size();
  }
  for (int i = 0; i < 300'000; ++i) ASSERT_EQ(i, log[static_cast<std::size_t>(i)]);
}

TEST(SharedLog, elements_never_move_and_copies_share_them) {
  SharedLog<int, 2> log;
  log.push_back(7);
  const int* first = &log[0];
  const SharedLog<int, 2> copy = log;
  for (int i = 0; i < 10'000; ++i) log.push_back(i);
  EXPECT_EQ(first, &log[0]);
  EXPECT_EQ(first, &copy[0]);
  EXPECT_EQ(1U, copy.size());
  EXPECT_EQ(10'001U, log.size());
}

TEST(SharedLog, a_copy_that_is_appended_to_becomes_its_own) {
  SharedLog<int, 2> log;
  log.push_back(1);
  SharedLog<int, 2> shorter = log;
  log.push_back(2);
  shorter.push_back(3);
  EXPECT_EQ(2, log[1]);
  EXPECT_EQ(3, shorter[1]);
  EXPECT_NE(&log[0], &shorter[0]);
  // The longest one continues in place, even as a copy.
  SharedLog<int, 2> longest = log;
  longest.push_back(4);
  EXPECT_EQ(&log[0], &longest[0]);
  EXPECT_EQ(2U, log.size());
}

TEST(SharedLog, together_means_side_by_side) {
  SharedLog<char, 16> log;
  std::vector<std::pair<std::size_t, std::string>> texts;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string text(i % 61, static_cast<char>('a' + i % 26));
    texts.emplace_back(log.append_together(text), text);
  }
  for (const auto& [at, text] : texts) {
    const auto found = log.together(at, text.size());
    ASSERT_EQ(text, std::string(found.begin(), found.end()));
  }
}

TEST(SharedLog, one_appends_while_others_read_their_copies) {
  SharedLog<std::uint64_t, 2> log;
  for (int round = 0; round < 50; ++round) {
    for (std::uint64_t i = 0; i < 100; ++i) log.push_back(log.size());
    std::thread reader([copy = log] {
      for (std::size_t i = 0; i < copy.size(); ++i) ASSERT_EQ(i, copy[i]);
    });
    for (std::uint64_t i = 0; i < 1000; ++i) log.push_back(log.size());
    reader.join();
  }
}

}  // namespace
}  // namespace hbmscope
