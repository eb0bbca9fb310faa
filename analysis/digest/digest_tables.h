// The rows of digests as tables in CSV, which `hbmscope digest` turns into Parquet. app/fleet/README.md has the
// columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "analysis/digest/rank_digest.h"

namespace hbmscope {

// The place of a process among those that share a model: its stage of the pipeline, its part of each tensor, its
// replica, its experts. Absent if unknown.
struct RankCoordinates {
  std::optional<std::uint32_t> pp, tp, dp, ep;
};

struct DigestedFile {
  std::uint64_t content = 0;      // A hash of the file, by which copies are known.
  std::uint64_t digested_ms = 0;  // Since 1970: of several digests of a file the last one counts.
};

enum class DigestTable : std::uint8_t { rank, heap, site_at, site, failure, curve, unread, count_ };
inline constexpr std::array<std::string_view, static_cast<std::size_t>(DigestTable::count_)> digest_tables = {
    "rank", "heap", "site_at", "site", "failure", "curve", "unread"};

// The names of the columns, as the first line of a table.
std::string_view digest_columns(DigestTable table);

// Collects rows until they are taken. One process's rows stay together.
class DigestRows {
 public:
  // `nth`: the number of the digest in its file, from 0.
  void add(const RankDigest& digest, const RankCoordinates& coordinates, const DigestedFile& file, std::size_t nth);
  void add_unread(const std::string& file, const std::string& error);

  // The rows since the last call, without the names of the columns.
  std::string take(DigestTable table);

 private:
  std::string& rows(DigestTable table) { return rows_[static_cast<std::size_t>(table)]; }

  std::array<std::string, static_cast<std::size_t>(DigestTable::count_)> rows_;
  std::unordered_set<std::uint64_t> known_sites_;  // Each site is written once.
};

}  // namespace hbmscope
