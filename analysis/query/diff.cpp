#include "analysis/query/diff.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/model/device_name.h"
#include "analysis/query/file_match.h"
#include "analysis/query/groups.h"
#include "analysis/query/stack_paths.h"

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

// Numbers the frames of both sides together: frames with equal function and file (and line) get the same symbol.
class SymbolTable {
 public:
  SymbolTable(StackMatch match, const FileMatch& files) : match_(match), files_(files) {}

  std::vector<std::uint32_t> symbols_of(const ProfileView& view) {
    std::vector<std::uint32_t> symbols;
    symbols.reserve(view.frames.size());
    for (const Frame& frame : view.frames) {
      std::string key = frame.function;
      key += '\0';
      key += files_.key_of(frame.file);
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
  const FileMatch& files_;
  std::unordered_map<std::string, std::uint32_t> rows_;
};

// One side of the comparison: its frames as match symbols, and as symbols by line.
struct Side {
  const ProfileView* view = nullptr;
  std::vector<std::uint32_t> symbols, line_symbols;
  std::uint32_t first_frame = 0;  // Offset of this side's frames in ProfileDiff::frame_table.
};

// One of the stacks by line that a row combines. Stacks are matched without lines, yet a row names the line that
// changed most.
struct LineStack {
  Weight baseline, now;
  const Side* side = nullptr;  // The side of the example; `now` if it has one.
  std::uint32_t sample = 0;
};

// Sorts the stacks of both sides together; equal stacks become neighbours and form one row.
class StackMatcher {
 public:
  StackMatcher(const Side& baseline, const Side& now) : baseline_(baseline), now_(now) {
    const std::size_t now_samples = now.view->sample_count(), all = now_samples + baseline.view->sample_count();
    paths_.reserve(all, 0);
    for (std::size_t i = 0; i < all; ++i) paths_.add(static_cast<std::uint32_t>(i), symbols_of(i, false));
  }

  bool sort(const std::atomic<bool>* cancelled) { return paths_.sort(cancelled); }

  std::vector<DiffRow> rows() {
    std::vector<DiffRow> rows;
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= paths_.size(); ++end) {
      const std::size_t length = paths_.symbols(begin).size();
      if (end < paths_.size() && paths_.symbols(end).size() == length && paths_.shared_with_previous(end) == length)
        continue;
      rows.push_back(row_of(begin, end));
      begin = end;
    }
    return rows;
  }

 private:
  // Entries are the samples of `now`, followed by those of the baseline.
  bool is_now(std::size_t entry) const { return entry < now_.view->sample_count(); }
  const Side& side_of(std::size_t entry) const { return is_now(entry) ? now_ : baseline_; }
  std::uint32_t sample_of(std::size_t entry) const {
    return side_of(entry).view->sample(is_now(entry) ? entry : entry - now_.view->sample_count());
  }

  // The stack of an entry as match symbols, or by line.
  const std::vector<std::uint32_t>& symbols_of(std::size_t entry, bool by_line) {
    const Side& side = side_of(entry);
    const std::vector<std::uint32_t>& symbols = by_line ? side.line_symbols : side.symbols;
    scratch_.clear();
    for (const LocationIndex location : side.view->stack(sample_of(entry)))
      for (const FrameIndex frame : side.view->frames_of(location)) scratch_.push_back(symbols[row(frame)]);
    return scratch_;
  }

  void add(LineStack& stack, std::size_t entry) const {
    const Weight weight = side_of(entry).view->weight(sample_of(entry));
    (is_now(entry) ? stack.now : stack.baseline) += weight;
    if (stack.side == &now_ || (stack.side != nullptr && !is_now(entry))) return;
    stack.side = &side_of(entry);
    stack.sample = sample_of(entry);
  }

  DiffRow row_of(std::size_t begin, std::size_t end) {
    LineStack whole;
    for (std::size_t i = begin; i < end; ++i) add(whole, paths_.owner(i));
    LineStack example = whole;
    if (!is_one_line_stack(begin, end)) {
      std::map<std::vector<std::uint32_t>, LineStack> by_line;
      for (std::size_t i = begin; i < end; ++i) add(by_line[symbols_of(paths_.owner(i), true)], paths_.owner(i));
      example = std::max_element(by_line.begin(), by_line.end(), [](const auto& a, const auto& b) {
                  return is_better_example(b.second, a.second);
                })->second;
    }
    DiffRow diff_row;
    diff_row.change = change_of(whole.baseline, whole.now);
    diff_row.baseline = whole.baseline;
    diff_row.now = whole.now;
    for (const FrameIndex frame : example.side->view->visible_stack(example.sample))
      diff_row.stack.push_back(static_cast<FrameIndex>(row(frame) + example.side->first_frame));
    return diff_row;
  }

  // The common case.
  bool is_one_line_stack(std::size_t begin, std::size_t end) {
    if (end - begin == 1) return true;
    const std::vector<std::uint32_t> first = symbols_of(paths_.owner(begin), true);
    for (std::size_t i = begin + 1; i < end; ++i)
      if (symbols_of(paths_.owner(i), true) != first) return false;
    return true;
  }

  static bool is_better_example(const LineStack& a, const LineStack& b) {
    const auto change = [](const LineStack& s) {
      return clamped_magnitude(clamped_difference(s.now.bytes, s.baseline.bytes));
    };
    if (change(a) != change(b)) return change(a) > change(b);
    return a.now.bytes > b.now.bytes;
  }

  const Side& baseline_;
  const Side& now_;
  StackPaths paths_;
  std::vector<std::uint32_t> scratch_;
};

std::vector<GroupDiffRow> compare_groups(const ProfileView& baseline, const ProfileView& now, std::string_view key) {
  std::vector<GroupDiffRow> rows;
  std::unordered_map<std::string, std::size_t> row_of;
  std::optional<GroupDiffRow> without;
  const auto find_row = [&](const std::optional<std::string>& name) -> GroupDiffRow& {
    if (!name) return without ? *without : without.emplace();
    const auto [found, is_new] = row_of.try_emplace(*name, rows.size());
    if (is_new) rows.push_back({name, {}, {}});
    return rows[found->second];
  };
  for (const GroupRow& group : compute_groups(now, key)) find_row(group.name).now = group.weight;
  for (const GroupRow& group : compute_groups(baseline, key)) find_row(group.name).baseline = group.weight;
  if (key == "device") sort_by_device(rows);
  if (without) rows.push_back(*without);
  return rows;
}

// Flat and cumulative sums of one side, by symbol; a recursive symbol counts once per stack.
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
  // A function is shown with the line that holds most, in `now` if it occurs there.
  std::vector<const Frame*> named(symbols);
  const auto name_frames = [&](const Side& side, const FrameSums& sums) {
    std::vector<std::optional<std::int64_t>> best(symbols);
    const std::vector<const Frame*> before_this_side = named;
    for (std::size_t frame = 0; frame < side.view->frames.size(); ++frame) {
      const std::uint32_t symbol = side.symbols[frame];
      if (before_this_side[symbol] != nullptr) continue;
      if (best[symbol] && sums.line_flat[frame] <= *best[symbol]) continue;
      best[symbol] = sums.line_flat[frame];
      named[symbol] = &side.view->frames[frame];
    }
  };
  name_frames(now, after);
  name_frames(baseline, before);
  for (std::size_t i = 0; i < symbols; ++i) rows[i].frame = *named[i];
  std::erase_if(rows, [](const FrameDiffRow& r) { return r.baseline_cum == Weight{} && r.now_cum == Weight{}; });
  const auto delta = [](const FrameDiffRow& r) {
    return clamped_magnitude(clamped_difference(r.now_flat.bytes, r.baseline_flat.bytes));
  };
  const auto cum_delta = [](const FrameDiffRow& r) {
    return clamped_magnitude(clamped_difference(r.now_cum.bytes, r.baseline_cum.bytes));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const FrameDiffRow& a, const FrameDiffRow& b) {
    if (delta(a) != delta(b)) return delta(a) > delta(b);
    if (cum_delta(a) != cum_delta(b)) return cum_delta(a) > cum_delta(b);
    if (a.frame.function != b.frame.function) return a.frame.function < b.frame.function;
    return a.frame.file < b.frame.file;
  });
  return rows;
}

std::string unit_of(const ProfileView& view) {
  return std::string(view.profile->text(view.profile->value_types[view.columns.primary].unit));
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
  return *compute_diff(baseline, now, match, nullptr);
}

std::optional<ProfileDiff> compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match,
                                        const std::atomic<bool>* cancelled) {
  ProfileDiff diff;
  diff.baseline_name = name_of(baseline);
  diff.now_name = name_of(now);
  diff.match = match;
  diff.unit = unit_of(now);
  diff.baseline = baseline.selected;
  diff.now = now.selected;

  FileMatch files;
  for (const ProfileView* view : {&baseline, &now})
    for (const Function& function : view->profile->functions) files.look_at(view->profile->text(function.file));
  diff.is_by_file_name = files.is_by_name();
  SymbolTable table(match, files), line_table(StackMatch::line, files);
  const auto side_of = [&](const ProfileView& view) {
    Side side{&view, table.symbols_of(view), line_table.symbols_of(view),
              static_cast<std::uint32_t>(diff.frame_table.size())};
    diff.frame_table.insert(diff.frame_table.end(), view.frames.begin(), view.frames.end());
    return side;
  };
  const Side now_side = side_of(now), baseline_side = side_of(baseline);
  {
    StackMatcher matcher(baseline_side, now_side);
    if (!matcher.sort(cancelled)) return std::nullopt;
    diff.stacks = matcher.rows();
  }
  for (const DiffRow& stack : diff.stacks) {
    const std::int64_t bytes = clamped_sum(stack.baseline.bytes, stack.now.bytes);
    diff.compared_bytes = clamped_sum(diff.compared_bytes, bytes);
    if (stack.change == Change::added || stack.change == Change::gone)
      diff.unmatched_bytes = clamped_sum(diff.unmatched_bytes, bytes);
  }
  std::stable_sort(diff.stacks.begin(), diff.stacks.end(), [](const DiffRow& a, const DiffRow& b) {
    const auto da = clamped_magnitude(a.delta_bytes()), db = clamped_magnitude(b.delta_bytes());
    if (da != db) return da > db;
    return clamped_magnitude(a.delta_count()) > clamped_magnitude(b.delta_count());
  });
  if (cancelled != nullptr && *cancelled) return std::nullopt;
  diff.frames = compare_frames(baseline_side, now_side, table.size());
  diff.devices = compare_groups(baseline, now, "device");
  diff.kinds = compare_groups(baseline, now, "kind");
  return diff;
}

std::optional<Error> find_mismatch(const ProfileView& baseline, const ProfileView& now) {
  if (unit_of(baseline) == unit_of(now)) return std::nullopt;
  return refusal(fmt::format("{} counts {}, {} counts {}: they can't be compared", name_of(baseline), unit_of(baseline),
                             name_of(now), unit_of(now)),
                 "Give two profiles of one kind, or choose the values with --value.");
}

}  // namespace hbmscope
