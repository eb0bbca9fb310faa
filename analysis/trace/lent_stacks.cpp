#include "analysis/trace/lent_stacks.h"

#include <map>
#include <utility>

#include "analysis/trace/layers.h"
#include "analysis/trace/same_process.h"

namespace hbmscope {
namespace {

// What all heaps that can share a heap's memory offer for its blocks.
class Offers {
 public:
  Offers(const StreamState& borrower, std::uint32_t heap)
      : borrower_(borrower), heap_(heap), found_(borrower.slots().size()) {}

  // `by_size`: one of both heaps has no addresses. `exactly`: both know the requested sizes.
  void add(std::uint32_t lender, const StreamState& state, std::uint32_t heap, bool by_size, bool exactly) {
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    struct Same {
      std::uint32_t stack = 0;
      std::size_t count = 0, wanted = 0;
      bool differs = false;
    };
    const auto key_of = [&](const LiveBlock& block) {
      if (!by_size) return Key{block.address, block.size};
      return exactly ? Key{1, block.requested} : Key{0, size_class_of(block)};
    };
    std::map<Key, Same> offers;
    for_each(state, heap, by_size, [&](const LiveBlock& block) {
      Same& same = offers[key_of(block)];
      same.differs = same.differs || (same.count > 0 && same.stack != block.stack);
      same.stack = block.stack;
      ++same.count;
    });
    for_each(borrower_, heap_, by_size, [&](const LiveBlock& block) {
      if (const auto offer = offers.find(key_of(block)); offer != offers.end()) ++offer->second.wanted;
    });
    for_each(borrower_, heap_, by_size, [&](const LiveBlock& block) {
      const auto offer = offers.find(key_of(block));
      if (block.stack != 0 || offer == offers.end()) return;
      const Same& same = offer->second;
      Offer& own = found_[block.slot];
      if (same.differs || same.count < same.wanted || own.is_offered)
        own.is_ambiguous = true;
      else if (same.stack != 0)
        own = {{lender, same.stack}, true, own.is_ambiguous};
    });
  }

  // Empty: nothing is certain.
  void take(std::vector<LentStack>& lent) const {
    for (std::size_t slot = 0; slot < found_.size(); ++slot) {
      if (!found_[slot].is_offered || found_[slot].is_ambiguous) continue;
      lent.resize(found_.size());
      lent[slot] = found_[slot].stack;
    }
  }

 private:
  struct Offer {
    LentStack stack;
    bool is_offered = false, is_ambiguous = false;
  };

  template <class Visit>
  static void for_each(const StreamState& state, std::uint32_t heap, bool by_size, const Visit& visit) {
    for (const LiveBlock& block : state.slots())
      if (block.heap == heap && block.has_address() && (!by_size || block.size >= telling_bytes_min)) visit(block);
  }

  const StreamState& borrower_;
  std::uint32_t heap_;
  std::vector<Offer> found_;  // By slot.
};

}  // namespace

std::vector<std::vector<LentStack>> find_lent_stacks(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<std::vector<LentStack>> lent(trace.streams.size());
  if (trace.stream_processes.empty()) return lent;
  const auto counts = find_counted_heaps(trace);
  for (std::size_t to = 0; to < trace.streams.size(); ++to)
    for (const HeapInfo& heap : trace.streams[to].definitions().heaps()) {
      if (heap.id == 0 || !counts[to][heap.id]) continue;
      Offers offers(states[to], heap.id);
      for (std::uint32_t from = 0; from < trace.streams.size(); ++from) {
        if (from == to || trace.stream_processes[from] != trace.stream_processes[to]) continue;
        for (const HeapInfo& other : trace.streams[from].definitions().heaps())
          if (can_share_memory(heap, other))
            offers.add(from, states[from], other.id, is_matched_by_size(heap, other),
                       heap.has(wire::heap_flag::has_requested) && other.has(wire::heap_flag::has_requested));
      }
      offers.take(lent[to]);
    }
  return lent;
}

}  // namespace hbmscope
