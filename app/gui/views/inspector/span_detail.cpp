#include "app/gui/views/inspector/span_detail.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/block_labels.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {
namespace {

std::string exact(std::uint64_t bytes) {
  return exact_text_from_bytes(static_cast<std::int64_t>(bytes));
}
DetailLine bytes_line(std::string name, std::uint64_t amount) {
  return {std::move(name), text_from_bytes(amount), exact(amount), {}};
}

// Describes a block or gap of a heap.
class Describer {
 public:
  Describer(const HeapMapAnswer& map, const HeapSpan& span, const AddressAnswer* address, const BlockLabels* labels)
      : map_(map),
        span_(span),
        address_(address),
        labels_(labels),
        stream_(map.moment->stream(map.heap)),
        state_(map.moment->state_of(map.heap)),
        definitions_(stream_.definitions()) {}

  SpanDetail block() {
    const LiveBlock block = state_.slots()[span_.slot];
    const KnownStack known = stack_of(block);
    const std::string name = labels_ == nullptr ? std::string() : labels_->title(block.event);
    detail_.title = name.empty() ? user_code_text(*known.definitions, known.stack) : name;
    add_what(block);
    add_amount(block);
    add_where(block.address);
    add_when(block);
    add_elsewhere();
    add_inside();
    add_neighbours();
    detail_.stack_heading = "Allocated by" + (known.source.empty() ? "" : ", from " + known.source);
    add_stack(known);
    return std::move(detail_);
  }

  SpanDetail gap() {
    const bool is_free = span_.kind == SpanKind::free;
    detail_.title = is_free ? "Free" : "Not identified";
    auto& what = section("What");
    if (!is_free)
      what.push_back({"state", "unknown", "The source does not report where the memory of the pool is.", {}});
    if (is_free) what.push_back({"state", "free", {}, {}});
    const bool is_largest = map_.spans.largest_free && &span_ == &map_.spans.spans[*map_.spans.largest_free];
    if (is_largest)
      what.push_back({"", "the largest free block", "A larger request does not fit unless the pool grows.", {}});
    section("Size").push_back(bytes_line("size", span_.size));
    add_where(span_.begin);
    if (is_free) add_since();
    add_neighbours();
    return std::move(detail_);
  }

 private:
  std::vector<DetailLine>& section(std::string title) {
    return detail_.sections.emplace_back(DetailSection{std::move(title), {}}).lines;
  }

  void add_what(const LiveBlock& block) {
    auto& lines = section("What");
    if (block.tag != 0) lines.push_back({"tag", std::string(definitions_.text(block.tag)), {}, {}});
    const auto attributes = static_cast<std::ptrdiff_t>(lines.size());
    if (block.event != wire::before_the_stream)
      for (const Attribute& one : stream_.attributes().find(block.event)) {
        // If two have the same key, the later one is valid.
        lines.erase(std::remove_if(lines.begin() + attributes, lines.end(),
                                   [&](const DetailLine& line) { return line.name == definitions_.text(one.key); }),
                    lines.end());
        lines.push_back({std::string(definitions_.text(one.key)), std::string(definitions_.text(one.value)), {}, {}});
        if (lines.back().name == "shape") detail_.tiles = compute_tile_grid(lines.back().value);
      }
    if (std::none_of(lines.begin(), lines.end(), [](const auto& line) { return line.name == "category"; }))
      add_inferred_category(block, lines);
    lines.push_back({"state", span_.is_pending ? "released, but a device stream still needs it" : "in use", {}, {}});
    if (block.stream != 0) lines.push_back({"stream", std::to_string(block.stream), {}, {}});
  }

  // Not said of this block, but of others like it.
  void add_inferred_category(const LiveBlock& block, std::vector<DetailLine>& lines) const {
    const Category category = labels_ == nullptr ? Category::unknown : labels_->category(block);
    if (category == Category::unknown) return;
    lines.push_back({"category",
                     std::string(text_from_category(category)),
                     "Inferred from other blocks of the same array or of the same line and size, or from its stack.",
                     {}});
  }

  void add_amount(const LiveBlock& block) {
    auto& lines = section("Size");
    const bool is_reported =
        definitions_.heap(block.heap).has(wire::heap_flag::has_requested) && block.requested != wire::unknown_bytes;
    lines.push_back(is_reported ? bytes_line("requested", block.requested)
                                : DetailLine{"requested", "?", "The source does not report the requested size.", {}});
    lines.push_back(bytes_line("block", block.size));
    if (!is_reported || definitions_.heap(block.heap).has(wire::heap_flag::sizes_are_requests)) return;
    DetailLine waste = bytes_line(detail_.tiles ? "padding" : "rounding", span_.waste);
    if (span_.waste > 0)
      waste.value += ", " +
                     text_from_share(static_cast<std::int64_t>(span_.waste), static_cast<std::int64_t>(block.size)) +
                     " of the block";
    lines.push_back(std::move(waste));
  }

  void add_where(std::uint64_t address) {
    auto& lines = section("Where");
    const HeapInfo& heap = definitions_.heap(map_.heap.heap);
    if (heap.device != wire::no_device) lines.push_back({"device", std::to_string(heap.device), {}, {}});
    lines.push_back({"heap", name_of_heap(heap) + ", " + std::string(text_from_layer(heap.layer)), {}, {}});
    if (!heap.has(wire::heap_flag::has_addresses)) return;
    lines.push_back({"address", address_text(address), "to " + address_text(span_.end()), {}});
    const std::uint64_t lowest = map_.spans.regions.front().range.begin;
    lines.push_back(
        {"offset", offset_text(map_.spans, address), exact(address - lowest) + " from the lowest address", {}});
  }

  DetailLine event_line(std::string name, std::uint64_t event, const std::optional<std::int64_t>& time_ns) const {
    DetailLine line{std::move(name), "event " + text_from_count(event), "Click to go to that time.", {}};
    line.at = MomentName(*map_.moment->trace, map_.heap.stream, event + 1);
    if (time_ns) line.value = when_text(stream_, event, time_ns) + ", " + line.value;
    return line;
  }
  const HeldRow* now() const {
    return address_ != nullptr && address_->history.now ? &address_->history.rows[*address_->history.now] : nullptr;
  }

  void add_when(const LiveBlock& block) {
    auto& lines = section("When");
    const HeldRow* row = now();
    if (block.event == wire::before_the_stream) {
      lines.push_back({"allocated", "before the recording began", {}, {}});
    } else {
      lines.push_back(event_line("allocated", block.event, row != nullptr ? row->begin_ns : std::nullopt));
      const std::uint64_t events = state_.position() - std::min(state_.position(), block.event);
      DetailLine age{"age", text_from_count(events) + (events == 1 ? " event" : " events"), {}, {}};
      if (row != nullptr && row->begin_ns)
        age.value = text_from_duration_ns(state_.time_ns() - *row->begin_ns) + ", " + age.value;
      lines.push_back(std::move(age));
    }
    if (row == nullptr) {
      lines.push_back({"released", "...", "Searching.", {}});
      return;
    }
    static constexpr const char* names[] = {"released", "freed", "moved", "released", "released"};
    if (row->how == HeldEnd::lives) {
      lines.push_back({"released", "never, alive at the end", {}, {}});
    } else {
      DetailLine end = event_line(names[static_cast<std::size_t>(row->how)], row->end_event, row->end_ns);
      if (row->how == HeldEnd::heap_gone) end.value += ", with its heap";
      if (row->how == HeldEnd::not_listed) end.value += ", missing in a new listing";
      lines.push_back(std::move(end));
      if (row->begin_ns && row->end_ns)
        lines.push_back({"lifetime", text_from_duration_ns(*row->end_ns - *row->begin_ns), {}, {}});
    }
    const std::size_t next = *address_->history.now + 1;
    if (next < address_->history.rows.size()) {
      const HeldRow& later = address_->history.rows[next];
      DetailLine becomes = event_line("reused by", later.event, later.begin_ns);
      becomes.value =
          user_code_text(definitions_, later.stack) + ", " + text_from_bytes(later.size) + ", at " + becomes.value;
      lines.push_back(std::move(becomes));
    } else if (row->how != HeldEnd::lives) {
      lines.push_back({"reused by", "no later block", {}, {}});
    }
  }

  // The same bytes in other layers and files.
  void add_elsewhere() {
    if (address_ == nullptr || address_->elsewhere.empty()) return;
    auto& lines = section("Same memory");
    for (const SameMemory& other : address_->elsewhere) {
      const Definitions& definitions = map_.moment->trace->streams[other.stream].definitions();
      const LiveBlock block = map_.moment->states[other.stream].slots()[*other.place.slot];
      std::string what =
          block.tag != 0 ? std::string(definitions.text(block.tag)) : user_code_text(definitions, block.stack);
      if (const std::string doubt = ambiguity_text(other); !doubt.empty()) what += " (" + doubt + ")";
      lines.push_back({text_from_bytes(block.size), other.label + ": " + what, exact(block.size), block.address,
                       HeapKey{static_cast<std::uint32_t>(other.stream), other.heap}});
    }
  }

  // Values of a compiled program.
  void add_inside() {
    if (address_ == nullptr || address_->parts.empty()) return;
    constexpr std::size_t values_shown = 12;
    auto& lines = section("Program");
    const ProgramPart& part = address_->parts.front();
    const HeapKey key{static_cast<std::uint32_t>(part.stream), part.heap};
    lines.push_back({"holds", text_from_parts(address_->parts),
                     "Found by the size, which the compiler's plan has. Click to see the plan.", part.range.begin,
                     key});
    const Definitions& definitions = map_.moment->trace->streams[part.stream].definitions();
    const std::uint64_t events = map_.moment->trace->streams[part.stream].end_position();
    for (std::size_t i = 0; i < std::min(address_->values.size(), values_shown); ++i) {
      const ProgramValue& value = address_->values[i];
      lines.push_back({text_from_bytes(value.size),
                       fmt::format("{}  {}", definitions.text(value.tag), user_code_text(definitions, value.stack)),
                       fmt::format("{} at offset {}, live from event {} to {} of {}", value.shape, exact(value.offset),
                                   value.begin, value.end, events),
                       part.range.begin + value.offset, key});
    }
    if (address_->values.size() > values_shown)
      lines.push_back({"", fmt::format("and {} more values", address_->values.size() - values_shown), {}, {}});
  }

  void add_since() {
    auto& lines = section("When");
    if (address_ == nullptr) {
      lines.push_back({"free since", "...", "Searching.", {}});
      return;
    }
    const auto& since = address_->history.since;
    if (!since) {
      lines.push_back({"free since", "before the recording began", {}, {}});
      return;
    }
    lines.push_back(event_line("free since", since->event, since->time_ns));
    const std::string code = user_code_text(definitions_, since->allocated_stack);
    switch (since->why) {
      case FreeSince::Why::freed:
        lines.push_back({"previously", code + ", " + text_from_bytes(since->size), exact(since->size), {}});
        if (since->stack != 0) {
          detail_.stack_heading = "Released by";
          add_stack({&definitions_, since->stack, {}});
        }
        break;
      case FreeSince::Why::region_grew:
        lines.push_back({"previously",
                         "no memory: a region of " + text_from_bytes(since->size) + " was added",
                         exact(since->size),
                         {}});
        detail_.stack_heading = "Pool grown by";
        add_stack({&definitions_, since->stack, {}});
        break;
      case FreeSince::Why::other:
        lines.push_back({"previously", "a block of " + text_from_bytes(since->size), {}, {}});
        break;
    }
  }

  void add_neighbours() {
    auto& lines = section("Neighbours");
    const auto add = [&](const char* name, const HeapSpan* span) {
      if (span == nullptr) {
        lines.push_back({name, "the end of the region", {}, {}});
        return;
      }
      std::string words = span->kind == SpanKind::free ? "free" : "unknown";
      if (span->kind == SpanKind::block) words = user_code_text(definitions_, state_.slots()[span->slot].stack);
      lines.push_back({name, text_from_bytes(span->size) + "  " + words, exact(span->size), span->begin});
    };
    const HeapSpan* before = span_.begin == 0 ? nullptr : map_.spans.find(span_.begin - 1);
    add("before", before);
    add("after", map_.spans.find(span_.end()));
  }

  struct KnownStack {
    const Definitions* definitions;
    std::uint32_t stack = 0;
    std::string source;  // The heap that has it. Empty means the block's own.
  };
  // Without a stack of its own, that of the same memory in another file.
  KnownStack stack_of(const LiveBlock& block) const {
    if (block.stack == 0 && address_ != nullptr)
      for (const SameMemory& same : address_->elsewhere)
        if (const LiveBlock& other = map_.moment->states[same.stream].slots()[*same.place.slot];
            other.stack != 0 && !same.is_ambiguous() &&
            (same.is_by_size || (other.address == block.address && other.size == block.size)))
          return {&map_.moment->trace->streams[same.stream].definitions(), other.stack, same.label};
    return {&definitions_, block.stack, {}};
  }

  void add_stack(const KnownStack& known) {
    constexpr std::size_t frames_max = 4096;  // A damaged file may contain a stack of any length.
    const Definitions& definitions = *known.definitions;
    for (std::uint32_t stack = known.stack; stack != 0 && detail_.stack.size() < frames_max;
         stack = definitions.stack(stack).parent) {
      const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
      const std::string_view file = definitions.text(frame.file);
      StackLine line;
      line.frame = {std::string(definitions.text(frame.function)), std::string(file), frame.line};
      line.text =
          line.frame.function + "  " + file_title(file) + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
      line.is_own = file.ends_with(".py") && !is_library_file(file);
      detail_.stack.push_back(std::move(line));
    }
  }

  const HeapMapAnswer& map_;
  const HeapSpan& span_;
  const AddressAnswer* address_;
  const BlockLabels* labels_;
  const Stream& stream_;
  const StreamState& state_;
  const Definitions& definitions_;
  SpanDetail detail_;
};

}  // namespace

SpanDetail detail_of_span(const HeapMapAnswer& map, const HeapSpan& span, const AddressAnswer* address,
                          const BlockLabels* labels) {
  const bool is_of_it = address != nullptr && address->heap == map.heap && address->moment == map.moment &&
                        address->range == AddressRange{span.begin, span.end()};
  Describer describer(map, span, is_of_it ? address : nullptr, labels);
  return span.kind == SpanKind::block ? describer.block() : describer.gap();
}

std::string title_of_history(std::size_t shown, std::size_t all) {
  return (shown < all ? text_from_count(shown) + " of " : std::string()) + text_from_count_of(all, "allocation") +
         (all > 1 ? ", oldest first" : "");
}

HistoryLine history_line(const AddressAnswer& address, std::size_t index) {
  const HeldRow& row = address.history.rows[index];
  const Stream& stream = address.moment->stream(address.heap);
  const auto when = [&](std::uint64_t event, const std::optional<std::int64_t>& time_ns) {
    if (event == HeldRow::no_event) return std::string("before the recording");
    return when_text(stream, event, time_ns);
  };
  HistoryLine line;
  line.when = row.event == HeldRow::no_event ? "before" : when(row.event, row.begin_ns);  // The column is narrow.
  line.size = text_from_bytes(row.size);
  line.code = user_code_text(stream.definitions(), row.stack);
  line.event = row.event == HeldRow::no_event ? 0 : row.event;
  line.is_now = address.history.now == index;
  line.exact =
      exact(row.size) + " from " + address_text(row.address) + "\nfrom " + when(row.event, row.begin_ns) +
      (row.event == HeldRow::no_event ? "" : " (event " + text_from_count(row.event) + ")") + " to " +
      (row.how == HeldEnd::lives ? "the end"
                                 : when(row.end_event, row.end_ns) + " (event " + text_from_count(row.end_event) + ")");
  return line;
}

std::vector<const HeapSpan*> blocks_in(const HeapSpans& spans, AddressRange cell) {
  std::vector<const HeapSpan*> found;
  const HeapSpan* span = spans.find(cell.begin);
  const HeapSpan* const end = spans.spans.data() + spans.spans.size();
  for (; span != nullptr && span != end && span->begin < cell.end; ++span)
    if (span->kind == SpanKind::block) found.push_back(span);
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
  return found;
}

TextTable table_from_span(const SpanDetail& detail, const AddressAnswer* address) {
  TextTable table;
  table.head = detail.title;
  table.columns = {{"What"}, {"Name"}, {"Value"}};
  const auto add = [&](std::string_view what, std::string_view name, const std::string& value) {
    table.rows.push_back({{std::string(what), {}}, {std::string(name), {}}, {value, {}}});
  };
  for (const DetailSection& section : detail.sections)
    for (const DetailLine& line : section.lines)
      add(section.title, line.name, line.exact.empty() ? line.value : line.value + " (" + line.exact + ")");
  for (const StackLine& line : detail.stack) add(detail.stack_heading, "", line.text);
  if (address == nullptr) return table;
  for (std::size_t i = 0; i < address->history.rows.size(); ++i) {
    HistoryLine line = history_line(*address, i);
    std::replace(line.exact.begin(), line.exact.end(), '\n', ' ');
    add("History", line.is_now ? "now" : "", line.code + ", " + line.exact);
  }
  return table;
}

}  // namespace hbmscope::gui
