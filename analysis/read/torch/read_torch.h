// Reads a PyTorch CUDA memory snapshot into flat columns: a pickle as torch.cuda.memory._dump_snapshot() writes it,
// bare, gzipped, in a zip archive (torch.save, or a single pickle that was zipped for an upload), or in a page of
// PyTorch's memory viewer (viewer_page.h); or JSON (json_document.h). Nothing in the file is ever executed
// (analysis/read/pickle).
//
// Errors have the file, the byte and a remedy; usable irregularities are counted in TorchSnapshot::import.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/pickle/read_pickle.h"
#include "analysis/read/read_control.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

struct TorchReadOptions {
  std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30;  // Stops gzip and zip bombs; --max-size raises it.
  pickle::Limits pickle_limits;
};

// Decides by the first bytes: a pickle of protocol 2 or later, a zip archive, a snapshot in JSON, or a page of
// PyTorch's memory viewer. Gzip has to be inflated first.
bool looks_like_torch(std::span<const std::uint8_t> bytes);

// Reads the part of a large snapshot before its history, which is the heap at the time of the snapshot, in a fraction
// of the time for the whole file. Nothing if the history comes first, is missing, or is not most of the file; if the
// bytes are gzipped; or if they are damaged, which reading the whole file reports.
std::optional<TorchSnapshot> read_torch_state(std::span<const std::uint8_t> bytes, const std::string& name,
                                              const TorchReadOptions& options = {});

// `name` is only used in messages. The snapshot does not refer to `bytes`.
Result<TorchSnapshot> read_torch(std::span<const std::uint8_t> bytes, const std::string& name,
                                 const TorchReadOptions& options = {}, ReadControl* control = nullptr);

// Reads a bare pickle of many megabytes piece by piece: in a third of the memory, and faster, than from memory. Nothing
// if the file is small, a pipe, or not a bare pickle.
std::optional<Result<TorchSnapshot>> read_large_torch(InputFile& file, const TorchReadOptions& options = {},
                                                      ReadControl* control = nullptr);

extern const Format torch_format;

}  // namespace hbmscope
