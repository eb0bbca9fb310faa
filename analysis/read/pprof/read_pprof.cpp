#include "analysis/read/pprof/read_pprof.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "analysis/read/file_bytes.h"
#include "analysis/read/format.h"
#include "analysis/read/gzip.h"
#include "analysis/read/other_format.h"
#include "analysis/read/pprof/message_index.h"
#include "analysis/read/pprof/read_samples.h"
#include "analysis/read/pprof/read_tables.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

Failure not_a_profile(Bytes bytes, const std::string& name, Error error) {
  if (const std::string_view other = find_other_format(bytes).name; !other.empty()) {
    error.what = fmt::format("this looks like {}, not like a pprof profile", other);
    error.remedy = "Use the file that jax.profiler.save_device_memory_profile() wrote.";
    error.offset.reset();
  }
  error.file = name;
  return Failure(std::move(error));
}

// Executables of unknown size have size -1 times their number (XLA's TPU client reports -1), which sums must not
// include. A profile that pprof made as a difference (label pprof::base) has genuine negative sizes.
void separate_unknown_sizes(Profile& profile) {
  if (!is_device_memory_profile(profile)) return;
  std::vector<bool> is_executable(profile.label_set_count());
  for (std::size_t set = 0; set < is_executable.size(); ++set) {
    const auto index = static_cast<LabelSetIndex>(set);
    is_executable[set] =
        find_label_text(profile, index, "kind") == "executable" && !find_label_text(profile, index, "pprof::base");
  }
  std::vector<std::int64_t>& bytes = profile.values[1];
  for (std::size_t sample = 0; sample < bytes.size(); ++sample) {
    if (bytes[sample] >= 0 || !is_executable[row(profile.label_set[sample])]) continue;
    bytes[sample] = 0;
    profile.unknown_size.push_back(static_cast<std::uint32_t>(sample));
  }
}

// Every sum in a query is at most the sum of all magnitudes. Keeping that below 2^63 here makes all later sums exact
// without checks in their loops.
void keep_sums_exact(Profile& profile) {
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  for (std::size_t type = 0; type < profile.values.size(); ++type) {
    std::uint64_t sum = 0;
    std::int64_t left_out = 0;
    for (std::int64_t& value : profile.values[type]) {
      const std::uint64_t magnitude =
          value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
      if (magnitude <= limit - sum) {
        sum += magnitude;
        continue;
      }
      value = 0;
      ++left_out;
    }
    if (left_out > 0)
      profile.import.add("sum_over_2_63", Severity::loss, left_out,
                         "The values add up to 2^63 or more, which no device has; samples beyond that count as 0. The "
                         "producer wrote wrong values, or the file is damaged.",
                         fmt::format("value type {}", profile.text(profile.value_types[type].type)));
  }
}

// After keep_sums_exact, because the number of programs is a sum too.
void count_unknown_sizes(Profile& profile) {
  if (profile.unknown_size.empty()) return;
  std::int64_t executables = 0;
  for (const std::uint32_t sample : profile.unknown_size)
    executables += std::max<std::int64_t>(0, profile.values[0][sample]);
  profile.import.add("unknown_size", Severity::notice, executables,
                     "Compiled programs whose size the runtime does not report (-1, on TPU). They are counted and "
                     "listed, but no sum includes them.");
}

void check_texts(Profile& profile) {
  // Names are shown and exported as UTF-8; invalid ones are replaced there and counted here.
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < profile.strings.size(); ++i)
    if (!is_utf8(profile.text(static_cast<StringId>(i)))) ++bad;
  if (bad > 0)
    profile.import.add("text_not_utf8", Severity::warning, bad,
                       "Names that are not UTF-8 are shown with replacement characters.");
}

// Parts that every profile has.
std::optional<Error> find_missing_part(const pprof::MessageIndex& index, const std::string& name) {
  if (!index.value_types.empty()) return std::nullopt;
  if (index.strings.empty() && index.samples == 0)
    return refusal("no part of a pprof profile is in this file", "It may have been cut off; save the profile again.",
                   name);
  return refusal("the profile does not say what its values are (no sample types)", "Save the profile again.", name);
}

void finish_profile(const pprof::MessageIndex& index, Profile& profile) {
  if (index.unknown_fields > 0)
    profile.import.add("unknown_fields", Severity::notice, static_cast<std::int64_t>(index.unknown_fields),
                       "Unknown fields were skipped; a newer hbmscope may read them.");
  separate_unknown_sizes(profile);
  keep_sums_exact(profile);
  count_unknown_sizes(profile);
  check_texts(profile);
  profile.import.add("samples", Severity::info, static_cast<std::int64_t>(profile.sample_count()));
  profile.import.add("locations", Severity::info, static_cast<std::int64_t>(index.locations.size()));
  profile.import.add("functions", Severity::info, static_cast<std::int64_t>(index.functions.size()));
}

Result<Profile> read_message(Bytes message, Bytes file, const std::string& name, const ReadOptions& options,
                             ReadControl* control, ImportStatistics import) {
  Profile profile;
  profile.files = {name};
  profile.file_bytes = file.size();
  profile.inflated_bytes = message.size();
  profile.import = std::move(import);
  if (control != nullptr) {
    control->done_bytes = 0;
    control->total_bytes = message.size();
  }

  auto index = pprof::index_message({message.data(), message.data() + message.size()}, name);
  if (!index) return not_a_profile(message, name, std::move(index.error()));
  if (auto error = find_missing_part(*index, name)) return not_a_profile(message, name, std::move(*error));

  pprof::FileTexts texts;
  if (auto read = texts.read(*index, name, profile); !read) return Failure(std::move(read.error()));
  pprof::IdMap location_rows;
  if (auto read = pprof::read_tables(*index, name, texts, profile, location_rows); !read)
    return not_a_profile(message, name, std::move(read.error()));
  if (index->strings.empty() && index->samples > 0)
    return Failure(Error{"the profile has samples but no strings, which are at its end",
                         "The file was cut off; save or copy it again.", name, message.size(), true});

  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  if (auto read = pprof::read_samples(*index, name, options.threads == 0 ? cores : options.threads, location_rows,
                                      texts, profile, control);
      !read)
    return Failure(std::move(read.error()));

  finish_profile(*index, profile);
  return profile;
}

}  // namespace

Result<Profile> read_pprof_bytes(Bytes bytes, const std::string& name, const ReadOptions& options,
                                 ReadControl* control) {
  if (bytes.empty())
    return Failure(refusal("the file is empty",
                           "The job may have been stopped while it was writing; save the profile again.", name));
  ImportStatistics import;
  if (!is_gzip(bytes)) return read_message(bytes, bytes, name, options, control, std::move(import));
  auto inflated = inflate_gzip(bytes, name, options.max_inflated_bytes, import);
  // Gzipped again by a tool that compresses everything it stores.
  for (int layer = 1; inflated && layer < 3 && is_gzip(inflated->bytes()); ++layer)
    inflated = inflate_gzip(inflated->bytes(), name, options.max_inflated_bytes, import);
  if (!inflated) return Failure(std::move(inflated.error()));
  if (inflated->size() == 0)
    return Failure(refusal("nothing is inside the gzip data", "Save the profile again.", name));
  return read_message(inflated->bytes(), bytes, name, options, control, std::move(import));
}

Result<Profile> read_pprof(const std::string& file, const ReadOptions& options, ReadControl* control) {
  auto bytes = read_file(file, options.max_inflated_bytes, control);
  if (!bytes) return Failure(std::move(bytes.error()));
  return read_pprof_bytes(bytes->bytes(), bytes.has_value() && file == "-" ? "standard input" : file, options, control);
}

namespace {

// The tag of a field of a Profile: its number and its wire type, as in profile.proto; repeated integers may be packed.
bool is_profile_tag(std::uint8_t tag) {
  using namespace std::string_view_literals;
  constexpr std::string_view tags =
      "\x0a\x12\x1a\x22\x2a\x32\x38\x40\x48\x50\x5a\x60\x68\x6a\x70\x78\x7a"sv;  // 1 to 15.
  return tags.find(static_cast<char>(tag)) != std::string_view::npos;
}

// A sample_type: numbers of two strings. What else begins with 0a is often another message with a name in it.
bool is_value_type(Bytes message) {
  while (!message.empty()) {
    if (message[0] != 0x08 && message[0] != 0x10) return false;
    std::size_t size = 1;
    while (size < message.size() && (message[size] & 0x80) != 0) ++size;
    message = message.subspan(std::min(size + 1, message.size()));
  }
  return true;
}

// The message has no magic number, but it must begin with the tag of one of its fields, and another one follows the
// first field. Gzip that can't be inflated counts as a profile too.
bool looks_like_profile_message(InputFile& file) {
  const Bytes bytes = file.beginning();
  if (bytes.empty() || is_gzip(bytes)) return true;
  if (!find_other_format(bytes).name.empty() || !is_profile_tag(bytes[0])) return false;
  constexpr std::uint8_t length_delimited = 2;
  std::uint64_t number = 0;  // The first field's: its size, or its value.
  std::size_t next = 1;
  for (int shift = 0; shift < 63 && next < bytes.size(); shift += 7) {
    number |= std::uint64_t{bytes[next] & 0x7fU} << shift;
    if ((bytes[next++] & 0x80) == 0) break;
  }
  if ((bytes[0] & 7) == length_delimited) {
    const std::uint64_t there = bytes.size() - next;
    if (bytes[0] == 0x0a && !is_value_type(bytes.subspan(next, std::min(number, there)))) return false;
    if (number > there) return true;  // Out of sight.
    next += static_cast<std::size_t>(number);
  }
  return next == bytes.size() || is_profile_tag(bytes[next]);
}

}  // namespace

constinit const Format pprof_format = {
    .name = "a pprof profile",
    .endings = ".prof .pprof .pb",
    .looks_like = looks_like_profile_message,
    .read = [](InputFile& file, const FileOptions& options, ReadControl* control) -> Result<FileContent> {
      const auto bytes = file.bytes();
      if (!bytes) return Failure(bytes.error());
      ReadOptions pprof;
      pprof.max_inflated_bytes = options.max_inflated_bytes;
      auto profile = read_pprof_bytes(*bytes, file.name(), pprof, control);
      if (!profile) return Failure(std::move(profile.error()));
      FileContent content;
      content.profile = std::make_shared<Profile>(std::move(*profile));
      return content;
    },
    .beginning = "one is a message of profile.proto, bare or in gzip",
    .hint = "Use the file that jax.profiler.save_device_memory_profile() wrote.",
};

}  // namespace hbmscope
