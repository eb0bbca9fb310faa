// The format row of PyTorch's snapshots. A large one is read piece by piece; if someone is waiting, the heap at the
// time of the snapshot is read first and the history afterwards.
#include <algorithm>
#include <utility>

#include "analysis/read/torch/join_pieces.h"
#include "analysis/read/torch/read_torch.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {
namespace {

struct TorchPiece : FilePiece {
  explicit TorchPiece(TorchSnapshot read) : FilePiece(torch_format), snapshot(std::move(read)) {}
  TorchSnapshot snapshot;
};

Result<FileContent> content_from_snapshot(Result<TorchSnapshot> snapshot, bool keeps_piece) {
  if (!snapshot) return Failure(std::move(snapshot.error()));
  auto content = content_from_trace(trace_from_torch(*snapshot));
  if (content && keeps_piece) content->piece = std::make_shared<const TorchPiece>(std::move(*snapshot));
  return content;
}

std::vector<JoinedContent> join_snapshots(std::vector<FileContent> files) {
  std::vector<const TorchSnapshot*> snapshots;
  for (const FileContent& file : files) snapshots.push_back(&static_cast<const TorchPiece&>(*file.piece).snapshot);
  std::vector<JoinedContent> joined;
  for (std::vector<std::size_t>& group : find_torch_pieces(snapshots)) {
    if (group.size() == 1) {
      joined.push_back({files[group.front()], std::move(group)});
      continue;
    }
    std::vector<const TorchSnapshot*> pieces;
    for (const std::size_t i : group) pieces.push_back(snapshots[i]);
    std::sort(group.begin(), group.end());
    joined.push_back({std::move(*content_from_trace(trace_from_torch(join_torch_pieces(pieces)))), std::move(group)});
  }
  return joined;
}

Result<FileContent> read_snapshot_file(InputFile& file, const FileOptions& options, ReadControl* control) {
  TorchReadOptions torch;
  torch.max_inflated_bytes = options.max_inflated_bytes;
  const bool gives_parts = control != nullptr && control->take_part;
  if (!gives_parts)
    if (auto snapshot = read_large_torch(file, torch, control))
      return content_from_snapshot(std::move(*snapshot), options.keeps_pieces);
  const auto bytes = file.bytes();
  if (!bytes) return Failure(bytes.error());
  std::optional<TorchSnapshot> state;
  if (gives_parts) state = read_torch_state(*bytes, file.name(), torch);
  if (state) control->take_part(std::make_shared<const Trace>(trace_from_torch(*state)));
  auto snapshot = read_torch(*bytes, file.name(), torch, control);
  if (snapshot || !state || !control->stop_here || control->cancelled)
    return content_from_snapshot(std::move(snapshot), options.keeps_pieces);
  state->import.add("stopped_here", Severity::warning, 1,
                    "Reading was cancelled: the heap is shown at the time of the snapshot, without its history.");
  return content_from_trace(trace_from_torch(*state));
}

}  // namespace

constinit const Format torch_format = {
    .name = "a PyTorch memory snapshot",
    .endings = ".pickle .pkl",
    .looks_like = [](InputFile& file) { return looks_like_torch(file.beginning()); },
    .read = read_snapshot_file,
    .join = join_snapshots,
    .beginning = "a pickle begins with the bytes 80 02 to 80 05",
    .hint = "Use the file that torch.cuda.memory._dump_snapshot() wrote; if this is that file, copy it again.",
};

}  // namespace hbmscope
