#include "analysis/read/bfc/memory_dump_format.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/bfc/trace_from_bfc.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {
namespace {

struct DumpPiece : FilePiece {
  DumpPiece() : FilePiece(memory_dump_format) {}
  bfc::Dump dump;
  std::string file;
  std::uint64_t file_bytes = 0;
};

Result<FileContent> read_dump(InputFile& file, const FileOptions& options, ReadControl*) {
  auto piece = options.keeps_pieces ? std::make_shared<DumpPiece>() : nullptr;
  auto content = read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) -> Result<Trace> {
    auto dump = bfc::read_memory_dump(bytes, file.name());
    if (!dump) return Failure(std::move(dump.error()));
    Trace trace = bfc::trace_from_dump(*dump, file.name(), bytes.size());
    if (piece != nullptr) {
      piece->dump = std::move(*dump);
      piece->file = file.name();
      piece->file_bytes = bytes.size();
    }
    return trace;
  });
  if (content) content->piece = std::move(piece);
  return content;
}

// The last attempt has the heap as it was when the request finally failed.
FileContent content_of_attempts(const std::vector<const DumpPiece*>& attempts) {
  constexpr std::size_t named_max = 8;
  const DumpPiece& last = *attempts.back();
  Trace trace = bfc::trace_from_dump(last.dump, last.file, last.file_bytes);
  std::string names;
  for (std::size_t i = 0; i + 1 < attempts.size() && i < named_max; ++i)
    names += (i > 0 ? ", " : "") + std::filesystem::path(attempts[i]->file).filename().string();
  if (attempts.size() - 1 > named_max) names += fmt::format(" and {} more", attempts.size() - 1 - named_max);
  trace.import.add(
      "earlier_attempts", Severity::notice, static_cast<std::int64_t>(attempts.size() - 1),
      "Memory dumps of earlier attempts at the same request: the allocator tries again for ten seconds and "
      "writes one each time. The heap is that of the last attempt. Open a file by itself to see it.",
      names);
  auto content = content_from_trace(std::move(trace));
  return std::move(*content);
}

std::vector<JoinedContent> join_attempts(std::vector<FileContent> files) {
  std::vector<bfc::NamedDump> dumps;
  const auto piece_of = [&](std::size_t i) { return static_cast<const DumpPiece*>(files[i].piece.get()); };
  for (std::size_t i = 0; i < files.size(); ++i) dumps.push_back({piece_of(i)->file, &piece_of(i)->dump});
  std::vector<JoinedContent> joined;
  for (std::vector<std::size_t>& failure : bfc::find_attempts(dumps)) {
    std::vector<const DumpPiece*> attempts;
    for (const std::size_t i : failure) attempts.push_back(piece_of(i));
    std::sort(failure.begin(), failure.end());
    joined.push_back({failure.size() == 1 ? files[failure.front()] : content_of_attempts(attempts), failure});
  }
  return joined;
}

}  // namespace

constinit const Format memory_dump_format = {
    .name = "a memory dump of XLA's BFC allocator",
    .other_endings = ".memorydump.pb",
    .looks_like = [](InputFile& file) { return bfc::looks_like_memory_dump(file.beginning()); },
    .read = read_dump,
    .join = join_attempts,
    .beginning = "one begins with the name of an allocator, such as GPU_0_bfc",
    .hint = "XLA writes one at each failure if the variable TF_BFC_MEMORY_DUMP=PREFIX is set.",
};

}  // namespace hbmscope
