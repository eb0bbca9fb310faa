// PyTorch's memory snapshots, written by hand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/read/torch/read_torch.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {

using namespace std::string_literals;

// Pieces of a pickle.
inline std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
inline std::string integer(std::int64_t value) {
  return "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8);
}
inline std::string word64(std::uint64_t value) {  // As Python writes integers above 2^63.
  return "\x8a\x09" + little_endian(value, 8) + '\0';
}
inline std::string text(const std::string& value) {
  return "X" + little_endian(value.size(), 4) + value;
}
inline std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}
using Fields = std::vector<std::pair<std::string, std::string>>;
inline std::string dict(const Fields& fields) {
  std::string out = "}(";
  for (const auto& [key, value] : fields) out += text(key) + value;
  return out + "u";
}
inline std::string pickle_of(const std::string& body) {
  return "\x80\x04" + body + ".";
}
inline std::string block(const Fields& more = {}) {
  Fields fields = {{"size", integer(512)}, {"state", text("active_allocated")}};
  fields.insert(fields.end(), more.begin(), more.end());
  return dict(fields);
}
inline std::string segment(const std::vector<std::string>& blocks, const Fields& more = {}) {
  Fields fields = {{"address", integer(0x1000)},
                   {"total_size", integer(512 * static_cast<std::int64_t>(blocks.size()))},
                   {"segment_type", text("small")},
                   {"blocks", list(blocks)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return dict(fields);
}
inline std::string entry(const Fields& more = {}) {
  Fields fields = {{"action", text("alloc")}, {"addr", integer(0x2000)}, {"size", integer(64)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return dict(fields);
}
inline std::string snapshot_of(const std::vector<std::string>& segments, const std::vector<std::string>& entries = {}) {
  return pickle_of(dict({{"segments", list(segments)}, {"device_traces", list({list(entries)})}}));
}
inline std::string frame(const std::string& function, std::int64_t line) {
  return dict({{"name", text(function)}, {"filename", text("a.py")}, {"line", integer(line)}});
}

inline Result<TorchSnapshot> read(const std::string& bytes, const TorchReadOptions& options = {}) {
  return read_torch(bytes_of(bytes), "a.pickle", options);
}

inline void expect_error(const std::string& bytes, std::string_view part, const TorchReadOptions& options = {}) {
  const auto snapshot = read(bytes, options);
  ASSERT_FALSE(snapshot.has_value()) << part;
  EXPECT_NE(snapshot.error().text().find(part), std::string::npos) << snapshot.error().text();
  EXPECT_FALSE(snapshot.error().remedy.empty());
  EXPECT_EQ(snapshot.error().file, "a.pickle");
}

inline void expect_counted(const TorchSnapshot& snapshot, std::string_view name, std::int64_t count,
                           Severity severity) {
  EXPECT_EQ(snapshot.import.count_of(name), count) << name;
  for (const ImportStatistic& row : snapshot.import.rows())
    if (row.name == name) {
      EXPECT_EQ(row.severity, severity) << name;
      EXPECT_FALSE(row.remedy.empty()) << name;
    }
}

inline std::string large_snapshot(const std::vector<std::string>& segments) {
  const std::string one = entry();
  return snapshot_of(segments, std::vector<std::string>((std::size_t{9} << 20) / one.size(), one));
}

}  // namespace hbmscope
