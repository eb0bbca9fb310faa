// Reads a pprof profile (https://github.com/google/pprof/blob/main/proto/profile.proto), gzipped or raw, into flat
// columns.
//
// Two passes over the inflated bytes: the first locates and counts everything, the second fills columns of exactly the
// right size, the samples on several threads. There is no object per sample and no copy of the message.
//
// Errors have the file, the byte and a remedy; usable irregularities are counted in Profile::import instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"

namespace hbmscope {

struct ReadOptions {
  std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30;  // Stops gzip bombs; --max-size raises it.
  unsigned threads = 0;                                       // 0: one per core, at most 8.
};

// `file` is "-" for standard input.
Result<Profile> read_pprof(const std::string& file, const ReadOptions& options = {}, ReadControl* control = nullptr);

// The same from memory; `name` is only used in messages.
Result<Profile> read_pprof_bytes(std::span<const std::uint8_t> bytes, const std::string& name,
                                 const ReadOptions& options = {}, ReadControl* control = nullptr);

// The last row: it accepts whatever no other format recognises.
extern const Format pprof_format;

}  // namespace hbmscope
