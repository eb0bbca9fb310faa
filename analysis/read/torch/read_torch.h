// Reads a PyTorch CUDA memory snapshot into flat columns: a pickle as torch.cuda.memory._dump_snapshot() writes it,
// bare, in gzip, or in a zip archive (torch.save, or a single pickle that was zipped for an upload). Nothing in the
// file is ever run (analysis/read/pickle).
//
// Errors name the file, the byte and what to do; what is odd yet usable is counted in TorchSnapshot::import.
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
  std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30;  // A gzip or zip bomb stops here; --max-size raises it.
  pickle::Limits pickle_limits;
};

// By its first bytes: a pickle of protocol 2 or later, or a zip archive. What is in gzip has to be inflated first.
bool looks_like_torch(std::span<const std::uint8_t> bytes);

// What a large snapshot says before its history begins, the heap as it stood when the snapshot was taken, in a fraction
// of the time that all of it takes. Nothing where the history comes first, is missing, or is not the most of it; where
// the bytes are in gzip; and where they are damaged, which reading all of it shows.
std::optional<TorchSnapshot> read_torch_state(std::span<const std::uint8_t> bytes, const std::string& name,
                                              const TorchReadOptions& options = {});

// `name` is only used in messages. The snapshot keeps nothing of `bytes`.
Result<TorchSnapshot> read_torch(std::span<const std::uint8_t> bytes, const std::string& name,
                                 const TorchReadOptions& options = {}, ReadControl* control = nullptr);

// A file of many megabytes that is a bare pickle, read piece by piece: in a third of the memory, and sooner, than with
// all of its bytes in memory first. Nothing where the file is small, a pipe or something else than a bare pickle.
std::optional<Result<TorchSnapshot>> read_large_torch(InputFile& file, const TorchReadOptions& options = {},
                                                      ReadControl* control = nullptr);

extern const Format torch_format;

}  // namespace hbmscope
