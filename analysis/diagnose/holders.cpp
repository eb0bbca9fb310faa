#include "analysis/diagnose/holders.h"

#include <algorithm>
#include <map>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// The block's stack, or that of the same memory in another file.
LentStack stack_of(std::size_t stream, const std::vector<LentStack>& lent, const LiveBlock& block) {
  if (block.stack == 0 && !lent.empty() && lent[block.slot].stack != 0) return lent[block.slot];
  return {static_cast<std::uint32_t>(stream), block.stack};
}

class Sums {
 public:
  Holder& of(const std::string& name) { return holders_[name]; }

  std::vector<Holder> take() {
    std::vector<Holder> rows;
    for (auto& [name, holder] : holders_) {
      holder.name = name;
      rows.push_back(std::move(holder));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
    return rows;
  }

 private:
  std::map<std::string, Holder> holders_;
};

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
      states_(states),
      heap_(heap),
      lent_(find_lent_stacks(trace, states)[heap.stream]),
      labels_(trace.streams[heap.stream]) {
  const LiveRows live = *collect_live_rows(trace, states, false);
  for (const LiveRow& row : live.rows)
    if (row.stream == heap.stream && states[heap.stream].slots()[row.slot].heap == heap.heap) rows_.push_back(row);
}

Holders HolderFinder::find(std::uint64_t since) const {
  const Definitions& definitions = trace_.streams[heap_.stream].definitions();
  const auto slots = states_[heap_.stream].slots();
  Holders found;
  std::uint64_t with_stack = 0, with_category = 0, with_tag = 0;
  const auto for_each = [&](const auto& visit) {
    for (const LiveRow& row : rows_) {
      const LiveBlock& block = slots[row.slot];
      if (since == 0 || (block.event != wire::before_the_stream && block.event >= since)) visit(block, row);
    }
  };
  for_each([&](const LiveBlock& block, const LiveRow&) {
    found.bytes += block.size;
    if (stack_of(heap_.stream, lent_, block).stack != 0) with_stack += block.size;
    if (labels_.category(block) != Category::unknown) with_category += block.size;
    if (block.tag != 0) with_tag += block.size;
  });
  using enum Holders::By;
  if (2 * with_stack < found.bytes)
    found.by = with_category >= with_tag && with_category > 0 ? category : with_tag > 0 ? tag : size;
  Sums sums;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Holder*> of_stack;  // By stream and stack.
  for_each([&](const LiveBlock& block, const LiveRow& row) {
    const LentStack stack = stack_of(heap_.stream, lent_, block);
    Holder* holder = nullptr;
    switch (found.by) {
      case code: {
        Holder*& known = of_stack[{stack.stream, stack.stack}];
        if (known == nullptr) known = &sums.of(user_code_text(trace_.streams[stack.stream].definitions(), stack.stack));
        holder = known;
        break;
      }
      case category: holder = &sums.of(std::string(text_from_category(labels_.category(block)))); break;
      case tag: holder = &sums.of(block.tag == 0 ? "(untagged)" : std::string(definitions.text(block.tag))); break;
      case size: holder = &sums.of("blocks of " + text_from_bytes(block.size)); break;
    }
    holder->bytes += block.size;
    ++holder->blocks;
    if (const auto age_ns = facts_of(trace_, states_, row).age_ns)
      holder->oldest_ns = std::max(*age_ns, holder->oldest_ns.value_or(0));
  });
  found.rows = sums.take();
  return found;
}

}  // namespace hbmscope
