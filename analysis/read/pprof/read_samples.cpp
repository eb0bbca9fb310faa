#include "analysis/read/pprof/read_samples.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

namespace hbmscope::pprof {
namespace {

constexpr std::uint32_t location_id_field = 1, value_field = 2, label_field = 3, profile_sample_field = 2;

// Counts the varints in these bytes: the bytes without continuation bit, eight at a time.
std::uint64_t count_varints(ByteRange range) {
  std::uint64_t count = 0;
  const std::uint8_t* at = range.begin;
  for (; range.end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    // One bit per byte, summed by the multiplication: std::popcount would be a call if the compiler may not assume the
    // instruction.
    count += ((~word & 0x8080808080808080U) >> 7) * 0x0101010101010101U >> 56;
  }
  for (; at != range.end; ++at) count += *at < 0x80 ? 1 : 0;
  return count;
}

// Runs `work(chunk number)` for all chunks on several threads; if it returns false for one, the rest is skipped.
template <class Work>
void for_each_chunk(std::size_t chunks, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto run = [&] {
    for (std::size_t chunk = next++; chunk < chunks && !stop; chunk = next++)
      if (!work(chunk)) stop = true;
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min<std::size_t>(threads, chunks);
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {  // A container may forbid more threads; the existing ones do the work.
  }
  run();
  for (std::thread& other : others) other.join();
}

// Label sets as the bytes of their messages, each once. Equal bytes are equal sets. A set that is encoded in two ways
// becomes two sets, which does not affect sums.
class LabelSets {
 public:
  std::uint32_t id_of(std::string_view bytes) {
    const auto [found, is_new] = ids_.try_emplace(bytes, static_cast<std::uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(bytes);
    return found->second;
  }
  const std::vector<std::string_view>& sets() const { return sets_; }

 private:
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::vector<std::string_view> sets_;
};

struct ChunkResult {
  std::vector<std::string_view> label_sets;  // By the numbers that label_set has until the merge.
  std::deque<std::string> own_bytes;         // Concatenated label messages that were not adjacent.
  std::uint64_t missing_locations = 0, missing_location = 0, value_mismatches = 0;
};

class SampleReader {
 public:
  SampleReader(MessageIndex& index, const std::string& name, unsigned threads, const IdMap& location_rows,
               Profile& profile, ReadControl* control)
      : index_(index),
        name_(name),
        threads_(threads),
        location_rows_(location_rows),
        profile_(profile),
        control_(control) {
    results_.resize(index.chunks.size());
    missing_row_ = static_cast<std::uint32_t>(profile.location_count());
  }

  Result<void> read(FileTexts& texts) {
    for_each_chunk(index_.chunks.size(), threads_, [&](std::size_t chunk) { return count_locations(chunk); });
    if (error_) return Failure(*error_);
    if (auto allocated = allocate_columns(); !allocated) return allocated;
    for_each_chunk(index_.chunks.size(), threads_, [&](std::size_t chunk) { return read_chunk(chunk); });
    if (error_) return Failure(*error_);
    profile_.stack_begin.back() = stack_locations_;
    if (auto merged = merge_label_sets(texts); !merged) return merged;
    count_problems();
    return {};
  }

 private:
  bool fail(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || error.offset.value_or(0) < error_->offset.value_or(0)) error_ = std::move(error);
    return false;
  }
  bool fail(WireProblem problem, const std::uint8_t* at) {
    return fail(wire_error(problem, at, index_.message, "sample", name_));
  }

  bool count_locations(std::size_t chunk_number) {
    SampleChunk& chunk = index_.chunks[chunk_number];
    WireCursor outer(chunk.bytes);
    WireField sample, field;
    while (outer.next_field(sample)) {
      if (sample.key != bytes_key(profile_sample_field)) continue;
      WireCursor cursor(sample.bytes);
      while (cursor.next_field(field)) {
        if (field.key == varint_key(location_id_field)) ++chunk.locations;
        if (field.key != bytes_key(location_id_field) || field.bytes.begin == field.bytes.end) continue;
        if (field.bytes.end[-1] >= 0x80) return fail(WireProblem::cut_off, field.bytes.end - 1);
        chunk.locations += count_varints(field.bytes);
      }
      if (cursor.problem() != WireProblem::none) return fail(cursor.problem(), cursor.field_begin());
    }
    return true;
  }

  Result<void> allocate_columns() {
    for (SampleChunk& chunk : index_.chunks) {
      chunk.first_location = stack_locations_;
      stack_locations_ += chunk.locations;
    }
    try {
      profile_.values.assign(profile_.value_types.size(), std::vector<std::int64_t>(index_.samples));
      profile_.stack_begin.resize(index_.samples + 1);
      profile_.stack_locations.resize(stack_locations_);
      profile_.label_set.resize(index_.samples);
    } catch (const std::bad_alloc&) {
      return Failure(refusal(
          fmt::format("there is not enough memory for {} samples with {} frames", index_.samples, stack_locations_),
          "Close other programs, or open it on a larger machine.", name_));
    }
    return {};
  }

  bool read_chunk(std::size_t chunk_number) {
    if (control_ != nullptr && control_->cancelled) return fail(refusal("reading was cancelled", {}, name_));
    const SampleChunk& chunk = index_.chunks[chunk_number];
    ChunkResult& result = results_[chunk_number];
    LabelSets label_sets;
    label_sets.id_of({});
    std::uint64_t sample_number = chunk.first_sample, location = chunk.first_location;
    WireCursor outer(chunk.bytes);
    WireField sample;
    while (outer.next_field(sample)) {
      if (sample.key != bytes_key(profile_sample_field)) continue;
      profile_.stack_begin[sample_number] = location;
      if (!read_sample(sample.bytes, sample_number, location, label_sets, result)) return false;
      ++sample_number;
    }
    result.label_sets = label_sets.sets();
    if (control_ != nullptr) control_->done_bytes += static_cast<std::uint64_t>(chunk.bytes.end - chunk.bytes.begin);
    return true;
  }

  bool read_sample(ByteRange range, std::uint64_t sample, std::uint64_t& location, LabelSets& label_sets,
                   ChunkResult& result) {
    const std::size_t types = profile_.values.size();
    std::size_t value_count = 0;
    ByteRange label_run;  // The label messages with their tags, while they are adjacent.
    std::string* scattered = nullptr;
    const auto add_value = [&](std::uint64_t value) {
      if (value_count < types) profile_.values[value_count][sample] = static_cast<std::int64_t>(value);
      ++value_count;
    };
    WireCursor cursor(range);
    WireField field;
    while (cursor.next_field(field)) {
      switch (field.key) {
        case bytes_key(location_id_field):
          if (!read_locations(field.bytes, location, result)) return false;
          break;
        case varint_key(location_id_field): add_location(field.varint, location, result); break;
        case bytes_key(value_field): {
          WireCursor packed(field.bytes);
          std::uint64_t value = 0;
          while (packed.at() != field.bytes.end) {
            if (!packed.read_varint(value)) return fail(packed.problem(), packed.at());
            add_value(value);
          }
          break;
        }
        case varint_key(value_field): add_value(field.varint); break;
        case bytes_key(label_field):
          if (scattered != nullptr) {
            scattered->append(reinterpret_cast<const char*>(cursor.field_begin()), cursor.at() - cursor.field_begin());
          } else if (label_run.begin == nullptr) {
            label_run = {cursor.field_begin(), cursor.at()};
          } else if (label_run.end == cursor.field_begin()) {
            label_run.end = cursor.at();
          } else {
            scattered = &result.own_bytes.emplace_back(reinterpret_cast<const char*>(label_run.begin),
                                                       label_run.end - label_run.begin);
            scattered->append(reinterpret_cast<const char*>(cursor.field_begin()), cursor.at() - cursor.field_begin());
          }
          break;
        default: break;
      }
    }
    if (value_count != types) ++result.value_mismatches;
    std::string_view labels;
    if (scattered != nullptr)
      labels = *scattered;
    else if (label_run.begin != nullptr)
      labels = {reinterpret_cast<const char*>(label_run.begin),
                static_cast<std::size_t>(label_run.end - label_run.begin)};
    profile_.label_set[sample] = static_cast<LabelSetIndex>(label_sets.id_of(labels));
    return true;
  }

  // The hot loop: forty varints per sample, most of them with two bytes.
  bool read_locations(ByteRange packed, std::uint64_t& location, ChunkResult& result) {
    const std::uint8_t* at = packed.begin;
    while (at != packed.end) {
      std::uint64_t id = *at++;
      if (id >= 0x80) {
        id &= 0x7f;
        for (unsigned shift = 7;; shift += 7) {
          if (shift >= 70) return fail(WireProblem::long_varint, at);
          const std::uint8_t byte = *at++;  // count_locations checked that the last byte ends a varint.
          id |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
          if (byte < 0x80) break;
        }
      }
      add_location(id, location, result);
    }
    return true;
  }

  void add_location(std::uint64_t id, std::uint64_t& location, ChunkResult& result) {
    std::uint32_t found = location_rows_.find(id);
    if (found == IdMap::missing) {
      ++result.missing_locations;
      result.missing_location = id;
      found = missing_row_;
    }
    profile_.stack_locations[location++] = static_cast<LocationIndex>(found);
  }

  // Merges the chunks' label sets into the profile and renumbers those of the samples.
  Result<void> merge_label_sets(FileTexts& texts) {
    LabelSets all;
    all.id_of({});
    std::vector<std::vector<LabelSetIndex>> rows(results_.size());
    for (std::size_t chunk = 0; chunk < results_.size(); ++chunk)
      for (const std::string_view set : results_[chunk].label_sets)
        rows[chunk].push_back(static_cast<LabelSetIndex>(all.id_of(set)));
    profile_.label_begin.push_back(0);
    for (const std::string_view set : all.sets())
      if (auto read = read_label_set(set, texts); !read) return read;
    for_each_chunk(results_.size(), threads_, [&](std::size_t chunk) {
      const SampleChunk& where = index_.chunks[chunk];
      for (std::uint64_t i = where.first_sample; i < where.first_sample + where.samples; ++i)
        profile_.label_set[i] = rows[chunk][row(profile_.label_set[i])];
      return true;
    });
    return {};
  }

  Result<void> read_label_set(std::string_view set, FileTexts& texts) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(set.data());
    WireCursor outer({begin, begin + set.size()});
    WireField message, field;
    while (outer.next_field(message)) {
      Label label;
      bool has_text = false;
      WireCursor cursor(message.bytes);
      while (cursor.next_field(field)) {
        if (field.key == varint_key(1)) label.key = texts.id(field.varint);
        if (field.key == varint_key(2)) {
          label.text = texts.id(field.varint);
          has_text = field.varint != 0;
        }
        if (field.key == varint_key(3)) label.number = static_cast<std::int64_t>(field.varint);
        if (field.key == varint_key(4)) label.number_unit = texts.id(field.varint);
      }
      if (cursor.problem() != WireProblem::none)
        return Failure(
            Error{"a label of a sample can't be read", "The file is damaged; save it again.", name_, {}, true});
      label.is_number = !has_text && (label.number != 0 || label.number_unit != StringId::empty);
      profile_.labels.push_back(label);
    }
    profile_.label_begin.push_back(static_cast<std::uint32_t>(profile_.labels.size()));
    return {};
  }

  void count_problems() {
    std::uint64_t missing_locations = 0, missing_location = 0, value_mismatches = 0;
    for (const ChunkResult& result : results_) {
      missing_locations += result.missing_locations;
      if (result.missing_locations > 0) missing_location = result.missing_location;
      value_mismatches += result.value_mismatches;
    }
    if (missing_locations > 0) {
      profile_.import.add(
          "missing_location", Severity::warning, static_cast<std::int64_t>(missing_locations),
          "Stacks refer to locations that the file does not have; these frames are shown as <missing location>.",
          fmt::format("location {}", missing_location));
      profile_.location_address.push_back(0);
      profile_.location_mapping.push_back(MappingIndex::none);
      profile_.location_folded.push_back(0);
      profile_.line_begin.push_back(static_cast<std::uint32_t>(profile_.lines.size()));
    }
    if (value_mismatches > 0)
      profile_.import.add("value_mismatch", Severity::loss, static_cast<std::int64_t>(value_mismatches),
                          "Samples have more or fewer values than the profile has value types; missing ones count as "
                          "0, extra ones are ignored. Save the profile again.");
  }

  MessageIndex& index_;
  const std::string& name_;
  unsigned threads_;
  const IdMap& location_rows_;
  Profile& profile_;
  ReadControl* control_;
  std::vector<ChunkResult> results_;
  std::uint64_t stack_locations_ = 0;
  std::uint32_t missing_row_ = 0;
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

Result<void> read_samples(MessageIndex& index, const std::string& name, unsigned threads, const IdMap& location_rows,
                          FileTexts& texts, Profile& profile, ReadControl* control) {
  SampleReader reader(index, name, threads, location_rows, profile, control);
  return reader.read(texts);
}

}  // namespace hbmscope::pprof
