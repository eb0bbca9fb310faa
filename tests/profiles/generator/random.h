// Random numbers that are the same with every standard library, unlike the distributions of <random>.
#pragma once

#include <cstdint>

namespace hbmscope::test {

// splitmix64 by Sebastiano Vigna, public domain: https://prng.di.unimi.it/splitmix64.c
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, bound); bound > 0 and below 2^32.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }
  // In [low, high], both inclusive.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  // In [0, bound), with small numbers far more often than large ones: the first half of the range is drawn 3 times in
  // 4.
  std::uint32_t skewed(std::uint32_t bound) {
    const std::uint32_t a = below(bound), b = below(bound);
    return a < b ? a : b;
  }

 private:
  std::uint64_t state_;
};

}  // namespace hbmscope::test
