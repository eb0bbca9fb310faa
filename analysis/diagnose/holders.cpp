#include "analysis/diagnose/holders.h"

#include <algorithm>
#include <map>

#include "analysis/query/event_times.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// The block's stack, or that of the same memory in another file.
LentStack stack_of(std::size_t stream, const std::vector<LentStack>& lent, const LiveBlock& block) {
  if (block.stack == 0 && !lent.empty() && lent[block.slot].stack != 0) return lent[block.slot];
  return {static_cast<std::uint32_t>(stream), block.stack};
}

// Blocks that belong together. The oldest is the one that was allocated first.
struct Sum {
  std::uint64_t bytes = 0, blocks = 0;
  std::uint64_t oldest = wire::before_the_stream;  // A number above those of all events.

  void add(const Sum& sum) {
    bytes += sum.bytes;
    blocks += sum.blocks;
    oldest = std::min(oldest, sum.oldest);
  }
  void add(const LiveBlock& block) { add(Sum{block.size, 1, block.event}); }
};

using Sums = std::map<std::string, Sum>;

// Of the blocks' stacks: those of the stream itself are dense numbers.
class SumsOfStacks {
 public:
  explicit SumsOfStacks(std::uint32_t stream) : stream_(stream) {}
  void add(const LentStack& stack, const LiveBlock& block) {
    if (stack.stream != stream_ || stack.stack >= own_max) return others_[{stack.stream, stack.stack}].add(block);
    if (stack.stack >= own_.size()) own_.resize(std::max<std::size_t>(stack.stack + std::size_t{1}, 2 * own_.size()));
    own_[stack.stack].add(block);
  }
  std::uint64_t bytes_without_stack() const { return own_.empty() ? 0 : own_.front().bytes; }
  Sums by_code(const Trace& trace) const {
    Sums sums;
    const auto add_to = [&](std::uint32_t stream, std::uint32_t stack, const Sum& sum) {
      if (sum.blocks > 0) sums[user_code_text(trace.streams[stream].definitions(), stack)].add(sum);
    };
    for (std::uint32_t stack = 0; stack < own_.size(); ++stack) add_to(stream_, stack, own_[stack]);
    for (const auto& [key, sum] : others_) add_to(key.first, key.second, sum);
    return sums;
  }

 private:
  static constexpr std::uint32_t own_max = 1 << 20;
  std::uint32_t stream_;
  std::vector<Sum> own_;                                           // By stack.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> others_;  // By stream and stack.
};

std::vector<Holder> rows_of(const Stream& stream, std::int64_t now_ns, const Sums& sums) {
  std::vector<Holder> rows;
  WantedEvents<std::size_t> wanted;
  for (const auto& [name, sum] : sums) {
    if (stream.has_times() && sum.oldest != wire::before_the_stream) wanted.emplace_back(sum.oldest, rows.size());
    rows.push_back({name, sum.bytes, sum.blocks, {}});
  }
  find_event_times(stream, wanted, nullptr, [&](std::size_t row, std::int64_t time_ns) {
    rows[row].oldest_ns =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(time_ns));
  });
  std::stable_sort(rows.begin(), rows.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return rows;
}

}  // namespace

std::string text_from_holder(const Holder& holder) {
  std::string text = holder.name;
  if (const std::size_t gap = text.find("  "); gap != std::string::npos) text.erase(gap, 1);
  return text;
}

std::string_view text_from_by(Holders::By by) {
  switch (by) {
    case Holders::By::code: return "code";
    case Holders::By::category: return "category";
    case Holders::By::tag: return "tag";
    case Holders::By::size: return "size";
  }
  return "code";
}

HolderFinder::HolderFinder(const Trace& trace, const std::vector<StreamState>& states, HeapKey heap)
    : trace_(trace),
      state_(states[heap.stream]),
      heap_(heap),
      lent_(find_lent_stacks(trace, states)[heap.stream]),
      labels_(trace.streams[heap.stream]) {}

Holders HolderFinder::find(std::uint64_t since) const {
  const Stream& stream = trace_.streams[heap_.stream];
  Holders found;
  std::uint64_t with_category = 0, with_tag = 0;
  const auto for_each = [&](const auto& visit) {
    for (const LiveBlock& block : state_.slots())
      if (block.heap == heap_.heap && (since == 0 || (block.event != wire::before_the_stream && block.event >= since)))
        visit(block);
  };
  SumsOfStacks of_stacks(heap_.stream);
  for_each([&](const LiveBlock& block) {
    found.bytes += block.size;
    of_stacks.add(stack_of(heap_.stream, lent_, block), block);
    if (labels_.category(block) != Category::unknown) with_category += block.size;
    if (block.tag != 0) with_tag += block.size;
  });
  using enum Holders::By;
  if (2 * (found.bytes - of_stacks.bytes_without_stack()) < found.bytes)
    found.by = with_category >= with_tag && with_category > 0 ? category : with_tag > 0 ? tag : size;
  const auto name_of = [&](const LiveBlock& block) {
    if (found.by == category) return std::string(text_from_category(labels_.category(block)));
    if (found.by == size) return "blocks of " + text_from_bytes(block.size);
    return block.tag == 0 ? "(untagged)" : std::string(stream.definitions().text(block.tag));
  };
  Sums sums;
  if (found.by == code)
    sums = of_stacks.by_code(trace_);
  else
    for_each([&](const LiveBlock& block) { sums[name_of(block)].add(block); });
  found.rows = rows_of(stream, state_.time_ns(), sums);
  return found;
}

}  // namespace hbmscope
