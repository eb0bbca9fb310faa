// Does a live block hold a filter? Whatever asks about stacks and tags is worked out once a stack and once a text, so
// that a block costs a look-up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/query/block_list.h"

namespace hbmscope {

class BlockMatcher {
 public:
  static Result<BlockMatcher> make(const Trace& trace, const std::vector<StreamState>& states, std::string_view where);

  // Facts of a block of the same trace and states. What is unknown is neither larger nor smaller.
  bool matches(const BlockFacts& facts) const {
    return holds(*node_, [&](const WhereTerm& t) { return matches(t, facts); });
  }
  bool asks_for(std::string_view field) const;

 private:
  using Bits = std::vector<std::uint8_t>;

  bool matches(const WhereTerm& term, const BlockFacts& facts) const;
  bool matches_number(const WhereTerm& term, std::string_view field, const BlockFacts& facts) const;
  void prepare(const WhereNode& node, const Trace& trace, const std::vector<StreamState>& states);
  void prepare_term(const WhereTerm& term, const Trace& trace, const std::vector<StreamState>& states);

  std::vector<WhereField> fields_;
  std::shared_ptr<const WhereNode> node_;  // Where terms stay at their addresses.
  // Of terms about stacks: by stream and stack, whether it holds.
  std::map<const WhereTerm*, std::vector<Bits>> by_stack_;
  std::vector<const Definitions*> definitions_;               // By stream.
  std::vector<std::vector<std::uint64_t>> lowest_addresses_;  // By stream and heap, where a term asks for offsets.
};

}  // namespace hbmscope
