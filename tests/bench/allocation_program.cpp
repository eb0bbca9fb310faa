// A program for heaptrack to record: pairs of malloc and free with some four thousand live blocks, called through a
// recursion of sixteen to twenty-four frames on some thousand different stacks.
//
//   allocation_program [PAIRS]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

constexpr std::array<std::size_t, 8> sizes = {16, 48, 256, 400, 1024, 4000, 20'000, 64'000};
volatile unsigned turn = 0;

[[gnu::noinline]] void* reach(unsigned depth, unsigned path, std::size_t size);

// Six call sites, so that equal depths are different stacks.
[[gnu::noinline]] void* left(unsigned depth, unsigned path, std::size_t size) {
  void* memory = reach(depth - 1, path / 3, size);
  turn = depth;
  return memory;
}
[[gnu::noinline]] void* middle(unsigned depth, unsigned path, std::size_t size) {
  void* memory = reach(depth - 1, path / 3, size);
  turn = depth + 1;
  return memory;
}
[[gnu::noinline]] void* right(unsigned depth, unsigned path, std::size_t size) {
  void* memory = reach(depth - 1, path / 3, size);
  turn = depth + 2;
  return memory;
}
void* reach(unsigned depth, unsigned path, std::size_t size) {
  if (depth == 0) return std::malloc(size);
  if (path % 3 == 0) return left(depth, path, size);
  return path % 3 == 1 ? middle(depth, path, size) : right(depth, path, size);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t pairs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  std::mt19937_64 random(1);
  std::array<void*, 4096> live{};
  for (std::uint64_t i = 0; i < pairs; ++i) {
    void*& slot = live[random() % live.size()];
    std::free(slot);
    slot = reach(8 + static_cast<unsigned>(random() % 5), static_cast<unsigned>(random() % 200),
                 sizes[random() % sizes.size()]);
  }
  for (void* memory : live) std::free(memory);
  std::printf("%llu pairs\n", static_cast<unsigned long long>(pairs));
}
