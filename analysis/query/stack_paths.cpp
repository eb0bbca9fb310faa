#include "analysis/query/stack_paths.h"

#include <algorithm>

namespace hbmscope {

void StackPaths::reserve(std::size_t paths, std::size_t symbols) {
  paths_.reserve(paths);
  symbols_.reserve(symbols);
}

void StackPaths::add(std::uint32_t owner, std::span<const std::uint32_t> symbols) {
  paths_.push_back({symbols_.size(), static_cast<std::uint32_t>(symbols.size()), owner});
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
}

bool StackPaths::before(const Path& a, const Path& b, std::uint32_t depth) const {
  const std::uint32_t* data = symbols_.data();
  const std::uint32_t from_a = std::min(depth, a.length), from_b = std::min(depth, b.length);
  return std::lexicographical_compare(data + a.begin + from_a, data + a.begin + a.length, data + b.begin + from_b,
                                      data + b.begin + b.length);
}

// The median of three symbols (of nine, where that pays) at random places. Profiles are often sorted already, or are
// two sorted ones in sequence, and regularly spaced places would then yield the smallest again and again.
std::uint64_t StackPaths::choose_pivot(std::size_t begin, std::size_t end, std::uint32_t depth) {
  const auto pick = [&] {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return symbol(paths_[begin + (random_ >> 33) % (end - begin)], depth);
  };
  const auto middle = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  };
  const auto middle_of_three = [&] {
    const std::uint64_t a = pick(), b = pick(), c = pick();
    return middle(a, b, c);
  };
  if (end - begin < 1000) return middle_of_three();
  const std::uint64_t a = middle_of_three(), b = middle_of_three(), c = middle_of_three();
  return middle(a, b, c);
}

// Multikey quicksort (Bentley and Sedgewick, "Fast algorithms for sorting and searching strings", 1997): paths that are
// equal in the first `depth` symbols are partitioned by the next one, so no symbol is compared twice in vain.
bool StackPaths::sort(const std::atomic<bool>* cancelled) {
  struct Work {
    std::size_t begin, end;
    std::uint32_t depth;
  };
  constexpr std::size_t few = 12;
  std::vector<Work> todo = {{0, paths_.size(), 0}};
  while (!todo.empty()) {
    const auto [begin, end, depth] = todo.back();
    todo.pop_back();
    if (end - begin <= few) {
      std::sort(paths_.begin() + static_cast<std::ptrdiff_t>(begin), paths_.begin() + static_cast<std::ptrdiff_t>(end),
                [&, from = depth](const Path& a, const Path& b) { return before(a, b, from); });
      continue;
    }
    if (cancelled != nullptr && *cancelled) return false;
    const std::uint64_t pivot = choose_pivot(begin, end, depth);
    std::size_t less_end = begin, at = begin, greater_begin = end;
    while (at < greater_begin) {
      const std::uint64_t here = symbol(paths_[at], depth);
      if (here < pivot)
        std::swap(paths_[less_end++], paths_[at++]);
      else if (here > pivot)
        std::swap(paths_[at], paths_[--greater_begin]);
      else
        ++at;
    }
    if (begin != less_end) todo.push_back({begin, less_end, depth});
    if (greater_begin != end) todo.push_back({greater_begin, end, depth});
    if (pivot != 0) todo.push_back({less_end, greater_begin, depth + 1});
  }
  return true;
}

std::size_t StackPaths::shared_with_previous(std::size_t i) const {
  if (i == 0) return 0;
  const auto a = symbols(i - 1), b = symbols(i);
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace hbmscope
