// Work on the rows of a picture, on a few threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace hbmscope::gui {

// Calls work(first, last) for bands of rows that cover [0, rows), and returns when all are done. A band costs as much
// as it shows, so there are several for each thread. Starting a thread takes some 50 us: a picture of fewer pixels than
// `pixels_least` is drawn by this thread alone.
template <class Work>
void in_bands(int rows, std::int64_t pixels, const Work& work) {
  constexpr std::int64_t pixels_least = 400'000;
  const int threads =
      pixels < pixels_least ? 1 : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
  if (threads == 1) return work(0, rows);
  const int bands = std::clamp(rows, 1, threads * 4);
  std::atomic<int> next = 0;
  const auto take = [&] {
    for (int band = next++; band < bands; band = next++) work(rows * band / bands, rows * (band + 1) / bands);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(take);
  take();
  for (std::thread& one : others) one.join();
}

}  // namespace hbmscope::gui
