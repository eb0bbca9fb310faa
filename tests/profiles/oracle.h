// The same profile, decoded from the same bytes by protobuf: slow, one object for everything, and obviously correct.
// The reader's result is compared with it, field by field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/profile.h"

namespace hbmscope::test {

// Decompresses gzip (several members, several layers) or raw input; no value if zlib refuses.
std::optional<std::string> inflate_with_zlib(std::string_view file);

// Whether protobuf can read this message.
bool oracle_accepts(std::string_view message);

// Every difference between protobuf's reading of `message` and `profile`, one sentence each, at most `at_most`. Empty:
// they agree in every field. Where the format leaves a choice (missing texts, ids that occur twice, sums beyond 2^63),
// the contract of analysis/read/pprof counts, and its statistics must report it.
std::vector<std::string> compare_with_oracle(std::string_view message, const Profile& profile, std::size_t at_most = 5);

// Sums computed directly from the objects, for the totals that users see.
struct OracleSum {
  std::int64_t bytes = 0, count = 0;
  std::int64_t unknown = 0;        // Executables of unknown size, in neither sum.
  std::int64_t unknown_bytes = 0;  // The values that stand for their size in the file, -1 each.
  friend bool operator==(const OracleSum&, const OracleSum&) = default;
};
// For a profile whose values are allocations and space, by the text of a label; no key: the samples without it, or
// with an empty one.
std::map<std::optional<std::string>, OracleSum> oracle_sums_by_label(std::string_view message,
                                                                     std::string_view label_key);
std::int64_t oracle_sample_count(std::string_view message);

}  // namespace hbmscope::test
