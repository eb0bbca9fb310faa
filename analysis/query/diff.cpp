#include "analysis/query/diff.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/model/device_name.h"
#include "analysis/query/groups.h"
#include "analysis/query/stack_trie.h"

namespace hbmscope {
namespace {

Change change_of(const Weight& baseline, const Weight& now) {
  const auto is_absent = [](const Weight& w) { return w.bytes == 0 && w.count == 0 && w.unknown == 0; };
  if (is_absent(baseline) && !is_absent(now)) return Change::added;
  if (!is_absent(baseline) && is_absent(now)) return Change::gone;
  if (now.bytes != baseline.bytes) return now.bytes > baseline.bytes ? Change::grown : Change::shrunk;
  if (now.count != baseline.count) return now.count > baseline.count ? Change::grown : Change::shrunk;
  return Change::same;
}

// Frames of both sides under one numbering: equal function and file tail (and line) are one symbol.
class SymbolTable {
 public:
  explicit SymbolTable(StackMatch match) : match_(match) {}

  std::vector<std::uint32_t> symbols_of(const ProfileView& view) {
    std::vector<std::uint32_t> symbols;
    symbols.reserve(view.frames.size());
    for (const Frame& frame : view.frames) {
      std::string key = frame.function;
      key += '\0';
      key += file_tail(frame.file);
      if (match_ == StackMatch::line) {
        key += '\0';
        key += std::to_string(frame.line);
      }
      symbols.push_back(rows_.try_emplace(std::move(key), static_cast<std::uint32_t>(rows_.size())).first->second);
    }
    return symbols;
  }
  std::size_t size() const { return rows_.size(); }

 private:
  StackMatch match_;
  std::unordered_map<std::string, std::uint32_t> rows_;
};

// One side of the comparison: its frames as symbols of the match, and as symbols by line.
struct Side {
  const ProfileView* view = nullptr;
  std::vector<std::uint32_t> symbols, line_symbols;
  std::uint32_t first_frame = 0;  // Where this side's frames begin in ProfileDiff::frame_table.
};

// A stack by line. Stacks are matched without lines, yet a row names the line that changed most: of the stacks by line
// that a row stands for, the one with the largest change.
struct LineStack {
  Weight baseline, now;
  std::uint32_t row_node = 0;  // Its node in the trie of the match.
  const Side* side = nullptr;  // Where an example of it is; `now` if it is there.
  std::uint32_t sample = 0;
};

class StackMatcher {
 public:
  void add(const Side& side, Weight LineStack::*weight) {
    const ProfileView& view = *side.view;
    std::vector<FrameIndex> stack;
    for (std::size_t i = 0; i < view.sample_count(); ++i) {
      const std::uint32_t sample = view.sample(i);
      stack.clear();
      for (const LocationIndex location : view.stack(sample))
        for (const FrameIndex frame : view.frames_of(location)) stack.push_back(frame);
      std::uint32_t node = StackTrie::root, line_node = StackTrie::root;
      for (std::size_t k = stack.size(); k-- > 0;) {
        node = rows_.child(node, side.symbols[row(stack[k])]);
        line_node = lines_.child(line_node, side.line_symbols[row(stack[k])]);
      }
      if (stacks_.size() < lines_.nodes().size()) stacks_.resize(std::max(lines_.nodes().size(), stacks_.size() * 2));
      LineStack& found = stacks_[line_node];
      if (found.side == nullptr) {
        found.side = &side;
        found.sample = sample;
        found.row_node = node;
      }
      found.*weight += view.weight(sample);
    }
  }

  std::vector<DiffRow> rows() {
    struct Candidate {
      Weight baseline, now;
      const LineStack* example = nullptr;
    };
    std::vector<Candidate> candidates(rows_.nodes().size());
    for (const LineStack& stack : stacks_) {
      if (stack.side == nullptr) continue;
      Candidate& candidate = candidates[stack.row_node];
      candidate.baseline += stack.baseline;
      candidate.now += stack.now;
      if (candidate.example == nullptr || is_better_example(stack, *candidate.example)) candidate.example = &stack;
    }
    std::vector<DiffRow> rows;
    for (const Candidate& candidate : candidates) {
      if (candidate.example == nullptr) continue;
      DiffRow& diff_row = rows.emplace_back();
      diff_row.change = change_of(candidate.baseline, candidate.now);
      diff_row.baseline = candidate.baseline;
      diff_row.now = candidate.now;
      const Side& side = *candidate.example->side;
      for (const FrameIndex frame : side.view->visible_stack(candidate.example->sample))
        diff_row.stack.push_back(static_cast<FrameIndex>(row(frame) + side.first_frame));
    }
    return rows;
  }

 private:
  static bool is_better_example(const LineStack& a, const LineStack& b) {
    const auto change = [](const LineStack& s) { return std::llabs(s.now.bytes - s.baseline.bytes); };
    if (change(a) != change(b)) return change(a) > change(b);
    return a.now.bytes > b.now.bytes;
  }

  StackTrie rows_, lines_;
  std::vector<LineStack> stacks_;  // By node of lines_.
};

std::vector<GroupDiffRow> compare_groups(const ProfileView& baseline, const ProfileView& now, std::string_view key) {
  const std::vector<GroupRow> before = compute_groups(baseline, key), after = compute_groups(now, key);
  std::vector<GroupDiffRow> rows;
  for (const GroupRow& group : after) rows.push_back({group.name, {}, group.weight});
  for (const GroupRow& group : before) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const GroupDiffRow& row) { return row.name == group.name; });
    if (found != rows.end())
      found->baseline = group.weight;
    else
      rows.push_back({group.name, group.weight, {}});
  }
  if (key == "device")
    std::stable_sort(rows.begin(), rows.end(), [](const GroupDiffRow& a, const GroupDiffRow& b) {
      if (!a.name || !b.name) return a.name.has_value() && !b.name;
      return device_before(parse_device_name(*a.name), parse_device_name(*b.name));
    });
  return rows;
}

// Flat and cumulative sums of one side, by symbol; a symbol that recurs in a stack counts once.
class FrameSums {
 public:
  FrameSums(const Side& side, std::size_t symbols)
      : flat(symbols), cum(symbols), seen_(symbols), line_flat(side.view->frames.size()) {
    const ProfileView& view = *side.view;
    for (std::size_t i = 0; i < view.sample_count(); ++i) {
      const std::uint32_t sample = view.sample(i);
      const Weight weight = view.weight(sample);
      bool is_innermost = true;
      for (const LocationIndex location : view.stack(sample))
        for (const FrameIndex frame : view.frames_of(location)) {
          const std::uint32_t symbol = side.symbols[row(frame)];
          if (is_innermost) {
            flat[symbol] += weight;
            line_flat[row(frame)] += weight.bytes;
          }
          is_innermost = false;
          if (seen_[symbol] == sample + 1) continue;
          seen_[symbol] = sample + 1;
          cum[symbol] += weight;
        }
    }
  }

  std::vector<Weight> flat, cum;

 private:
  std::vector<std::uint32_t> seen_;

 public:
  std::vector<std::int64_t> line_flat;  // By the view's own frames: which line of a function holds most.
};

std::vector<FrameDiffRow> compare_frames(const Side& baseline, const Side& now, std::size_t symbols) {
  const FrameSums before(baseline, symbols), after(now, symbols);
  std::vector<FrameDiffRow> rows(symbols);
  for (std::size_t i = 0; i < symbols; ++i) {
    rows[i].baseline_flat = before.flat[i];
    rows[i].baseline_cum = before.cum[i];
    rows[i].now_flat = after.flat[i];
    rows[i].now_cum = after.cum[i];
    rows[i].change = change_of(before.cum[i], after.cum[i]);
  }
  // A function is shown at the line of it that holds most, in `now` where it is there.
  std::vector<std::int64_t> best(symbols, -1);
  const auto name_frames = [&](const Side& side, const FrameSums& sums, bool only_missing) {
    std::vector<bool> had(symbols);
    for (std::size_t i = 0; i < symbols; ++i) had[i] = best[i] >= 0;
    for (std::size_t frame = 0; frame < side.view->frames.size(); ++frame) {
      const std::uint32_t symbol = side.symbols[frame];
      if ((only_missing && had[symbol]) || sums.line_flat[frame] <= best[symbol]) continue;
      best[symbol] = sums.line_flat[frame];
      rows[symbol].frame = side.view->frames[frame];
    }
  };
  name_frames(now, after, false);
  name_frames(baseline, before, true);
  std::erase_if(rows, [](const FrameDiffRow& r) { return r.baseline_cum == Weight{} && r.now_cum == Weight{}; });
  const auto delta = [](const FrameDiffRow& r) { return std::llabs(r.now_flat.bytes - r.baseline_flat.bytes); };
  const auto cum_delta = [](const FrameDiffRow& r) { return std::llabs(r.now_cum.bytes - r.baseline_cum.bytes); };
  std::sort(rows.begin(), rows.end(), [&](const FrameDiffRow& a, const FrameDiffRow& b) {
    if (delta(a) != delta(b)) return delta(a) > delta(b);
    if (cum_delta(a) != cum_delta(b)) return cum_delta(a) > cum_delta(b);
    if (a.frame.function != b.frame.function) return a.frame.function < b.frame.function;
    return a.frame.file < b.frame.file;
  });
  return rows;
}

std::string name_of(const ProfileView& view) {
  const std::vector<std::string>& files = view.profile->files;
  if (files.empty()) return "?";
  return files.size() == 1 ? files.front() : fmt::format("{} and {} more", files.front(), files.size() - 1);
}

}  // namespace

std::string_view text_from_change(Change change) {
  switch (change) {
    case Change::grown: return "grown";
    case Change::added: return "new";
    case Change::shrunk: return "shrunk";
    case Change::gone: return "gone";
    case Change::same: return "same";
  }
  return {};
}

ProfileDiff compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match) {
  ProfileDiff diff;
  diff.baseline_name = name_of(baseline);
  diff.now_name = name_of(now);
  diff.match = match;
  diff.baseline = baseline.selected;
  diff.now = now.selected;

  SymbolTable table(match), line_table(StackMatch::line);
  const auto side_of = [&](const ProfileView& view) {
    Side side{&view, table.symbols_of(view), line_table.symbols_of(view),
              static_cast<std::uint32_t>(diff.frame_table.size())};
    diff.frame_table.insert(diff.frame_table.end(), view.frames.begin(), view.frames.end());
    return side;
  };
  const Side now_side = side_of(now), baseline_side = side_of(baseline);
  StackMatcher matcher;
  matcher.add(now_side, &LineStack::now);
  matcher.add(baseline_side, &LineStack::baseline);
  diff.stacks = matcher.rows();
  for (const DiffRow& stack : diff.stacks) {
    diff.compared_bytes += stack.baseline.bytes + stack.now.bytes;
    if (stack.change == Change::added || stack.change == Change::gone)
      diff.unmatched_bytes += stack.baseline.bytes + stack.now.bytes;
  }
  std::stable_sort(diff.stacks.begin(), diff.stacks.end(), [](const DiffRow& a, const DiffRow& b) {
    const auto da = std::llabs(a.delta_bytes()), db = std::llabs(b.delta_bytes());
    if (da != db) return da > db;
    return std::llabs(a.delta_count()) > std::llabs(b.delta_count());
  });
  diff.frames = compare_frames(baseline_side, now_side, table.size());
  diff.devices = compare_groups(baseline, now, "device");
  diff.kinds = compare_groups(baseline, now, "kind");
  return diff;
}

}  // namespace hbmscope
