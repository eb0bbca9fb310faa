// The pages of PyTorch's memory viewer (torch/cuda/_memory_viz.py: trace_plot, segment_plot), which contain the
// snapshot:
//
//   const local_files = [{"name": "snapshot.pickle", "base64": "gASV..."}]
//   add_local_files(local_files, 'Active Memory Timeline')
//
// PyTorch pads the pickle with one to three zeros before it encodes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/file_bytes.h"

namespace hbmscope::torch {

// HTML that names the viewer or its variable in its first bytes: a page has both within the first 300.
bool looks_like_viewer_page(std::span<const std::uint8_t> bytes);

// The decoded file, without the padding. Errors: no such variable; not base64, with the byte; cut off; no memory.
Result<ByteBuffer> read_viewer_page(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::torch
