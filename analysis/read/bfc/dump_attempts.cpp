#include "analysis/read/bfc/dump_attempts.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "analysis/read/decompress.h"
#include "analysis/read/file_groups.h"

namespace hbmscope::bfc {
namespace {

constexpr std::size_t time_digits = 16;  // From 2001 to 2286.

std::string_view prefix_of(std::string_view name) {
  name = without_compressed_endings(name);
  return name.substr(0, name.size() - time_digits);
}

// In chunks that both dumps have.
std::uint64_t shared_bytes(const Dump& a, const Dump& b) {
  std::unordered_map<std::uint64_t, std::uint64_t> sizes;
  for (const Region& region : a.regions)
    for (const Chunk& chunk : region.chunks)
      if (chunk.is_in_use) sizes.emplace(chunk.address, chunk.size);
  std::uint64_t shared = 0;
  for (const Region& region : b.regions)
    for (const Chunk& chunk : region.chunks)
      if (const auto found = sizes.find(chunk.address);
          chunk.is_in_use && found != sizes.end() && found->second == chunk.size)
        shared += chunk.size;
  return shared;
}

std::uint64_t bytes_in_use(const Dump& dump) {
  std::uint64_t bytes = 0;
  for (const Region& region : dump.regions)
    for (const Chunk& chunk : region.chunks) bytes += chunk.is_in_use ? chunk.size : 0;
  return bytes;
}

bool can_follow(const NamedDump& before, const NamedDump& after) {
  const Dump &a = *before.dump, &b = *after.dump;
  return a.allocator == b.allocator && prefix_of(before.name) == prefix_of(after.name) &&
         a.allocations.value_or(0) <= b.allocations.value_or(a.allocations.value_or(0)) &&
         shared_bytes(a, b) >= std::max(bytes_in_use(a), bytes_in_use(b)) / 2;
}

}  // namespace

std::optional<std::int64_t> time_us_of_dump(std::string_view name) {
  name = without_compressed_endings(name);
  const std::string_view digits = name.substr(name.rfind('.') + 1);  // npos + 1 is 0.
  std::int64_t time_us = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), time_us);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  return is_whole && digits.size() == time_digits && digits.size() < name.size() && digits[0] != '-'
             ? std::optional(time_us)
             : std::nullopt;
}

std::vector<std::vector<std::size_t>> find_attempts(std::span<const NamedDump> dumps) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_time;
  std::vector<std::vector<std::size_t>> failures;
  for (std::size_t i = 0; i < dumps.size(); ++i)
    if (const auto time_us = time_us_of_dump(dumps[i].name))
      by_time.emplace_back(*time_us, i);
    else
      failures.emplace_back(1, i);
  std::stable_sort(by_time.begin(), by_time.end());
  for (const auto& [time_us, i] : by_time) {
    const auto found =
        std::find_if(failures.begin(), failures.end(), [&, time_us = time_us, i = i](const auto& attempts) {
          const auto first_us = time_us_of_dump(dumps[attempts.front()].name);
          return first_us && time_us - *first_us <= attempts_us_max && can_follow(dumps[attempts.back()], dumps[i]);
        });
    found != failures.end() ? found->push_back(i) : failures.emplace_back().push_back(i);
  }
  sort_by_first_file(failures);
  return failures;
}

}  // namespace hbmscope::bfc
