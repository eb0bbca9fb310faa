#include "analysis/query/block_list_where.h"

#include <charconv>

#include "analysis/query/trace_user_code.h"

namespace hbmscope {
namespace {

bool is_about_stacks(std::string_view field) {
  return field == "stack" || field == "function" || field == "file" || field == "own" || field == "frame";
}

// A text that must differ has to differ in all frames, so that -function=x and function!=x agree.
WhereTerm positive_of(const WhereTerm& term) {
  WhereTerm positive = term;
  if (term.op == WhereOp::differs) positive.op = WhereOp::equals;
  return positive;
}

// By stack: does its frame in your code match, or the autograd thread? Stacks without both match no text.
std::vector<std::uint8_t> match_user_code(const Definitions& definitions, const WhereTerm& term) {
  std::vector<std::uint8_t> stacks(definitions.stack_count(), 0);
  for (std::uint32_t i = 0; i < stacks.size(); ++i) {
    const OwnPlace place = find_own_place(definitions, i);
    stacks[i] =
        term.matches_text(place.frame || place.is_autograd_thread ? user_code_text(definitions, i) : std::string()) ? 1
                                                                                                                    : 0;
  }
  return stacks;
}

// By stack: does any of its frames match? A stack's callers have smaller ids.
std::vector<std::uint8_t> match_stacks(const Definitions& definitions, const WhereTerm& term, std::string_view field) {
  if (field == "own") return match_user_code(definitions, term);
  const WhereTerm positive = positive_of(term);
  std::vector<std::uint8_t> frames(field == "frame" ? definitions.frame_count() : 0, 0);
  for (std::uint32_t i = 0; i < frames.size(); ++i)
    frames[i] = positive.matches_text(frame_text(definitions, definitions.frame(i))) ? 1 : 0;
  std::vector<std::uint8_t> texts(definitions.next_string(), 2);  // 2: not evaluated yet.
  const auto text_matches = [&](std::uint32_t text) {
    if (text >= texts.size()) return positive.matches_text({});
    if (texts[text] == 2) texts[text] = positive.matches_text(definitions.text(text)) ? 1 : 0;
    return texts[text] == 1;
  };
  std::vector<std::uint8_t> stacks(definitions.stack_count(), 0);
  for (std::uint32_t i = 1; i < stacks.size(); ++i) {
    const TraceStack stack = definitions.stack(i);
    const TraceFrame frame = definitions.frame(stack.frame);
    const bool by_frame = stack.frame < frames.size() && frames[stack.frame] != 0;
    stacks[i] = by_frame || (stack.parent < i && stacks[stack.parent] != 0) ||
                        (field != "file" && field != "frame" && text_matches(frame.function)) ||
                        (field != "function" && field != "frame" && text_matches(frame.file))
                    ? 1
                    : 0;
  }
  if (term.op == WhereOp::differs)
    for (std::uint8_t& one : stacks) one ^= 1;
  return stacks;
}

bool matches_device(const WhereTerm& term, const HeapInfo& heap) {
  std::uint32_t wanted = 0;
  const char* end = term.text.data() + term.text.size();
  const auto [rest, error] = std::from_chars(term.text.data(), end, wanted);
  if (term.pattern == nullptr && error == std::errc() && rest == end && heap.device != wire::no_device)
    return (heap.device == wanted) != (term.op == WhereOp::differs);
  return term.matches_text(heap.name);
}

// A block has many addresses: = tests whether it contains the address.
bool matches_place(const WhereTerm& term, std::uint64_t begin, std::uint64_t size) {
  const auto first = static_cast<double>(begin);
  if (term.op == WhereOp::equals || term.op == WhereOp::differs)
    return (first <= term.number && term.number < first + static_cast<double>(size)) == (term.op == WhereOp::equals);
  return term.matches_number(first);
}

// The name, or what the framework says of it. For != both must differ.
bool matches_array(const WhereTerm& term, const BlockLabels& labels, std::uint64_t allocation) {
  const bool by_name = term.matches_text(labels.name(allocation));
  const bool by_array = term.matches_text(labels.array(allocation));
  return term.op == WhereOp::differs ? by_name && by_array : by_name || by_array;
}

template <class T>
bool matches_known(const WhereTerm& term, const std::optional<T>& value) {
  return value && term.matches_number(static_cast<double>(*value));
}

}  // namespace

Result<BlockMatcher> BlockMatcher::make(const Trace& trace, const std::vector<StreamState>& states,
                                        std::string_view where) {
  BlockMatcher matcher;
  matcher.fields_ = block_where_fields(trace);
  auto node = parse_where(where, matcher.fields_);
  if (!node) return Failure(node.error());
  matcher.node_ = std::make_shared<const WhereNode>(std::move(*node));
  for (const Stream& stream : trace.streams) matcher.definitions_.push_back(&stream.definitions());
  matcher.prepare(*matcher.node_, trace, states);
  return matcher;
}

bool BlockMatcher::asks_for(std::string_view field) const {
  return has_term_of(*node_, fields_, field);
}

void BlockMatcher::prepare(const WhereNode& node, const Trace& trace, const std::vector<StreamState>& states) {
  if (node.kind == WhereNode::Kind::term) prepare_term(node.term, trace, states);
  for (const WhereNode& child : node.children) prepare(child, trace, states);
}

void BlockMatcher::prepare_term(const WhereTerm& term, const Trace& trace, const std::vector<StreamState>& states) {
  const std::string_view field = fields_[term.field].name;
  if ((field == "category" || field == "array" || field == "held") && labels_.empty()) labels_ = labels_of(trace);
  if (is_about_stacks(field))
    for (const Stream& stream : trace.streams)
      by_stack_[&term].push_back(match_stacks(stream.definitions(), term, field));
  if (field != "offset" || !lowest_addresses_.empty()) return;
  for (std::size_t i = 0; i < states.size(); ++i) {
    auto& heaps = lowest_addresses_.emplace_back(trace.streams[i].definitions().heaps().size());
    for (std::uint32_t heap = 0; heap < heaps.size(); ++heap) heaps[heap] = lowest_address(states[i], heap).value_or(0);
  }
}

bool BlockMatcher::matches(const WhereTerm& term, const BlockFacts& facts) const {
  const std::string_view field = fields_[term.field].name;
  if (is_about_stacks(field)) {
    const Bits& stacks = by_stack_.at(&term)[facts.stream];
    return facts.block.stack < stacks.size() ? stacks[facts.block.stack] != 0 : term.op == WhereOp::differs;
  }
  if (field == "tag") return term.matches_text(definitions_[facts.stream]->text(facts.block.tag));
  if (field == "category") return term.matches_text(text_from_category(labels_[facts.stream].category(facts.block)));
  if (field == "array") return matches_array(term, labels_[facts.stream], facts.block.event);
  if (field == "held") return term.matches_text(labels_[facts.stream].holder(facts.block.event));
  if (field == "heap") return term.matches_text(facts.heap->name);
  if (field == "layer") return term.matches_text(text_from_layer(facts.heap->layer));
  if (field == "device") return matches_device(term, *facts.heap);
  if (field == "state") return term.matches_text(facts.block.is_pending() ? "pending" : "live");
  return matches_number(term, field, facts);
}

bool BlockMatcher::matches_number(const WhereTerm& term, std::string_view field, const BlockFacts& facts) const {
  const LiveBlock& block = facts.block;
  if (field == "size") return term.matches_number(static_cast<double>(block.size));
  if (field == "requested") return matches_known(term, facts.requested);
  if (field == "waste") return matches_known(term, facts.waste);
  if (field == "rounding")
    return facts.waste && block.size > 0 &&
           term.matches_number(100.0 * static_cast<double>(*facts.waste) / static_cast<double>(block.size));
  if (field == "age") return matches_known(term, facts.age_ns);
  if (field == "lifetime") return matches_known(term, facts.lifetime_ns);
  if (field == "stream") return term.matches_number(block.stream);
  if (field == "event") return facts.age_events && term.matches_number(static_cast<double>(block.event));
  if (!facts.address) return false;
  if (field == "address") return matches_place(term, *facts.address, block.size);
  const std::uint64_t lowest = lowest_addresses_[facts.stream][block.heap];
  return *facts.address >= lowest && matches_place(term, *facts.address - lowest, block.size);
}

}  // namespace hbmscope
