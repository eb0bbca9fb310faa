#include "analysis/read/torch/join_pieces.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/file_groups.h"
#include "analysis/read/torch/piece_overlap.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using torch::find_overlap;
using torch::last_time_us;
using torch::PieceRelation;
using torch::relation_between;

// For rows that exist only for some entries, in entry order.
template <class Row>
const Row* row_of_entry(const std::vector<Row>& rows, std::size_t entry) {
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), entry, [](const Row& row, std::size_t at) { return row.entry < at; });
  return found != rows.end() && found->entry == entry ? &*found : nullptr;
}

// Copies rows of several snapshots into one, with the ids of that one.
class RowCopier {
 public:
  explicit RowCopier(TorchSnapshot& into) : into_(into) {
    into_.stacks.caller.assign(1, TorchStackId::none);
    into_.stacks.innermost.assign(1, TorchFrameId{0});
  }

  void begin(const TorchSnapshot& from) {
    from_ = &from;
    stacks_.assign(1, TorchStackId::none);
    // A caller's number is always smaller.
    for (std::size_t i = 1; i < from.stacks.caller.size(); ++i) {
      const TorchStackId caller = stacks_[static_cast<std::size_t>(from.stacks.caller[i])];
      stacks_.push_back(stack(caller, frame(from.stacks.frames[static_cast<std::size_t>(from.stacks.innermost[i])])));
    }
  }

  StringId text(StringId id) { return into_.strings.intern(from_->text(id)); }
  TorchStackId stack(TorchStackId id) const { return stacks_[static_cast<std::size_t>(id)]; }

  void entry(const TorchTrace& from, std::size_t i, TorchTrace& into) {
    const auto row = static_cast<std::uint32_t>(into.size());
    into.action.push_back(from.action[i]);
    into.address.push_back(from.address[i]);
    into.size_bytes.push_back(from.size_bytes[i]);
    into.stream.push_back(from.stream[i]);
    into.time_us.push_back(from.time_us[i]);
    into.stack.push_back(stack(from.stack[i]));
    into.user_metadata.push_back(text(from.user_metadata[i]));
    into.compile_context.push_back(text(from.compile_context[i]));
    into.pool.push_back(from.pool[i]);
    if (const auto* failure = row_of_entry(from.out_of_memory, i))
      into.out_of_memory.push_back({row, failure->device_free_bytes});
    if (const auto* other = row_of_entry(from.other_actions, i))
      into.other_actions.push_back({row, text(other->action)});
  }

  void segment(std::size_t i) {
    const TorchSegments& from = from_->segments;
    TorchSegments& into = into_.segments;
    into.device.push_back(from.device[i]);
    into.address.push_back(from.address[i]);
    into.total_bytes.push_back(from.total_bytes[i]);
    into.allocated_bytes.push_back(from.allocated_bytes[i]);
    into.active_bytes.push_back(from.active_bytes[i]);
    into.requested_bytes.push_back(from.requested_bytes[i]);
    into.stream.push_back(from.stream[i]);
    into.type.push_back(from.type[i]);
    into.pool_first.push_back(from.pool_first[i]);
    into.pool_second.push_back(from.pool_second[i]);
    into.is_expandable.push_back(from.is_expandable[i]);
    into.stack.push_back(stack(from.stack[i]));
    for (std::uint32_t block = from.block_begin[i]; block < from.block_begin[i + 1]; ++block) copy_block(block);
    into.block_begin.push_back(static_cast<std::uint32_t>(into_.blocks.size()));
  }

 private:
  void copy_block(std::size_t i) {
    const TorchBlocks& from = from_->blocks;
    TorchBlocks& into = into_.blocks;
    into.address.push_back(from.address[i]);
    into.size_bytes.push_back(from.size_bytes[i]);
    into.requested_bytes.push_back(from.requested_bytes[i]);
    into.state.push_back(from.state[i]);
    into.stack.push_back(stack(from.stack[i]));
    into.user_metadata.push_back(text(from.user_metadata[i]));
  }

  TorchFrameId frame(const TorchFrame& from) {
    const TorchFrame copy{text(from.function), text(from.file), from.line};
    const auto [at, is_new] =
        frames_.try_emplace({{copy.function, copy.file}, copy.line}, static_cast<TorchFrameId>(frames_.size()));
    if (is_new) into_.stacks.frames.push_back(copy);
    return at->second;
  }

  TorchStackId stack(TorchStackId caller, TorchFrameId innermost) {
    const auto [at, is_new] =
        known_stacks_.try_emplace({caller, innermost}, static_cast<TorchStackId>(into_.stacks.caller.size()));
    if (!is_new) return at->second;
    into_.stacks.caller.push_back(caller);
    into_.stacks.innermost.push_back(innermost);
    return at->second;
  }

  TorchSnapshot& into_;
  const TorchSnapshot* from_ = nullptr;
  std::vector<TorchStackId> stacks_;  // By TorchStackId of `from_`.
  std::map<std::pair<std::pair<StringId, StringId>, std::int32_t>, TorchFrameId> frames_;
  std::map<std::pair<TorchStackId, TorchFrameId>, TorchStackId> known_stacks_;
};

// Where a device's entries come from: runs of pieces without a gap between them.
struct DevicePart {
  std::size_t piece = 0;
  std::size_t first = 0;  // The first entry that no earlier piece has.
  bool is_after_gap = false;
};

class Joiner {
 public:
  explicit Joiner(std::span<const TorchSnapshot* const> pieces) : pieces_(pieces), copy_(joined_) {}

  TorchSnapshot join() {
    const TorchSnapshot& last = *pieces_.back();
    joined_.file = fmt::format("{} and {} more", pieces_.front()->file, pieces_.size() - 1);
    joined_.has_traces = true;
    joined_.pickle_protocol = last.pickle_protocol;
    for (const TorchSnapshot* piece : pieces_) {
      joined_.file_bytes += piece->file_bytes;
      joined_.pickle_bytes += piece->pickle_bytes;
      for (const TorchTrace& trace : piece->traces) parts_[trace.device];
    }
    for (auto& [device, parts] : parts_) find_parts(device, parts);
    copy_everything();
    report();
    return std::move(joined_);
  }

 private:
  const TorchTrace* trace_of(std::size_t piece, std::int32_t device) const {
    for (const TorchTrace& trace : pieces_[piece]->traces)
      if (trace.device == device) return &trace;
    return nullptr;
  }

  void find_parts(std::int32_t device, std::vector<DevicePart>& parts) {
    const TorchTrace* before = nullptr;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      const TorchTrace* trace = trace_of(piece, device);
      if (trace == nullptr || trace->size() == 0) continue;
      DevicePart part{piece, 0, false};
      if (before != nullptr) {
        part.first = find_overlap(*before, *trace);
        part.is_after_gap = part.first == 0;
        shared_entries_ += part.first;
        if (part.is_after_gap) note_gap(device, *before, *trace);
      }
      parts.push_back(part);
      before = trace;
    }
  }

  void note_gap(std::int32_t device, const TorchTrace& before, const TorchTrace& after) {
    const std::int64_t since_us = before.time_us.back(), until_us = after.time_us.front();
    if (gaps_++ > 0) return;
    first_gap_ =
        fmt::format("on GPU {} after {} entries", device, text_from_count(static_cast<std::int64_t>(before.size())));
    if (since_us != absent_time && until_us != absent_time && until_us >= since_us)
      first_gap_ = fmt::format("on GPU {}, {:.3f} s", device, static_cast<double>(until_us - since_us) / 1e6);
  }

  // Piece by piece, so that the ids of each are converted once. The tables of the last piece come first.
  void copy_everything() {
    const std::size_t last = pieces_.size() - 1;
    copy_.begin(*pieces_[last]);
    for (std::size_t i = 0; i < pieces_[last]->segments.size(); ++i) copy_.segment(i);
    for (const TorchSetting& setting : pieces_[last]->settings)
      joined_.settings.push_back({copy_.text(setting.key), copy_.text(setting.value)});
    std::map<std::int32_t, TorchTrace> open;
    for (const auto& [device, parts] : parts_) open[device].device = device;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      copy_.begin(*pieces_[piece]);
      copy_annotations(*pieces_[piece]);
      for (auto& [device, parts] : parts_) {
        const auto part =
            std::find_if(parts.begin(), parts.end(), [&](const auto& each) { return each.piece == piece; });
        if (part == parts.end()) continue;
        const TorchTrace& from = *trace_of(piece, device);
        for (std::size_t i = part->first; i < from.size(); ++i) copy_entry(from, i, open[device]);
        if (part + 1 != parts.end() && part[1].is_after_gap) end_run(piece, open[device]);
      }
    }
    for (auto& [device, trace] : open) joined_.traces.push_back(std::move(trace));
  }

  // The clock is converted anew in every piece; an entry is never before the one that it follows in another piece.
  void copy_entry(const TorchTrace& from, std::size_t i, TorchTrace& into) {
    const std::int64_t before_us = into.size() > 0 ? into.time_us.back() : absent_time;
    copy_.entry(from, i, into);
    std::int64_t& time_us = into.time_us.back();
    if (before_us != absent_time && time_us < before_us && time_us >= before_us - torch::overlap_tolerance_us)
      time_us = before_us;
  }

  void end_run(std::size_t piece, TorchTrace& trace) {
    TorchRun run;
    const std::int32_t device = trace.device;
    run.trace = std::exchange(trace, {});
    trace.device = device;
    run.segment_begin = static_cast<std::uint32_t>(joined_.segments.size());
    const TorchSegments& segments = pieces_[piece]->segments;
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (segments.device[i] == device) copy_.segment(i);
    run.segment_end = static_cast<std::uint32_t>(joined_.segments.size());
    joined_.earlier_runs.push_back(std::move(run));
  }

  // Ranges and marks that the previous piece has too are left out; the profiler keeps them in a list of its own.
  void copy_annotations(const TorchSnapshot& from) {
    const std::int64_t since_us =
        joined_.annotations.empty() ? absent_time : joined_.annotations.back().time_us + torch::overlap_tolerance_us;
    const bool is_first = joined_.annotations.empty();
    for (const TorchAnnotation& each : from.annotations)
      if (is_first || each.time_us > since_us)
        joined_.annotations.push_back({copy_.text(each.stage), copy_.text(each.name), each.device, each.time_us});
  }

  void report() {
    ImportStatistics& import = joined_.import;
    for (const TorchSnapshot* piece : pieces_)
      for (const ImportStatistic& row : piece->import.rows())
        import.add(row.name, row.severity, row.count, row.remedy,
                   row.example.empty() ? "" : piece->file + ": " + row.example);
    import.add("pieces", Severity::info, static_cast<std::int64_t>(pieces_.size()));
    import.add("entries_in_several_pieces", Severity::info, static_cast<std::int64_t>(shared_entries_));
    if (gaps_ == 0) return;
    import.add("gap_between_pieces", Severity::loss, gaps_,
               "Entries between two snapshots of the process are in neither: PyTorch had dropped them before the "
               "later one was taken. Figures between the two are unknown, and exact again from the later one's first "
               "entry on. Take snapshots more often, or raise max_entries of _record_memory_history().",
               first_gap_);
    report_evidence();
  }

  // No entry proves that two pieces are of one process, so the reader says why it joined them.
  void report_evidence() {
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      const PieceRelation relation = relation_between(*pieces_[i - 1], *pieces_[i]);
      if (relation.shared_entries > 0) continue;
      joined_.import.add(
          "joined_by_addresses", Severity::notice, 1,
          "These snapshots have no entry in common. They count as one process because they follow one another, and "
          "blocks and segments of one are at the same addresses in the next. If they are of two runs of a program, "
          "open them one at a time.",
          fmt::format("{} of {} blocks of {} are in {}", relation.shared_blocks, relation.earlier_blocks,
                      pieces_[i - 1]->file, pieces_[i]->file));
    }
  }

  std::span<const TorchSnapshot* const> pieces_;
  TorchSnapshot joined_;
  RowCopier copy_;
  std::map<std::int32_t, std::vector<DevicePart>> parts_;  // By device.
  std::size_t shared_entries_ = 0;
  std::int64_t gaps_ = 0;
  std::string first_gap_;
};

}  // namespace

std::vector<std::vector<std::size_t>> find_torch_pieces(std::span<const TorchSnapshot* const> snapshots) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_end;
  for (std::size_t i = 0; i < snapshots.size(); ++i) by_end.emplace_back(last_time_us(*snapshots[i]), i);
  std::stable_sort(by_end.begin(), by_end.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [end_us, i] : by_end) {
    // A process that shares entries comes before one that only could be the same.
    std::vector<std::size_t>* chosen = nullptr;
    for (std::vector<std::size_t>& group : groups) {
      const PieceRelation relation = relation_between(*snapshots[group.back()], *snapshots[i]);
      if (!relation.is_one_process) continue;
      if (chosen == nullptr || relation.shared_entries > 0) chosen = &group;
      if (relation.shared_entries > 0) break;
    }
    if (chosen == nullptr) chosen = &groups.emplace_back();
    chosen->push_back(i);
  }
  sort_by_first_file(groups);
  return groups;
}

TorchSnapshot join_torch_pieces(std::span<const TorchSnapshot* const> pieces) {
  return Joiner(pieces).join();
}

}  // namespace hbmscope
