// The second pass over everything except the samples: texts, functions, mappings, locations, header.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/read/pprof/message_index.h"

namespace hbmscope::pprof {

// Maps a file's ids to rows. Producers usually number from 1 up, so a plain array nearly always suffices; sparse ids go
// to a hash table.
class IdMap {
 public:
  static constexpr std::uint32_t missing = 0xffffffff;

  // `count` ids will follow. The n-th added id has row n. add() returns false if the id is a duplicate; the later row
  // is then used, as in pprof.
  void prepare(std::size_t count) { dense_.assign(count * 2 + 64, missing); }
  bool add(std::uint64_t id, std::uint32_t row) {
    if (id < dense_.size()) {
      const bool is_new = dense_[id] == missing;
      dense_[id] = row;
      return is_new;
    }
    return sparse_.insert_or_assign(id, row).second;
  }
  std::uint32_t find(std::uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    if (sparse_.empty()) return missing;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? missing : found->second;
  }

 private:
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

// Maps the file's text numbers to StringIds. Counts references to missing texts.
class FileTexts {
 public:
  Result<void> read(const MessageIndex& index, const std::string& name, Profile& profile);
  StringId id(std::uint64_t number) {
    if (number < count_) return static_cast<StringId>(number + offset_);
    return missing(number);
  }

 private:
  StringId missing(std::uint64_t number);

  Profile* profile_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t offset_ = 0;  // 1 if the file's text 0 is not empty, although the format requires it; ours is.
  StringId missing_text_ = StringId::empty;
};

// Fills `profile` except for its samples and labels. `location_rows` is for the samples. The row after the last
// location has no lines and represents all missing locations.
Result<void> read_tables(const MessageIndex& index, const std::string& name, FileTexts& texts, Profile& profile,
                         IdMap& location_rows);

}  // namespace hbmscope::pprof
