#include "analysis/trace/counter_table.h"

#include <algorithm>

#include "collector/wire/varint.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t group_samples = 64;
constexpr std::size_t series_max = 16'384;  // A hundred counters on a hundred heaps are ten thousand.

std::uint64_t difference(std::int64_t now, std::int64_t before) {
  return wire::zigzag(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before));
}
std::int64_t sum(std::int64_t before, std::uint64_t difference) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + wire::unzigzag(difference));
}

}  // namespace

void CounterSeries::add(const CounterSample& sample) {
  if (size_ % group_samples == 0) {
    if (size_ > 0) {
      const std::size_t begin = bytes_.append_together(open_bytes_);
      closed_.push_back({open_first_, begin, open_bytes_.size()});
    }
    open_first_ = sample;
    open_bytes_.clear();
  } else {
    std::uint8_t numbers[3 * wire::varint_bytes_max];
    std::uint8_t* end = wire::write_varint(numbers, sample.event - last_.event);
    end = wire::write_varint(end, difference(sample.time_ns, last_.time_ns));
    end = wire::write_varint(end, difference(sample.value, last_.value));
    open_bytes_.insert(open_bytes_.end(), numbers, end);
  }
  ++size_;
  last_ = sample;
}

bool CounterSeries::step(CounterSample& sample, std::span<const std::uint8_t>& rest) {
  if (rest.empty()) return false;
  wire::VarintReader reader(rest.data(), rest.data() + rest.size());
  sample.event += reader.read();
  sample.time_ns = sum(sample.time_ns, reader.read());
  sample.value = sum(sample.value, reader.read());
  rest = rest.last(reader.remaining());
  return !reader.failed();
}

std::optional<CounterSample> CounterSeries::at(std::uint64_t position) const {
  if (size_ == 0) return std::nullopt;
  if (last_.event < position) return last_;
  // The last group that begins before the position.
  std::size_t group = closed_.size();
  if (open_first_.event >= position) {
    const auto after =
        std::upper_bound(closed_.begin(), closed_.end(), position,
                         [](std::uint64_t wanted, const Group& other) { return wanted <= other.first.event; });
    if (after == closed_.begin()) return std::nullopt;
    group = static_cast<std::size_t>(after - closed_.begin()) - 1;
  }
  CounterSample found;
  walk(group, [&](const CounterSample& sample) {
    if (sample.event >= position) return false;
    found = sample;
    return true;
  });
  return found;
}

std::uint64_t CounterSeries::memory_bytes() const {
  return sizeof(*this) + closed_.capacity() * sizeof(Group) + bytes_.capacity() + open_bytes_.capacity();
}

void CounterTable::add(Key key, const CounterSample& sample) {
  const auto found = series_.find(key);
  if (found != series_.end())
    found->second.add(sample);
  else if (series_.size() < series_max)
    series_[key].add(sample);
  else
    ++left_out_;
}

std::uint64_t CounterTable::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, series] : series_) bytes += sizeof(key) + series.memory_bytes();
  return bytes;
}

}  // namespace hbmscope
