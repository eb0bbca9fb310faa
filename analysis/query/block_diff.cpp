#include "analysis/query/block_diff.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/query/block_match.h"
#include "analysis/query/file_match.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

bool is_true(const std::atomic<bool>* flag) {
  return flag != nullptr && *flag;
}

std::int64_t bytes_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);  // A block is smaller than 2^63.
}

// Sums by your code, for stacks of any stream on either side.
class RowMaker {
 public:
  explicit RowMaker(bool is_by_id) : is_by_id_(is_by_id) {}

  // The row that accumulates changes of blocks with this stack.
  BlockChanges& changes_of(const Definitions& definitions, std::uint32_t stack) {
    const auto [found, is_new] = by_stack_.try_emplace({&definitions, stack}, 0);
    if (is_new) found->second = row_of(definitions, stack);
    return rows_[found->second].changes;
  }

  BlockDiff finish() {
    if (!is_by_id_) join_lines();
    BlockDiff diff;
    diff.is_by_id = is_by_id_;
    for (const BlockDiffRow& row : rows_) {
      diff.changes += row.changes;
      const BlockChange all = row.changes.total();
      if (all.count > row.changes.unchanged.count) diff.user_code.push_back(row);
    }
    const auto key = [](const BlockDiffRow& row) {
      const std::int64_t churn = clamped_sum(row.changes.added.now_bytes, row.changes.gone.baseline_bytes);
      return std::tuple(-clamped_magnitude(row.changes.delta_bytes()), -churn);
    };
    std::stable_sort(diff.user_code.begin(), diff.user_code.end(), [&](const BlockDiffRow& a, const BlockDiffRow& b) {
      return std::tuple(key(a), std::tie(a.file, a.line, a.function)) <
             std::tuple(key(b), std::tie(b.file, b.line, b.function));
    });
    return diff;
  }

 private:
  std::size_t row_of(const Definitions& definitions, std::uint32_t stack) {
    const OwnPlace place = find_own_place(definitions, stack);
    const auto& own = place.frame;
    const std::string function(own ? definitions.text(own->function) : "");
    const std::string file(own ? definitions.text(own->file) : "");
    const std::uint32_t line = own ? own->line : 0;
    const auto [found, is_new] =
        by_name_.try_emplace({function, std::string(file_tail(file)), line, place.is_autograd_thread}, rows_.size());
    if (is_new) rows_.push_back({function, file, line, {}, place.is_autograd_thread});
    return found->second;
  }

  // One row of all lines of a function: its line is the one whose blocks changed the most, in `now` if any are there.
  void join_lines() {
    const auto changed = [](const BlockDiffRow& row) {
      const BlockChange all = row.changes.total(), &same = row.changes.unchanged;
      return std::pair(clamped_difference(all.now_bytes, same.now_bytes),
                       clamped_difference(all.baseline_bytes, same.baseline_bytes));
    };
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](const BlockDiffRow& a, const BlockDiffRow& b) { return changed(a) > changed(b); });
    std::map<std::tuple<std::string, std::string, bool>, std::size_t> by_function;
    std::vector<BlockDiffRow> joined;
    for (BlockDiffRow& row : rows_) {
      const auto [found, is_new] = by_function.try_emplace(
          {row.function, std::string(file_tail(row.file)), row.is_autograd_thread}, joined.size());
      if (is_new)
        joined.push_back(std::move(row));
      else
        joined[found->second].changes += row.changes;
    }
    rows_ = std::move(joined);
  }

  bool is_by_id_;
  std::map<std::pair<const Definitions*, std::uint32_t>, std::size_t> by_stack_;
  std::map<std::tuple<std::string, std::string, std::uint32_t, bool>, std::size_t> by_name_;
  std::vector<BlockDiffRow> rows_;
};

BlockChange& part_of(BlockChanges& changes, BlockFate fate) {
  switch (fate) {
    case BlockFate::added: return changes.added;
    case BlockFate::gone: return changes.gone;
    case BlockFate::grown: return changes.grown;
    case BlockFate::shrunk: return changes.shrunk;
    case BlockFate::moved: return changes.moved;
    case BlockFate::unchanged: break;
  }
  return changes.unchanged;
}

void add_pair(BlockChanges& changes, std::uint64_t before, std::uint64_t after) {
  BlockChange& part = after > before ? changes.grown : after < before ? changes.shrunk : changes.unchanged;
  part += {1, bytes_of(before), bytes_of(after)};
}
void add_new(BlockChanges& changes, std::uint64_t bytes) {
  changes.added += {1, 0, bytes_of(bytes)};
}
void add_gone(BlockChanges& changes, std::uint64_t bytes) {
  changes.gone += {1, bytes_of(bytes), 0};
}

void match_by_id(const Definitions& definitions, const std::vector<bool>& counted, const StreamState& baseline,
                 const StreamState& now, RowMaker& rows) {
  match_blocks(baseline, now, counted, [&](const LiveBlock& was, const LiveBlock& is) {
    BlockChanges& changes = rows.changes_of(definitions, is.is_live() ? is.stack : was.stack);
    part_of(changes, fate_of(was, is)) +=
        {1, was.is_live() ? bytes_of(was.size) : 0, is.is_live() ? bytes_of(is.size) : 0};
  });
}

// A handle that a process owns and that counts for its heap.
bool is_counted(const PhysicalHandle& handle, const std::vector<bool>& counted) {
  return handle.is_live() && !handle.is_imported && counted[handle.heap];
}

void match_handles_by_id(const Definitions& definitions, const std::vector<bool>& counted, const StreamState& baseline,
                         const StreamState& now, RowMaker& rows) {
  std::unordered_map<std::uint64_t, const PhysicalHandle*> left;  // The baseline's handles by allocation id.
  for (const PhysicalHandle& was : baseline.physical().handles())
    if (is_counted(was, counted)) left.emplace(was.event, &was);
  for (const PhysicalHandle& is : now.physical().handles()) {
    if (!is_counted(is, counted)) continue;
    BlockChanges& changes = rows.changes_of(definitions, is.stack);
    if (left.erase(is.event) > 0)
      add_pair(changes, is.size, is.size);
    else
      add_new(changes, is.size);
  }
  for (const auto& [event, was] : left) add_gone(rows.changes_of(definitions, was->stack), was->size);
}

// Numbers the stacks of two traces together: stacks with equal functions and files in all frames get the same symbol.
class StackSymbols {
 public:
  StackSymbols(const Trace& baseline, const Trace& now) {
    for (const Trace* trace : {&baseline, &now})
      for (const Stream& stream : trace->streams) look_at(stream.definitions());
  }

  std::vector<std::uint32_t> symbols_of(const Definitions& definitions) {
    std::vector<std::uint32_t> frames(definitions.frame_count()), stacks(definitions.stack_count());
    for (std::uint32_t id = 0; id < frames.size(); ++id) {
      const TraceFrame frame = definitions.frame(id);
      std::string key(definitions.text(frame.function));
      key += '\0';
      key += files_.key_of(definitions.text(frame.file));
      frames[id] = frames_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size())).first->second;
    }
    // The callers' stack has a smaller id. 0 is no stack, on both sides.
    for (std::uint32_t id = 1; id < stacks.size(); ++id) {
      const TraceStack stack = definitions.stack(id);
      const std::uint32_t frame = stack.frame < frames.size() ? frames[stack.frame] : 0;
      const auto [found, is_new] = stacks_.try_emplace(std::uint64_t{stacks[stack.parent]} << 32 | frame, next_);
      if (is_new) ++next_;
      stacks[id] = found->second;
    }
    return stacks;
  }

 private:
  void look_at(const Definitions& definitions) {
    for (std::uint32_t id = 0; id < definitions.frame_count(); ++id)
      files_.look_at(definitions.text(definitions.frame(id).file));
  }

  FileMatch files_;
  std::unordered_map<std::string, std::uint32_t> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  std::uint32_t next_ = 1;
};

struct SideBlock {
  std::uint32_t symbol = 0;  // The symbol of its stack.
  std::uint64_t size = 0;
  const Definitions* definitions = nullptr;
  std::uint32_t stack = 0;
  bool is_handle = false;

  std::uint64_t key() const { return std::uint64_t{symbol} << 1 | (is_handle ? 1 : 0); }  // Must match.
};

// By stack, blocks before handles, largest first.
std::vector<SideBlock> sorted_blocks(const BlocksAt& side, StackSymbols& symbols) {
  std::vector<SideBlock> blocks;
  const auto counted = find_counted_heaps(side.trace);
  for (std::size_t i = 0; i < side.states.size(); ++i) {
    const Definitions& definitions = side.trace.streams[i].definitions();
    const std::vector<std::uint32_t> of_stack = symbols.symbols_of(definitions);
    const auto add = [&](std::uint32_t stack, std::uint64_t size, bool is_handle) {
      blocks.push_back({stack < of_stack.size() ? of_stack[stack] : 0, size, &definitions, stack, is_handle});
    };
    for (const LiveBlock& block : side.states[i].slots())
      if (block.is_live() && counted[i][block.heap]) add(block.stack, block.size, false);
    for (const PhysicalHandle& handle : side.states[i].physical().handles())
      if (is_counted(handle, counted[i])) add(handle.stack, handle.size, true);
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const SideBlock& a, const SideBlock& b) {
    return a.key() != b.key() ? a.key() < b.key() : a.size > b.size;
  });
  return blocks;
}

// `before` and `after` have the same stack, and are all blocks or all handles.
void match_by_size(std::span<const SideBlock> before, std::span<const SideBlock> after, RowMaker& rows) {
  std::vector<const SideBlock*> went, came;
  const auto changes_of = [&](const SideBlock& block) -> BlockChanges& {
    return rows.changes_of(*block.definitions, block.stack);
  };
  std::size_t b = 0, a = 0;
  while (b < before.size() || a < after.size()) {
    if (b < before.size() && a < after.size() && before[b].size == after[a].size) {
      add_pair(changes_of(after[a]), before[b].size, after[a].size);
      ++b;
      ++a;
    } else if (a == after.size() || (b < before.size() && before[b].size > after[a].size)) {
      went.push_back(&before[b++]);
    } else {
      came.push_back(&after[a++]);
    }
  }
  const std::size_t pairs = std::min(went.size(), came.size());
  for (std::size_t i = 0; i < pairs; ++i) add_pair(changes_of(*came[i]), went[i]->size, came[i]->size);
  for (std::size_t i = pairs; i < went.size(); ++i) add_gone(changes_of(*went[i]), went[i]->size);
  for (std::size_t i = pairs; i < came.size(); ++i) add_new(changes_of(*came[i]), came[i]->size);
}

std::span<const SideBlock> blocks_of_key(const std::vector<SideBlock>& blocks, std::size_t& at, std::uint64_t key) {
  const std::size_t begin = at;
  while (at < blocks.size() && blocks[at].key() == key) ++at;
  return {blocks.data() + begin, blocks.data() + at};
}

}  // namespace

BlockChanges& BlockChanges::operator+=(const BlockChanges& more) {
  for (const auto part : {&BlockChanges::added, &BlockChanges::gone, &BlockChanges::grown, &BlockChanges::shrunk,
                          &BlockChanges::moved, &BlockChanges::unchanged})
    this->*part += more.*part;
  return *this;
}

BlockChange BlockChanges::total() const {
  BlockChange sum;
  for (const BlockChange* part : {&added, &gone, &grown, &shrunk, &moved, &unchanged}) sum += *part;
  return sum;
}

std::optional<BlockDiff> compute_block_diff(const BlocksAt& baseline, const BlocksAt& now,
                                            const std::atomic<bool>* cancelled) {
  const bool is_by_id = &baseline.trace == &now.trace;
  RowMaker rows(is_by_id);
  if (is_by_id) {
    const auto counted = find_counted_heaps(now.trace);
    for (std::size_t i = 0; i < now.states.size(); ++i) {
      if (is_true(cancelled)) return std::nullopt;
      const Definitions& definitions = now.trace.streams[i].definitions();
      match_by_id(definitions, counted[i], baseline.states[i], now.states[i], rows);
      match_handles_by_id(definitions, counted[i], baseline.states[i], now.states[i], rows);
    }
    return rows.finish();
  }
  StackSymbols symbols(baseline.trace, now.trace);
  const std::vector<SideBlock> after = sorted_blocks(now, symbols), before = sorted_blocks(baseline, symbols);
  std::size_t a = 0, b = 0;
  while (a < after.size() || b < before.size()) {
    if (is_true(cancelled)) return std::nullopt;
    const std::uint64_t none = ~std::uint64_t{0};
    const std::uint64_t key =
        std::min(a < after.size() ? after[a].key() : none, b < before.size() ? before[b].key() : none);
    const auto now_blocks = blocks_of_key(after, a, key);
    match_by_size(blocks_of_key(before, b, key), now_blocks, rows);
  }
  return rows.finish();
}

}  // namespace hbmscope
