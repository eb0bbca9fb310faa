// Figures that another program reported over time (counter records: memory_stats, cuMemGetInfo), one series per name
// and heap. A sample takes about six bytes: it is stored as the difference to the previous one, and every 64th in full.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/model/shared_log.h"

namespace hbmscope {

struct CounterSample {
  std::uint64_t event = 0;  // Its number in the stream.
  std::int64_t time_ns = 0;
  std::int64_t value = 0;  // In the unit of the counter.

  friend bool operator==(const CounterSample&, const CounterSample&) = default;
};

class CounterSeries {
 public:
  void add(const CounterSample& sample);  // Events must ascend.

  std::uint64_t size() const { return size_; }
  const CounterSample& last() const { return last_; }  // The series must not be empty.
  // The last sample among the first `position` events of the stream, if there was one.
  std::optional<CounterSample> at(std::uint64_t position) const;
  // In order: `visit(sample)`.
  template <class Visit>
  void for_each(const Visit& visit) const {
    if (size_ == 0) return;
    for (std::size_t group = 0; group <= closed_.size(); ++group)
      walk(group, [&](const CounterSample& sample) {
        visit(sample);
        return true;
      });
  }
  std::uint64_t memory_bytes() const;

 private:
  struct Group {
    CounterSample first;
    std::size_t begin = 0, bytes = 0;  // Where the differences of the following samples lie in bytes_.
  };
  // Walks one group until `visit` returns false; the group after the closed ones is the open one.
  template <class Visit>
  void walk(std::size_t group, const Visit& visit) const {
    const bool is_open = group == closed_.size();
    CounterSample sample = is_open ? open_first_ : closed_[group].first;
    std::span<const std::uint8_t> rest = is_open ? std::span<const std::uint8_t>(open_bytes_)
                                                 : bytes_.together(closed_[group].begin, closed_[group].bytes);
    while (visit(sample) && step(sample, rest)) {
    }
  }
  static bool step(CounterSample& sample, std::span<const std::uint8_t>& rest);

  // Copies share everything except the open group.
  SharedLog<Group, 8> closed_;
  SharedLog<std::uint8_t> bytes_;
  CounterSample open_first_;
  std::vector<std::uint8_t> open_bytes_;
  CounterSample last_;
  std::uint64_t size_ = 0;
};

class CounterTable {
 public:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // The string of its name, and its heap (0: none).

  // A damaged stream may name millions of series; samples of those beyond the limit are counted and dropped.
  void add(Key key, const CounterSample& sample);

  const std::map<Key, CounterSeries>& series() const { return series_; }
  const CounterSeries* find(Key key) const {
    const auto found = series_.find(key);
    return found == series_.end() ? nullptr : &found->second;
  }
  std::uint64_t left_out() const { return left_out_; }  // Samples.
  std::uint64_t memory_bytes() const;

 private:
  std::map<Key, CounterSeries> series_;
  std::uint64_t left_out_ = 0;
};

}  // namespace hbmscope
