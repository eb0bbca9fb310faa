#include "analysis/query/top.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <unordered_map>

namespace hbmscope {
namespace {

// The sums of a frame, kept together so that a visit touches one cache line. `seen` is the sample (plus 1) that last
// added to `cum`, so that recursion counts once.
struct Sums {
  Weight cum;
  std::uint32_t seen = 0;
};

struct Aggregate {
  std::vector<Sums> sums;
  std::vector<Weight> flat;
};

// With one frame per location, as in Python profiles, a frame is one load away.
std::vector<std::uint32_t> single_frames(const ProfileView& view) {
  const std::size_t count = view.profile->location_count();
  if (view.location_frames.size() != count) return {};
  std::vector<std::uint32_t> frames(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (view.frame_begin[i + 1] - view.frame_begin[i] != 1) return {};
    frames[i] = static_cast<std::uint32_t>(view.location_frames[i]);
  }
  return frames;
}

void add_frame(std::uint32_t frame, std::uint32_t stamp, const Weight& weight, std::vector<Sums>& all) {
  Sums& sums = all[frame];
  if (sums.seen == stamp) return;
  sums.seen = stamp;
  sums.cum += weight;
}

void aggregate(const ProfileView& view, const std::vector<std::uint32_t>& single, std::size_t begin, std::size_t end,
               Aggregate& out) {
  out.sums.resize(view.frames.size());
  out.flat.resize(view.frames.size());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t sample = view.sample(i);
    const Weight weight = view.weight(sample);
    const std::uint32_t stamp = sample + 1;
    const auto stack = view.stack(sample);
    if (!single.empty()) {
      if (stack.empty()) continue;
      out.flat[single[row(stack.front())]] += weight;
      for (const LocationIndex location : stack) add_frame(single[row(location)], stamp, weight, out.sums);
      continue;
    }
    bool is_innermost = true;
    for (const LocationIndex location : stack) {
      for (const FrameIndex frame : view.frames_of(location)) {
        if (is_innermost) out.flat[row(frame)] += weight;
        is_innermost = false;
        add_frame(static_cast<std::uint32_t>(frame), stamp, weight, out.sums);
      }
    }
  }
}

std::int64_t ordering_value(const TopRow& row, TopOrder order) {
  switch (order) {
    case TopOrder::flat_bytes: return row.flat.bytes;
    case TopOrder::cum_bytes: return row.cum.bytes;
    case TopOrder::flat_count: return row.flat.count + row.flat.unknown;
    case TopOrder::cum_count: return row.cum.count + row.cum.unknown;
  }
  return 0;
}

}  // namespace

std::vector<TopRow> compute_top(const ProfileView& view, TopOrder order, std::size_t sorted) {
  const std::vector<std::uint32_t> single = single_frames(view);
  const std::size_t samples = view.sample_count();
  // Below about ten thousand samples a thread costs more than it saves; each thread needs its own sums.
  const std::size_t cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  const std::size_t sums_bytes = view.frames.size() * (sizeof(Sums) + sizeof(Weight)) + 1;
  const std::size_t with_room = std::max<std::size_t>(1, (std::size_t{128} << 20) / sums_bytes);
  const std::size_t threads = std::clamp<std::size_t>(samples / 20'000, 1, std::min(cores, with_room));
  std::vector<Aggregate> parts(threads);
  std::vector<std::thread> others;
  const auto do_part = [&](std::size_t t) {
    aggregate(view, single, samples * t / threads, samples * (t + 1) / threads, parts[t]);
  };
  for (std::size_t t = 1; t < threads; ++t) {
    try {
      others.emplace_back(do_part, t);
    } catch (const std::system_error&) {  // A container may forbid more threads.
      do_part(t);
    }
  }
  do_part(0);
  for (std::thread& other : others) other.join();

  std::vector<TopRow> rows;
  for (std::size_t frame = 0; frame < view.frames.size(); ++frame) {
    TopRow top{static_cast<FrameIndex>(frame), {}, {}};
    bool seen = false;
    for (const Aggregate& part : parts) {
      seen = seen || part.sums[frame].seen != 0;
      top.flat += part.flat[frame];
      top.cum += part.sums[frame].cum;
    }
    if (seen) rows.push_back(top);
  }
  const auto before = [&](const TopRow& a, const TopRow& b) {
    const std::int64_t va = ordering_value(a, order), vb = ordering_value(b, order);
    if (va != vb) return va > vb;
    if (a.flat.bytes != b.flat.bytes) return a.flat.bytes > b.flat.bytes;
    if (a.cum.bytes != b.cum.bytes) return a.cum.bytes > b.cum.bytes;
    const Frame& fa = view.frames[row(a.frame)];
    const Frame& fb = view.frames[row(b.frame)];
    if (fa.function != fb.function) return fa.function < fb.function;
    if (fa.file != fb.file) return fa.file < fb.file;
    if (fa.line != fb.line) return fa.line < fb.line;
    return a.frame < b.frame;
  };
  const auto last_sorted = rows.begin() + static_cast<std::ptrdiff_t>(std::min(sorted, rows.size()));
  if (last_sorted == rows.end())
    std::sort(rows.begin(), rows.end(), before);
  else
    std::partial_sort(rows.begin(), last_sorted, rows.end(), before);
  return rows;
}

Neighbours compute_neighbours(const ProfileView& view, FrameIndex frame) {
  Neighbours result;
  result.self.frame = frame;
  std::unordered_map<FrameIndex, Sums> callers, callees;
  const auto add = [](std::unordered_map<FrameIndex, Sums>& edges, FrameIndex other, std::uint32_t stamp,
                      const Weight& weight) {
    Sums& sums = edges[other];
    if (sums.seen == stamp) return;
    sums.seen = stamp;
    sums.cum += weight;
  };
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    const Weight weight = view.weight(sample);
    FrameIndex inner = FrameIndex::none;
    bool found = false, is_innermost = true;
    for (const LocationIndex location : view.stack(sample)) {
      for (const FrameIndex current : view.frames_of(location)) {
        if (current == frame) {
          if (is_innermost) result.self.flat += weight;
          if (inner != FrameIndex::none) add(callees, inner, sample + 1, weight);
          found = true;
        }
        if (inner == frame) add(callers, current, sample + 1, weight);
        inner = current;
        is_innermost = false;
      }
    }
    if (found) result.self.cum += weight;
  }
  const auto list = [&](const std::unordered_map<FrameIndex, Sums>& edges, std::vector<TopRow>& rows) {
    for (const auto& [other, sums] : edges) rows.push_back({other, {}, sums.cum});
    std::sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
      if (a.cum.bytes != b.cum.bytes) return a.cum.bytes > b.cum.bytes;
      if (a.cum.count != b.cum.count) return a.cum.count > b.cum.count;
      const Frame &fa = view.frames[row(a.frame)], &fb = view.frames[row(b.frame)];
      return fa.function != fb.function ? fa.function < fb.function : a.frame < b.frame;
    });
  };
  list(callers, result.callers);
  list(callees, result.callees);
  return result;
}

}  // namespace hbmscope
