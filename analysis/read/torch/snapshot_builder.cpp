#include "analysis/read/torch/snapshot_builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::torch {
namespace {

using pickle::Value;

// The dict of a segment, block or entry takes at least this many bytes of pickle, unless the same one is listed
// repeatedly.
constexpr std::uint64_t row_bytes_min = 8, rows_allowed = 4'096;

}  // namespace

SnapshotBuilder::SnapshotBuilder(const pickle::Document& document, TorchSnapshot& snapshot, ReadControl* control)
    : document_(document),
      snapshot_(snapshot),
      control_(control),
      fields_(document),
      texts_(document, snapshot.strings),
      stacks_(document, fields_, texts_, snapshot.stacks),
      numbers_(document),
      rows_left_(rows_allowed + snapshot.pickle_bytes / row_bytes_min) {
  known_actions_.fill({0xffffffff, TorchAction::unknown});
}

std::optional<Error> SnapshotBuilder::build() {
  const Value root = document_.root();
  const bool is_bare_list = root.is(Value::Tag::list);
  const Value segments = is_bare_list ? root : document_.find(root, "segments");
  const Value traces = document_.find(root, "device_traces");
  if (is_bare_list && !document_.items(root).empty() &&
      document_.find(document_.items(root).front(), "blocks").is_missing())
    return no_snapshot();
  if (!segments.is(Value::Tag::list) && !traces.is(Value::Tag::list)) return no_snapshot();
  snapshot_.has_traces = traces.is(Value::Tag::list);

  add_segments(segments);
  if (!add_traces(traces)) {
    give_up();
    return refusal("entries of the history are invalid", {}, snapshot_.file);
  }
  add_annotations(document_.find(root, "external_annotations"));
  add_settings(document_.find(root, "allocator_settings"), {}, 0);
  if (cancelled_) return refusal("reading was cancelled", {}, snapshot_.file);
  if (too_many_rows_)
    return refusal("this pickle lists the same records again and again, more than it has bytes for",
                   "No allocator writes that; save the snapshot again with torch.cuda.memory._dump_snapshot().",
                   snapshot_.file);
  add_statistics();
  return std::nullopt;
}

bool SnapshotBuilder::take_rows(std::uint64_t rows) {
  if (rows > rows_left_ || too_many_rows_) {
    too_many_rows_ = true;
    return false;
  }
  rows_left_ -= rows;
  return true;
}

std::optional<Error> SnapshotBuilder::no_snapshot() const {
  const Value root = document_.root();
  std::string holds = python_text(document_, root).substr(0, 100);
  if (root.is(Value::Tag::dict)) {
    std::string keys;
    for (const Value key : document_.keys(document_.shape(root))
                               .first(std::min<std::size_t>(5, document_.keys(document_.shape(root)).size())))
      keys += (keys.empty() ? "" : ", ") + python_text(document_, key).substr(0, 40);
    holds = keys.empty() ? "an empty dict" : "a dict with " + keys;
  }
  // JSON has no protocol.
  return other_format(fmt::format("this is {}, but not a memory snapshot: it has {}, but no segments or device_traces",
                                  document_.protocol() > 0 ? "a Python pickle" : "JSON", holds),
                      "Use the file that torch.cuda.memory._dump_snapshot() wrote.", snapshot_.file);
}

void SnapshotBuilder::add_statistics() {
  ImportStatistics& import = snapshot_.import;
  constexpr std::string_view left_out =
      "They are not what PyTorch writes there and were ignored; the file may be damaged.";
  import.add_if_any("odd_segments", Severity::loss, odd_.segments, left_out);
  import.add_if_any("odd_blocks", Severity::loss, odd_.blocks, left_out);
  import.add_if_any("odd_traces", Severity::loss, odd_.traces, left_out);
  import.add_if_any("odd_entries", Severity::loss, odd_.entries, left_out);
  import.add_if_any("odd_frames", Severity::warning, stacks_.odd_frames(), left_out);
  import.add_if_any("odd_annotations", Severity::warning, odd_.annotations, left_out);
  import.add_if_any("settings_left_out", Severity::notice, odd_.settings, "More than 4,096 allocator settings.");
  import.add_if_any(
      "cut_stacks", Severity::notice, stacks_.cut_stacks(),
      "Stacks of more than 4,096 frames; the innermost frames were kept. The program may recurse without end.");
  numbers_.add_statistics(import);
  import.add_if_any("missing_size", Severity::loss, odd_.without_size,
                    "Blocks or entries without a size count as 0 bytes.");
  import.add_if_any("missing_address", Severity::warning, odd_.entries_without_address,
                    "Entries without an address can't be matched with their allocation.");
  import.add_if_any("unknown_action", Severity::warning, odd_.actions,
                    "Entries with an unknown action are kept but not counted; a newer hbmscope may know them.",
                    odd_.first_action);
  import.add_if_any("unknown_block_state", Severity::warning, odd_.block_states,
                    "Blocks in an unknown state count as free; a newer hbmscope may know it.", odd_.first_state);
  import.add_if_any("unknown_segment_type", Severity::notice, odd_.segment_types,
                    "Segments that are neither small nor large.");
  import.add_if_any("segment_sum", Severity::warning, odd_.segment_sums,
                    "Segments whose blocks do not add up to the segment's size.");
  if (!fields_.unknown_keys().empty())
    import.add("unknown_fields", Severity::notice, static_cast<std::int64_t>(fields_.unknown_keys().size()),
               "Unknown fields were skipped; a newer hbmscope may read them.",
               fields_.unknown_keys().front().substr(0, 100));

  std::int64_t entries = 0;
  for (const TorchTrace& trace : snapshot_.traces) entries += static_cast<std::int64_t>(trace.size());
  import.add("segments", Severity::info, static_cast<std::int64_t>(snapshot_.segments.size()));
  import.add("blocks", Severity::info, static_cast<std::int64_t>(snapshot_.blocks.size()));
  import.add("trace_entries", Severity::info, entries);
  import.add("stacks", Severity::info, static_cast<std::int64_t>(snapshot_.stacks.caller.size()) - 1);
  import.add("frames", Severity::info, static_cast<std::int64_t>(snapshot_.stacks.frames.size()));
}

}  // namespace hbmscope::torch
