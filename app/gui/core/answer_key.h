// Identifies an answer: the question and everything that the answer depends on. Equal keys mean equal answers, so a
// computed answer is found again when the user goes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/query/profile_view.h"
#include "app/gui/core/address_time.h"
#include "app/gui/core/stack_blocks.h"
#include "app/gui/core/timeline_columns.h"
#include "app/gui/core/view_position.h"

namespace hbmscope::gui {

// What each question depends on, apart from source, filter and time.
namespace options {

struct Stacks {                // The samples that pass the filter, as frames.
  std::vector<HeapKey> heaps;  // Only of these; empty: of all.
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
  Flame flame;  // Search hits are node numbers of this flame graph.
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
struct LogLines {
  std::string file;
  std::uint64_t line = 0;
  bool operator==(const LogLines&) const = default;
};
struct Series {
  std::vector<SourceId> sources;
  bool operator==(const Series&) const = default;
};
struct Settings {
  bool operator==(const Settings&) const = default;
};
struct State {  // Live blocks at the selected time.
  bool falls_back_to_peak = false;
  bool operator==(const State&) const = default;
};
struct Compare {
  MomentName pin;
  bool operator==(const Compare&) const = default;
};
struct SideBySide {  // A is `source` of the key; B is its `baseline`, at the key's time.
  HeapKey heap_a, heap_b;
  MomentName at_a;
  bool operator==(const SideBySide&) const = default;
};
struct Headline {
  HeapKey heap;
  std::optional<std::size_t> failure;  // Index among the failures of the heap's stream.
  bool operator==(const Headline&) const = default;
};
struct Colors {
  bool operator==(const Colors&) const = default;
};
struct FilterValues {
  bool operator==(const FilterValues&) const = default;
};
struct HeapMap {
  HeapKey heap;
  HeapColoring coloring = HeapColoring::user_code;
  MomentName pin = {};  // Used by the coloring by change.
  std::shared_ptr<const TraceColors> colors = nullptr;
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
struct Stack {
  StackQuery query;
  TimelineSpan span;  // Empty: the whole trace.
  bool operator==(const Stack&) const = default;
};
struct Steps {
  HeapKey heap;
  bool operator==(const Steps&) const = default;
};
struct TierStacks {
  StackQuery query;  // Of the shown heap.
  std::vector<std::uint32_t> heaps;
  bool operator==(const TierStacks&) const = default;
};
struct StackBlocks {
  StackBlocksQuery query;
  bool operator==(const StackBlocks&) const = default;
};
struct AddressTime {
  AddressTimeQuery query;
  std::shared_ptr<const TraceColors> colors;
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
struct PoolCosts {
  HeapKey heap;
  bool operator==(const PoolCosts&) const = default;
};
struct WhatIf {
  HeapKey heap;
  std::string words;
  bool operator==(const WhatIf&) const = default;
};
struct Failure {
  HeapKey heap;
  std::size_t index = 0;  // Index among the failures of the stream.
  bool operator==(const Failure&) const = default;
};
struct Sizes {
  HeapKey heap;
  bool operator==(const Sizes&) const = default;
};

}  // namespace options

// The type of the alternative identifies the question.
using AnswerOptions =
    std::variant<std::monostate, options::Stacks, options::Summary, options::Top, options::Flame, options::Search,
                 options::Tree, options::Detail, options::Diff, options::Listing, options::LogLines, options::Series,
                 options::Settings, options::State, options::Compare, options::SideBySide, options::Headline,
                 options::Colors, options::HeapMap, options::LiveBlocks, options::Blocks, options::Address,
                 options::Events, options::Timeline, options::Stack, options::Steps, options::TierStacks,
                 options::StackBlocks, options::AddressTime, options::Range, options::Free, options::FreeHistory,
                 options::PoolCosts, options::WhatIf, options::Failure, options::Sizes, options::FilterValues>;

struct AnswerKey {
  SourceId source = SourceId::none;
  AnswerOptions options = {};
  MomentName at = {};        // The time in a trace, if the answer depends on it.
  ViewRequest request = {};  // The filter, if the answer depends on it.
  SourceId baseline = SourceId::none;

  friend bool operator==(const AnswerKey&, const AnswerKey&) = default;
};

// Hashes the question, its sources and its time: most keys differ in one of these.
struct AnswerKeyHash {
  std::size_t operator()(const AnswerKey& key) const;
};

}  // namespace hbmscope::gui
