#include "analysis/trace/lent_stacks.h"

#include <map>
#include <utility>

#include "analysis/trace/layers.h"
#include "analysis/trace/same_process.h"

namespace hbmscope {
namespace {

bool has_addresses(const HeapInfo& heap) {
  return heap.has(wire::heap_flag::has_addresses);
}

// Lends the stacks of a heap to the blocks of another one.
class Lending {
 public:
  Lending(const std::vector<StreamState>& states, std::size_t lender, std::size_t borrower)
      : states_(states), lender_(lender), borrower_(borrower) {}

  void lend(const HeapInfo& from, const HeapInfo& to, std::vector<LentStack>& lent) const {
    const bool by_size = !has_addresses(from) || !has_addresses(to);
    struct Same {
      std::uint32_t stack = 0;
      std::size_t count = 0, wanted = 0;
      bool differs = false;
    };
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    const auto key_of = [&](const LiveBlock& block) {
      return by_size ? Key{0, size_class_of(block)} : Key{block.address, block.size};
    };
    std::map<Key, Same> offers;
    for_each(lender_, from.id, [&](const LiveBlock& block) {
      Same& same = offers[key_of(block)];
      same.differs = same.differs || (same.count > 0 && same.stack != block.stack);
      same.stack = block.stack;
      ++same.count;
    });
    for_each(borrower_, to.id, [&](const LiveBlock& block) {
      if (const auto offer = offers.find(key_of(block)); offer != offers.end()) ++offer->second.wanted;
    });
    for_each(borrower_, to.id, [&](const LiveBlock& block) {
      const auto offer = offers.find(key_of(block));
      if (block.stack != 0 || offer == offers.end()) return;
      const Same& same = offer->second;
      if (same.stack == 0 || same.differs || same.count < same.wanted) return;
      lent.resize(states_[borrower_].slots().size());
      if (LentStack& own = lent[block.slot]; own.stack == 0) own = {static_cast<std::uint32_t>(lender_), same.stack};
    });
  }

 private:
  template <class Visit>
  void for_each(std::size_t stream, std::uint32_t heap, const Visit& visit) const {
    for (const LiveBlock& block : states_[stream].slots())
      if (block.heap == heap && block.has_address()) visit(block);
  }

  const std::vector<StreamState>& states_;
  std::size_t lender_, borrower_;
};

}  // namespace

std::vector<std::vector<LentStack>> find_lent_stacks(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<std::vector<LentStack>> lent(trace.streams.size());
  if (trace.stream_processes.empty()) return lent;
  const auto counts = find_counted_heaps(trace);
  for (std::size_t to = 0; to < trace.streams.size(); ++to)
    for (std::size_t from = 0; from < trace.streams.size(); ++from) {
      if (from == to || trace.stream_processes[from] != trace.stream_processes[to]) continue;
      const Lending lending(states, from, to);
      for (const HeapInfo& heap : trace.streams[to].definitions().heaps())
        for (const HeapInfo& other : trace.streams[from].definitions().heaps())
          if (counts[to][heap.id] && can_share_memory(heap, other)) lending.lend(other, heap, lent[to]);
    }
  return lent;
}

}  // namespace hbmscope
