// Compares the order of free chunks with a std::set.
#include "allocator/reference/xla_gpu/free_chunks.h"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace hbmscope::allocator::xla_gpu {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;  // Bytes, address.

class Both {
 public:
  void insert(std::uint64_t bytes, std::uint64_t address) {
    const ChunkIndex chunk = pool_.add();
    pool_[chunk].bytes = bytes;
    pool_[chunk].address = address;
    chunks_.insert(pool_, chunk);
    set_.insert({bytes, address});
    live_.push_back(chunk);
  }
  void erase(std::size_t at) {
    const ChunkIndex chunk = live_[at];
    set_.erase({pool_[chunk].bytes, pool_[chunk].address});
    chunks_.erase(pool_, chunk);
    pool_.remove(chunk);
    live_[at] = live_.back();
    live_.pop_back();
  }
  void compare(std::uint64_t bytes) const {
    const auto first = set_.lower_bound({bytes, 0});
    expect(chunks_.find_first(pool_, bytes), first == set_.end() ? nullptr : &*first);
    const auto is_odd = [](const Chunk& chunk) { return chunk.address / 256 % 2 == 1; };
    const Key *odd = nullptr, *last_odd = nullptr;
    for (const Key& key : set_) {
      if (key.first < bytes || key.second / 256 % 2 == 0) continue;
      if (odd == nullptr) odd = &key;
      if (key.first == bytes) last_odd = &key;
    }
    expect(chunks_.find_first(pool_, bytes, is_odd), odd);
    expect(chunks_.find_last_of(pool_, bytes, is_odd), last_odd);
    ASSERT_EQ(chunks_.largest_bytes(pool_), set_.empty() ? 0 : set_.rbegin()->first);
  }
  std::size_t size() const { return live_.size(); }

 private:
  void expect(ChunkIndex found, const Key* expected) const {
    ASSERT_EQ(found == no_chunk, expected == nullptr);
    if (expected == nullptr) return;
    ASSERT_EQ(pool_[found].bytes, expected->first);
    ASSERT_EQ(pool_[found].address, expected->second);
  }

  ChunkPool pool_;
  FreeChunks chunks_;
  std::set<Key> set_;
  std::vector<ChunkIndex> live_;
};

TEST(FreeChunks, are_found_in_the_order_of_a_set) {
  for (const std::uint64_t spread : {1, 4, 40, 54}) {
    std::mt19937_64 random(spread);
    Both both;
    std::uint64_t address = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::uint64_t bytes = (1 + (std::uint64_t{1} << random() % spread) + random() % 8) * 256;
      if (both.size() > 0 && random() % 100 < (i / 500 % 2 == 0 ? 30U : 70U))
        both.erase(random() % both.size());
      else
        both.insert(bytes, (address = address * 6364136223846793005U + 1442695040888963407U) / 256 * 256);
      both.compare(bytes);
      if (testing::Test::HasFatalFailure()) FAIL() << "operation " << i << ", spread " << spread;
    }
  }
}

}  // namespace
}  // namespace hbmscope::allocator::xla_gpu
