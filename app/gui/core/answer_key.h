// Which answer is wanted: a question with all that its answer depends on. Two keys are equal exactly where the answers
// are, so an answer that was computed once is found again when a person goes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analysis/query/profile_view.h"
#include "app/gui/core/address_time.h"
#include "app/gui/core/timeline_columns.h"
#include "app/gui/core/view_position.h"

namespace hbmscope::gui {

// What one question depends on apart from source, filter and moment.
namespace options {

struct Stacks {  // The samples that the filter keeps, as frames.
  bool operator==(const Stacks&) const = default;
};
struct Summary {
  bool operator==(const Summary&) const = default;
};
struct Top {
  bool operator==(const Top&) const = default;
};
struct Flame {
  TreeDirection direction = TreeDirection::callees;
  bool folds_library = false;
  FlameValue value = FlameValue::bytes;
  bool operator==(const Flame&) const = default;
};
struct Search {
  Flame flame;  // Hits are numbers of its nodes.
  std::string text;
  bool operator==(const Search&) const = default;
};
struct Tree {
  TreeDirection direction = TreeDirection::callees;
  bool operator==(const Tree&) const = default;
};
struct Detail {
  FrameKey frame;
  bool operator==(const Detail&) const = default;
};
struct Diff {
  StackMatch match = StackMatch::function;
  bool operator==(const Diff&) const = default;
};
struct Listing {
  FrameKey frame;
  bool operator==(const Listing&) const = default;
};
struct Series {
  std::vector<SourceId> sources;
  bool operator==(const Series&) const = default;
};
struct Settings {
  bool operator==(const Settings&) const = default;
};
struct State {  // What lives at the moment.
  bool falls_back_to_peak = false;
  bool operator==(const State&) const = default;
};
struct Compare {
  MomentName pin;
  bool operator==(const Compare&) const = default;
};
struct Beside {  // A is `source` of the key; B is its `baseline`, at the key's moment.
  HeapKey heap_a, heap_b;
  MomentName at_a;
  bool operator==(const Beside&) const = default;
};
struct HeapMap {
  HeapKey heap;
  HeapColoring coloring = HeapColoring::automatic;
  MomentName pin = {};  // For the colours of a change.
  // The other side, where both are coloured by one rule.
  SourceId other_source = SourceId::none;
  HeapKey other_heap = {};
  MomentName other_at = {};
  bool operator==(const HeapMap&) const = default;
};
struct LiveBlocks {
  bool with_ends = false;
  bool operator==(const LiveBlocks&) const = default;
};
struct Blocks {
  BlockQuery query;
  bool marks_hits = false, with_ends = false;
  bool operator==(const Blocks&) const = default;
};
struct Address {
  HeapKey heap;
  AddressRange range;
  bool operator==(const Address&) const = default;
};
struct Events {
  std::size_t stream = 0;
  std::uint64_t first = 0;
  bool operator==(const Events&) const = default;
};
struct Timeline {
  HeapKey heap;
  TimelineSpan span;
  std::size_t columns = 0;
  TimelineEffort effort = TimelineEffort::at_once;
  bool operator==(const Timeline&) const = default;
};
struct AddressTime {
  AddressTimeQuery query;
  bool operator==(const AddressTime&) const = default;
};
struct Range {
  TimeRange range;
  bool operator==(const Range&) const = default;
};
struct Free {
  HeapKey heap;
  bool operator==(const Free&) const = default;
};
struct FreeHistory {
  HeapKey heap;
  bool operator==(const FreeHistory&) const = default;
};
struct Failure {
  HeapKey heap;
  std::size_t index = 0;  // Among the failures of the stream.
  bool operator==(const Failure&) const = default;
};
struct Sizes {
  HeapKey heap;
  bool operator==(const Sizes&) const = default;
};

}  // namespace options

// The type says which question it is.
using AnswerOptions =
    std::variant<std::monostate, options::Stacks, options::Summary, options::Top, options::Flame, options::Search,
                 options::Tree, options::Detail, options::Diff, options::Listing, options::Series, options::Settings,
                 options::State, options::Compare, options::Beside, options::HeapMap, options::LiveBlocks,
                 options::Blocks, options::Address, options::Events, options::Timeline, options::AddressTime,
                 options::Range, options::Free, options::FreeHistory, options::Failure, options::Sizes>;

struct AnswerKey {
  SourceId source = SourceId::none;
  AnswerOptions options = {};
  MomentName at = {};        // Of a trace, where the answer depends on it.
  ViewRequest request = {};  // The filter, likewise.
  SourceId baseline = SourceId::none;

  friend bool operator==(const AnswerKey&, const AnswerKey&) = default;
};

// Of the question, its sources and its moment, which is where most keys differ.
struct AnswerKeyHash {
  std::size_t operator()(const AnswerKey& key) const;
};

}  // namespace hbmscope::gui
