#include "app/gui/core/stack_blocks.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/query/group_walk.h"
#include "app/gui/core/lit_shades.h"

namespace hbmscope::gui {
namespace {

// Each block that is large enough is a group of its own while it lives; group 0 is everything else. The number of a
// block that was freed is given to another one.
class LargeBlocks {
 public:
  explicit LargeBlocks(std::uint64_t least_bytes) : least_bytes_(least_bytes), by_number_(1) {}

  std::uint32_t number_of(const LiveBlock& block) {
    if (block.size < least_bytes_) return 0;
    const auto [found, is_new] = numbers_.try_emplace(key_of(block), 0);
    if (!is_new) return found->second;
    if (unused_.empty()) {
      found->second = static_cast<std::uint32_t>(by_number_.size());
      by_number_.push_back(block);
    } else {
      found->second = unused_.back();
      unused_.pop_back();
      by_number_[found->second] = block;
    }
    return found->second;
  }
  std::uint32_t number_of(const PhysicalHandle&) const { return 0; }

  const LiveBlock& block(std::uint32_t number) const { return by_number_[number]; }
  void forget(std::uint32_t number) {
    numbers_.erase(key_of(by_number_[number]));
    unused_.push_back(number);
  }

 private:
  // Blocks from before the stream have no event. A listing numbers slots anew, so they are known by their addresses.
  struct Key {
    std::uint64_t event = 0, address = 0, size = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.event ^ key.address * 31 ^ key.size) * 0x9e3779b97f4a7c15U);
    }
  };
  static Key key_of(const LiveBlock& block) {
    return block.event == wire::before_the_stream ? Key{block.event, block.address, block.size} : Key{block.event};
  }

  std::uint64_t least_bytes_;
  std::vector<LiveBlock> by_number_;
  std::unordered_map<Key, std::uint32_t, HashOfKey> numbers_;
  std::vector<std::uint32_t> unused_;
};

// In which order the blocks of a column lie on each other.
struct StackRank {
  std::size_t band = 0;
  bool is_dim = false;
  std::uint64_t event = 0, address = 0;
  friend auto operator<=>(const StackRank&, const StackRank&) = default;
};

}  // namespace

class StackBlocks::Walk {
 public:
  Walk(const Trace& trace, StackBlocks& made, std::span<const std::uint64_t> positions)
      : stream_(trace.streams[made.query_.course->query().heap.stream]),
        labels_(stream_),
        shades_(trace, labels_, made.query_.course->query()),
        large_(made.query_.least_bytes),
        made_(made),
        positions_(positions) {
    const StackQuery& query = made.query_.course->query();
    const std::vector<Shade> order = query.colors->stack_order(query.coloring);
    for (std::size_t i = 0; i < order.size(); ++i) band_of_[order[i]] = i;
  }

  bool run(PassControl* control) {
    if (control != nullptr) control->total_events = positions_.back() - positions_.front();
    GroupWalk<LargeBlocks, Walk> walk(stream_, made_.query_.course->query().heap.heap, large_, *this);
    const bool is_complete = walk.run(positions_.front(), positions_.back(), [control](std::uint64_t events) {
      if (control == nullptr) return true;
      control->done_events += events;
      return !control->cancelled;
    });
    while (made_.columns_.size() < positions_.size()) made_.columns_.push_back(shown_);
    return is_complete;
  }

  void changed(std::uint32_t number, std::uint64_t bytes) {
    if (number == 0) return;
    is_changed_ = true;
    const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& one) { return one.number == number; });
    if (bytes == 0) {
      if (found != live_.end()) {
        if (found->block) ended_.push_back(*found->block);
        live_.erase(found);
      }
      large_.forget(number);
      return;
    }
    if (found != live_.end()) return;
    const LiveBlock& block = large_.block(number);
    const std::uint32_t group = shades_.number_of(block);
    const bool is_lit = shades_.is_lit(group);
    const Shade shade = shades_.shade_of(group);
    const bool is_early = block.event == wire::before_the_stream;
    const Live added{
        {band_of_[shade], !is_lit, is_early ? 0 : block.event + 1, block.address}, number, shade, is_lit, {}};
    live_.insert(std::upper_bound(live_.begin(), live_.end(), added,
                                  [](const Live& a, const Live& b) { return a.rank < b.rank; }),
                 added);
  }
  void point(const GroupPoint& point) {
    for (const std::uint32_t block : ended_)
      made_.ends_[block] = End{point.position - std::min<std::uint64_t>(1, point.position), point.time_ns};
    ended_.clear();
    if (point.position < next_) return;
    std::vector<Column>& columns = made_.columns_;
    while (columns.size() < positions_.size() && positions_[columns.size()] < point.position) columns.push_back(shown_);
    if (columns.size() == positions_.size()) return;
    next_ = positions_[columns.size()];
    if (next_ == point.position) show();
  }

 private:
  struct Live {
    StackRank rank;
    std::uint32_t number = 0;
    Shade shade = several_shade;
    bool is_lit = true;
    std::optional<std::uint32_t> block;  // Index into blocks_, once a column shows it.
  };

  void show() {
    if (!is_changed_) return;
    is_changed_ = false;
    shown_ = {made_.placed_.size(), live_.size()};
    for (Live& one : live_) {
      if (!one.block) {
        one.block = static_cast<std::uint32_t>(made_.blocks_.size());
        made_.blocks_.push_back(large_.block(one.number));
        made_.ends_.emplace_back();
      }
      made_.placed_.push_back({*one.block, one.shade, one.is_lit, 0});
    }
    std::uint64_t depth = 0;
    for (std::size_t i = made_.placed_.size(); i-- > shown_.first;) {
      PlacedBlock& one = made_.placed_[i];
      const PlacedBlock* above = i + 1 < made_.placed_.size() ? &made_.placed_[i + 1] : nullptr;
      if (above != nullptr && (above->shade != one.shade || above->is_lit != one.is_lit)) depth = 0;
      depth += made_.blocks_[one.block].size;
      one.depth = depth;
    }
  }

  const Stream& stream_;
  BlockLabels labels_;
  LitShades shades_;
  LargeBlocks large_;
  StackBlocks& made_;
  std::span<const std::uint64_t> positions_;  // One per column, ascending.
  std::uint64_t next_ = 0;                    // Of the next column.
  std::array<std::size_t, shade_count> band_of_{};
  std::vector<Live> live_;            // By rank: a column has room for some hundred blocks that are large enough.
  std::vector<std::uint32_t> ended_;  // Indices into blocks_: freed by the event whose point comes next.
  bool is_changed_ = false;
  Column shown_;
};

std::optional<StackBlocks> StackBlocks::compute(const Trace& trace, StackBlocksQuery query, PassControl* control) {
  StackBlocks made;
  made.query_ = std::move(query);
  std::vector<std::uint64_t> positions;
  for (const Composition& column : made.query_.course->columns(made.query_.span, made.query_.columns))
    positions.push_back(positions.empty() ? column.position : std::max(positions.back(), column.position));
  if (positions.empty()) return made;
  if (!Walk(trace, made, positions).run(control)) return std::nullopt;
  return made;
}

std::size_t StackBlocks::memory_bytes() const {
  return sizeof(*this) + blocks_.size() * (sizeof(LiveBlock) + sizeof(std::optional<End>)) +
         placed_.size() * sizeof(PlacedBlock) + columns_.size() * sizeof(Column);
}

}  // namespace hbmscope::gui
