// Does a live block match a filter? Conditions on stacks and texts are evaluated once per stack and text, so that each
// block costs only a lookup.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/query/block_labels.h"
#include "analysis/query/block_list.h"

namespace hbmscope {

class BlockMatcher {
 public:
  static Result<BlockMatcher> make(const Trace& trace, const std::vector<StreamState>& states, std::string_view where);

  // Facts must be of the same trace and states. An unknown value matches neither "larger" nor "smaller".
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
  std::shared_ptr<const WhereNode> node_;  // Shared, so that terms keep their addresses.
  // For terms on stacks: by stream and stack, whether it matches.
  std::map<const WhereTerm*, std::vector<Bits>> by_stack_;
  std::vector<const Definitions*> definitions_;               // By stream.
  std::vector<BlockLabels> labels_;                           // By stream, if a term uses them.
  std::vector<std::vector<std::uint64_t>> lowest_addresses_;  // By stream and heap, if a term uses offsets.
};

}  // namespace hbmscope
