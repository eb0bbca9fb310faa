#include "tests/profiles/oracle.h"

#include <pprof.pb.h>
#include <zlib.h>

#include <limits>
#include <sstream>
#include <unordered_map>

namespace hbmscope::test {
namespace {

bool is_gzip_text(std::string_view bytes) {
  return bytes.size() > 1 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::optional<std::string> inflate_once(std::string_view file) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  std::string out;
  int state = Z_OK;
  while (true) {
    char buffer[1 << 15];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
    const bool another_member =
        is_gzip_text(std::string_view(reinterpret_cast<char*>(stream.next_in), stream.avail_in));
    if (state == Z_STREAM_END && another_member && inflateReset(&stream) == Z_OK) continue;
    if (state != Z_OK) break;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return out;
}

constexpr std::string_view missing_text = "<missing text>";

// The text for a text number that the reader guarantees, read from the objects.
class OracleTexts {
 public:
  explicit OracleTexts(const pprof::Profile& message) : message_(message) {}
  std::string_view operator[](std::int64_t number) const {
    if (number >= 0 && number < message_.string_table_size()) return message_.string_table(static_cast<int>(number));
    if (number == 0) return {};
    return missing_text;
  }

 private:
  const pprof::Profile& message_;
};

// Rows by id, the later one where an id occurs twice; id 0 is nobody's.
template <class Messages>
std::unordered_map<std::uint64_t, std::uint32_t> rows_by_id(const Messages& messages) {
  std::unordered_map<std::uint64_t, std::uint32_t> rows;
  std::uint32_t row = 0;
  for (const auto& message : messages) {
    if (message.id() != 0) rows[message.id()] = row;
    ++row;
  }
  return rows;
}

bool is_unknown_size(const pprof::Profile& message, const pprof::Sample& sample) {
  const OracleTexts text(message);
  const auto type_is = [&](int i, std::string_view type, std::string_view unit) {
    return text[message.sample_type(i).type()] == type && text[message.sample_type(i).unit()] == unit;
  };
  if (message.sample_type_size() != 2 || !type_is(0, "allocations", "count") || !type_is(1, "space", "bytes"))
    return false;
  if (sample.value_size() < 2 || sample.value(1) >= 0) return false;
  bool executable = false, kind_seen = false;
  for (const pprof::Label& label : sample.label()) {
    if (text[label.key()] == "pprof::base") return false;  // The difference of two profiles: really negative.
    if (text[label.key()] != "kind" || kind_seen) continue;
    kind_seen = true;
    executable = label.str() != 0 && text[label.str()] == "executable";
  }
  return executable;
}

class Comparison {
 public:
  Comparison(const pprof::Profile& message, const Profile& profile, std::size_t at_most)
      : message_(message), profile_(profile), text_(message), at_most_(at_most) {}

  std::vector<std::string> run() {
    compare_header();
    compare_mappings();
    compare_functions();
    compare_locations();
    compare_samples();
    return std::move(found_);
  }

 private:
  // `what` is a function, so that the text is only built when it is needed.
  template <class A, class B>
  void equal(const A& oracle, const B& ours, const char* what, std::int64_t number = -1) {
    if (oracle == ours || found_.size() >= at_most_) return;
    std::ostringstream sentence;
    sentence << what;
    if (number >= 0) sentence << ' ' << number;
    sentence << ": protobuf says '" << oracle << "', the reader '" << ours << "'";
    found_.push_back(sentence.str());
  }
  // Unset fields refer to text 0, which the format requires to be empty. If it is not empty, an unset field may be read
  // as either; the statistic first_text_not_empty reports that.
  void equal_text(std::int64_t number, StringId id, const char* what, std::int64_t of = -1) {
    if (number == 0 && ours(id).empty()) return;
    equal(text_[number], ours(id), what, of);
  }
  std::string_view ours(StringId id) const { return profile_.text(id); }

  void compare_header() {
    equal(message_.sample_type_size(), static_cast<int>(profile_.value_types.size()), "value types");
    if (static_cast<std::size_t>(message_.sample_type_size()) != profile_.value_types.size()) return;
    std::optional<std::size_t> default_type;
    const std::string_view wanted = text_[message_.default_sample_type()];
    for (int i = 0; i < message_.sample_type_size(); ++i) {
      equal_text(message_.sample_type(i).type(), profile_.value_types[i].type, "type of value type", i);
      equal_text(message_.sample_type(i).unit(), profile_.value_types[i].unit, "unit of value type", i);
      if (!default_type && !wanted.empty() && text_[message_.sample_type(i).type()] == wanted) default_type = i;
    }
    const bool can_differ = !text_[0].empty();  // As in equal_text: value types without a name may have that one.
    if (!can_differ)
      equal(default_type.value_or(999), profile_.default_value_type.value_or(999), "default value type (999: none)");
    equal_text(message_.drop_frames(), profile_.drop_frames, "drop_frames");
    equal_text(message_.keep_frames(), profile_.keep_frames, "keep_frames");
    equal_text(message_.doc_url(), profile_.doc_url, "doc_url");
    equal(message_.time_nanos(), profile_.time_ns, "time");
    equal(message_.duration_nanos(), profile_.duration_ns, "duration");
    equal(message_.period(), profile_.period, "period");
    equal_text(message_.period_type().type(), profile_.period_type.type, "type of the period");
    equal_text(message_.period_type().unit(), profile_.period_type.unit, "unit of the period");
    equal(message_.comment_size(), static_cast<int>(profile_.comments.size()), "comments");
    if (static_cast<std::size_t>(message_.comment_size()) != profile_.comments.size()) return;
    for (int i = 0; i < message_.comment_size(); ++i)
      equal_text(message_.comment(i), profile_.comments[i], "comment", i);
  }

  void compare_mappings() {
    equal(message_.mapping_size(), static_cast<int>(profile_.mappings.size()), "mappings");
    if (static_cast<std::size_t>(message_.mapping_size()) != profile_.mappings.size()) return;
    for (int i = 0; i < message_.mapping_size(); ++i) {
      const pprof::Mapping& theirs = message_.mapping(i);
      const Mapping& mine = profile_.mappings[i];
      equal(theirs.memory_start(), mine.memory_start, "memory_start of mapping", i);
      equal(theirs.memory_limit(), mine.memory_limit, "memory_limit of mapping", i);
      equal(theirs.file_offset(), mine.file_offset, "file_offset of mapping", i);
      equal_text(theirs.filename(), mine.file, "file of mapping", i);
      equal_text(theirs.build_id(), mine.build_id, "build_id of mapping", i);
      equal(theirs.has_functions(), mine.has_functions, "has_functions of mapping", i);
      equal(theirs.has_filenames(), mine.has_filenames, "has_filenames of mapping", i);
      equal(theirs.has_line_numbers(), mine.has_line_numbers, "has_line_numbers of mapping", i);
      equal(theirs.has_inline_frames(), mine.has_inline_frames, "has_inline_frames of mapping", i);
    }
  }

  void compare_functions() {
    equal(message_.function_size(), static_cast<int>(profile_.functions.size()), "functions");
    if (static_cast<std::size_t>(message_.function_size()) != profile_.functions.size()) return;
    for (int i = 0; i < message_.function_size(); ++i) {
      const pprof::Function& theirs = message_.function(i);
      const Function& mine = profile_.functions[i];
      equal_text(theirs.name(), mine.name, "name of function", i);
      equal_text(theirs.system_name(), mine.system_name, "system_name of function", i);
      equal_text(theirs.filename(), mine.file, "file of function", i);
      equal(theirs.start_line(), mine.start_line, "start_line of function", i);
    }
  }

  void compare_locations() {
    const auto mapping_rows = rows_by_id(message_.mapping());
    const auto function_rows = rows_by_id(message_.function());
    const auto row_of = [](const auto& rows, std::uint64_t id) {
      const auto found = rows.find(id);
      return found == rows.end() ? 0xffffffff : found->second;
    };
    location_count_ = static_cast<std::size_t>(message_.location_size());
    // One more row represents locations that the file refers to but does not contain, if there are any.
    const bool has_missing = profile_.import.count_of("missing_location") > 0;
    equal(location_count_ + (has_missing ? 1 : 0), profile_.location_count(), "locations");
    if (profile_.location_count() < location_count_) return;
    for (int i = 0; i < message_.location_size(); ++i) {
      const pprof::Location& theirs = message_.location(i);
      const auto lines = profile_.location_lines(static_cast<LocationIndex>(i));
      equal(theirs.address(), profile_.location_address[i], "address of location", i);
      equal(theirs.is_folded(), profile_.location_folded[i] != 0, "is_folded of location", i);
      equal(row_of(mapping_rows, theirs.mapping_id()), static_cast<std::uint32_t>(profile_.location_mapping[i]),
            "mapping of location", i);
      equal(static_cast<std::size_t>(theirs.line_size()), lines.size(), "lines of location", i);
      if (static_cast<std::size_t>(theirs.line_size()) != lines.size()) continue;
      for (int k = 0; k < theirs.line_size(); ++k) {
        equal(row_of(function_rows, theirs.line(k).function_id()), static_cast<std::uint32_t>(lines[k].function),
              "function of a line of location", i);
        equal(theirs.line(k).line(), lines[k].line, "line of location", i);
        equal(theirs.line(k).column(), lines[k].column, "column of location", i);
      }
    }
  }

  void compare_samples() {
    const auto samples = static_cast<std::size_t>(message_.sample_size());
    equal(samples, profile_.sample_count(), "samples");
    equal(samples + 1, profile_.stack_begin.size(), "begins of stacks");
    if (samples != profile_.sample_count() || samples + 1 != profile_.stack_begin.size()) return;
    location_rows_ = rows_by_id(message_.location());
    std::vector<std::uint64_t> sums(profile_.value_types.size());
    std::size_t next_unknown = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const pprof::Sample& theirs = message_.sample(static_cast<int>(i));
      compare_stack(theirs, i);
      compare_labels(theirs, i);
      const bool unknown = is_unknown_size(message_, theirs);
      if (unknown) {
        const bool listed = next_unknown < profile_.unknown_size.size() && profile_.unknown_size[next_unknown] == i;
        equal(true, listed, "unknown size of sample", static_cast<std::int64_t>(i));
        if (listed) ++next_unknown;
      }
      for (std::size_t type = 0; type < sums.size(); ++type) {
        std::int64_t value = static_cast<int>(type) < theirs.value_size() ? theirs.value(static_cast<int>(type)) : 0;
        if (unknown && type == 1) value = 0;
        equal(cap(value, sums[type]), profile_.values[type][i], "a value of sample", static_cast<std::int64_t>(i));
      }
    }
    equal(next_unknown, profile_.unknown_size.size(), "samples of unknown size");
    equal(capped_, static_cast<std::size_t>(profile_.import.count_of("sum_over_2_63")), "values beyond a sum of 2^63");
  }

  // Values that would raise the sum of magnitudes to 2^63 count as 0, so that no later sum can overflow.
  std::int64_t cap(std::int64_t value, std::uint64_t& sum) {
    const std::uint64_t magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (magnitude > limit - sum) {
      ++capped_;
      return 0;
    }
    sum += magnitude;
    return value;
  }

  void compare_stack(const pprof::Sample& theirs, std::size_t sample) {
    const auto stack = profile_.stack(sample);
    const auto number = static_cast<std::int64_t>(sample);
    equal(static_cast<std::size_t>(theirs.location_id_size()), stack.size(), "depth of sample", number);
    if (static_cast<std::size_t>(theirs.location_id_size()) != stack.size()) return;
    for (int k = 0; k < theirs.location_id_size(); ++k) {
      const auto found = location_rows_.find(theirs.location_id(k));
      const std::size_t expected = found == location_rows_.end() ? location_count_ : found->second;
      equal(expected, row(stack[k]), "a location of sample", number);
    }
  }

  void compare_labels(const pprof::Sample& theirs, std::size_t sample) {
    const auto number = static_cast<std::int64_t>(sample);
    const auto labels = profile_.label_set_labels(profile_.label_set[sample]);
    equal(static_cast<std::size_t>(theirs.label_size()), labels.size(), "labels of sample", number);
    if (static_cast<std::size_t>(theirs.label_size()) != labels.size()) return;
    for (int k = 0; k < theirs.label_size(); ++k) {
      const pprof::Label& label = theirs.label(k);
      equal_text(label.key(), labels[k].key, "a label's key in sample", number);
      equal_text(label.str(), labels[k].text, "a label's text in sample", number);
      equal(label.num(), labels[k].number, "a label's number in sample", number);
      equal_text(label.num_unit(), labels[k].number_unit, "a label's unit in sample", number);
      // Like pprof: a text wins, and a label with neither text nor number is an empty text.
      const bool is_number = label.str() == 0 && (label.num() != 0 || label.num_unit() != 0);
      if (text_[0].empty()) equal(is_number, labels[k].is_number, "a label's kind in sample", number);
    }
  }

  const pprof::Profile& message_;
  const Profile& profile_;
  OracleTexts text_;
  std::size_t at_most_;
  std::size_t location_count_ = 0, capped_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> location_rows_;
  std::vector<std::string> found_;
};

}  // namespace

std::optional<std::string> inflate_with_zlib(std::string_view file) {
  std::string bytes(file);
  for (int layer = 0; layer < 3 && is_gzip_text(bytes); ++layer) {
    auto inflated = inflate_once(bytes);
    if (!inflated) return std::nullopt;
    bytes = std::move(*inflated);
  }
  return bytes;
}

bool oracle_accepts(std::string_view message) {
  pprof::Profile parsed;
  return parsed.ParseFromArray(message.data(), static_cast<int>(message.size()));
}

std::vector<std::string> compare_with_oracle(std::string_view message, const Profile& profile, std::size_t at_most) {
  pprof::Profile parsed;
  if (!parsed.ParseFromArray(message.data(), static_cast<int>(message.size()))) return {"protobuf refuses the message"};
  return Comparison(parsed, profile, at_most).run();
}

std::map<std::optional<std::string>, OracleSum> oracle_sums_by_label(std::string_view message,
                                                                     std::string_view label_key) {
  pprof::Profile parsed;
  std::map<std::optional<std::string>, OracleSum> sums;
  if (!parsed.ParseFromArray(message.data(), static_cast<int>(message.size()))) return sums;
  const OracleTexts text(parsed);
  for (const pprof::Sample& sample : parsed.sample()) {
    std::optional<std::string> name;
    for (const pprof::Label& label : sample.label())
      if (!name && text[label.key()] == label_key) name = text[label.str()];
    if (name && name->empty()) name.reset();  // A device without a name is none.
    OracleSum& sum = sums[name];
    if (is_unknown_size(parsed, sample)) {
      sum.unknown += sample.value(0);
      sum.unknown_bytes += sample.value(1);
    } else {
      sum.count += sample.value_size() > 0 ? sample.value(0) : 0;
      sum.bytes += sample.value_size() > 1 ? sample.value(1) : 0;
    }
  }
  return sums;
}

std::int64_t oracle_sample_count(std::string_view message) {
  pprof::Profile parsed;
  if (!parsed.ParseFromArray(message.data(), static_cast<int>(message.size()))) return -1;
  return parsed.sample_size();
}

}  // namespace hbmscope::test
