// Extracts one file from a zip archive (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT): only the part of
// the format that torch.save and an uploaded snapshot use. Entries are stored or deflated. Nothing is unpacked to disk,
// and names are only compared, never used as paths.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/import_statistics.h"
#include "analysis/model/result.h"
#include "analysis/read/file_bytes.h"

namespace hbmscope {

bool is_zip(std::span<const std::uint8_t> bytes);

struct ZipEntry {
  std::string name;
  std::span<const std::uint8_t> bytes;  // In `inflated`, or in the archive itself if it was stored.
  std::uint64_t offset = 0;             // For a stored entry: where its bytes begin in the archive.
  ByteBuffer inflated;
  bool is_inflated = false;
};

// The entry "data.pkl" in the archive's only folder (torch.save), else the only entry that ends in .pickle or .pkl.
// Errors: damaged, encrypted, another compression, no such entry or several, more than max_inflated_bytes (a bomb).
Result<ZipEntry> read_pickle_of_zip(std::span<const std::uint8_t> archive, const std::string& name,
                                    std::uint64_t max_inflated_bytes, ImportStatistics& import);

}  // namespace hbmscope
