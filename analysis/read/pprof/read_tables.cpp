#include "analysis/read/pprof/read_tables.h"

#include <fmt/format.h>

namespace hbmscope::pprof {
namespace {

std::size_t length(ByteRange range) {
  return static_cast<std::size_t>(range.end - range.begin);
}

std::string_view text_of(ByteRange range) {
  return {reinterpret_cast<const char*>(range.begin), length(range)};
}

std::int64_t as_int64(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

class TableReader {
 public:
  TableReader(const MessageIndex& index, const std::string& name, FileTexts& texts, Profile& profile)
      : index_(index), name_(name), texts_(texts), profile_(profile) {}

  // If false, error() has the reason. A Result per message would cost more than the message.
  bool read() { return read_header() && read_mappings() && read_functions(); }
  Error error() const { return wire_error(problem_, problem_at_, index_.message, problem_part_, name_); }

  bool read_locations(IdMap& location_rows) {
    location_rows.prepare(index_.locations.size());
    profile_.location_address.reserve(index_.locations.size() + 1);
    profile_.location_mapping.reserve(index_.locations.size() + 1);
    profile_.line_begin.reserve(index_.locations.size() + 2);
    profile_.lines.reserve(index_.locations.size());
    profile_.line_begin.push_back(0);
    for (const ByteRange range : index_.locations) {
      std::uint64_t id = 0, mapping_id = 0, address = 0;
      bool folded = false, lines_read = true;
      const bool read = for_each_field(range, "location", [&](const WireField& field) {
        switch (field.key) {
          case varint_key(1): id = field.varint; break;
          case varint_key(2): mapping_id = field.varint; break;
          case varint_key(3): address = field.varint; break;
          case bytes_key(4): lines_read = lines_read && read_line(field.bytes); break;
          case varint_key(5): folded = field.varint != 0; break;
          default: break;
        }
      });
      if (!read || !lines_read) return false;
      add_id(location_rows, id, profile_.location_address.size(), "location");
      add_location(address, mapping_row(mapping_id), folded);
    }
    return true;
  }

 private:
  // Calls `visit` for each field of a message; `part` names the message in errors.
  template <class Visit>
  bool for_each_field(ByteRange range, const char* part, const Visit& visit) {
    WireCursor cursor(range);
    WireField field;
    while (cursor.next_field(field)) visit(field);
    if (cursor.problem() == WireProblem::none) return true;
    if (problem_ == WireProblem::none) {
      problem_ = cursor.problem();
      problem_at_ = cursor.field_begin();
      problem_part_ = part;
    }
    return false;
  }

  bool read_header() {
    for (const ByteRange range : index_.value_types) {
      ValueType& type = profile_.value_types.emplace_back();
      if (!read_value_type(range, type)) return false;
    }
    for (const ByteRange range : index_.period_types)
      if (!read_value_type(range, profile_.period_type)) return false;
    profile_.drop_frames = texts_.id(index_.drop_frames);
    profile_.keep_frames = texts_.id(index_.keep_frames);
    profile_.doc_url = texts_.id(index_.doc_url);
    for (const std::uint64_t comment : index_.comments) profile_.comments.push_back(texts_.id(comment));
    profile_.time_ns = as_int64(index_.time_ns);
    profile_.duration_ns = as_int64(index_.duration_ns);
    profile_.period = as_int64(index_.period);
    if (const StringId wanted = texts_.id(index_.default_value_type); !profile_.text(wanted).empty()) {
      // By text, because a table may contain a text twice. The first type of that name, as in pprof.
      for (std::size_t i = profile_.value_types.size(); i-- > 0;)
        if (profile_.text(profile_.value_types[i].type) == profile_.text(wanted)) profile_.default_value_type = i;
    }
    return true;
  }

  bool read_mappings() {
    mapping_rows_.prepare(index_.mappings.size());
    for (const ByteRange range : index_.mappings) {
      Mapping mapping;
      std::uint64_t id = 0;
      const bool read = for_each_field(range, "mapping", [&](const WireField& field) {
        switch (field.key) {
          case varint_key(1): id = field.varint; break;
          case varint_key(2): mapping.memory_start = field.varint; break;
          case varint_key(3): mapping.memory_limit = field.varint; break;
          case varint_key(4): mapping.file_offset = field.varint; break;
          case varint_key(5): mapping.file = texts_.id(field.varint); break;
          case varint_key(6): mapping.build_id = texts_.id(field.varint); break;
          case varint_key(7): mapping.has_functions = field.varint != 0; break;
          case varint_key(8): mapping.has_filenames = field.varint != 0; break;
          case varint_key(9): mapping.has_line_numbers = field.varint != 0; break;
          case varint_key(10): mapping.has_inline_frames = field.varint != 0; break;
          default: break;
        }
      });
      if (!read) return false;
      add_id(mapping_rows_, id, profile_.mappings.size(), "mapping");
      profile_.mappings.push_back(mapping);
    }
    return true;
  }

  bool read_functions() {
    function_rows_.prepare(index_.functions.size());
    profile_.functions.reserve(index_.functions.size());
    for (const ByteRange range : index_.functions) {
      Function function;
      std::uint64_t id = 0;
      const bool read = for_each_field(range, "function", [&](const WireField& field) {
        switch (field.key) {
          case varint_key(1): id = field.varint; break;
          case varint_key(2): function.name = texts_.id(field.varint); break;
          case varint_key(3): function.system_name = texts_.id(field.varint); break;
          case varint_key(4): function.file = texts_.id(field.varint); break;
          case varint_key(5): function.start_line = as_int64(field.varint); break;
          default: break;
        }
      });
      if (!read) return false;
      add_id(function_rows_, id, profile_.functions.size(), "function");
      profile_.functions.push_back(function);
    }
    return true;
  }

  void add_location(std::uint64_t address, MappingIndex mapping, bool folded) {
    profile_.location_address.push_back(address);
    profile_.location_mapping.push_back(mapping);
    profile_.location_folded.push_back(folded ? 1 : 0);
    profile_.line_begin.push_back(static_cast<std::uint32_t>(profile_.lines.size()));
  }

  bool read_value_type(ByteRange range, ValueType& type) {
    return for_each_field(range, "value type", [&](const WireField& field) {
      if (field.key == varint_key(1)) type.type = texts_.id(field.varint);
      if (field.key == varint_key(2)) type.unit = texts_.id(field.varint);
    });
  }

  bool read_line(ByteRange range) {
    Line line;
    std::uint64_t function_id = 0;
    const bool read = for_each_field(range, "line", [&](const WireField& field) {
      if (field.key == varint_key(1)) function_id = field.varint;
      if (field.key == varint_key(2)) line.line = as_int64(field.varint);
      if (field.key == varint_key(3)) line.column = as_int64(field.varint);
    });
    if (!read) return false;
    if (const std::uint32_t found = function_rows_.find(function_id); found != IdMap::missing) {
      line.function = static_cast<FunctionIndex>(found);
    } else if (function_id != 0) {
      profile_.import.add("missing_function", Severity::warning, 1,
                          "Lines refer to functions that the file does not have; they are shown without a name.",
                          fmt::format("function {}", function_id));
    }
    profile_.lines.push_back(line);
    return true;
  }

  MappingIndex mapping_row(std::uint64_t id) {
    if (id == 0) return MappingIndex::none;
    if (const std::uint32_t found = mapping_rows_.find(id); found != IdMap::missing)
      return static_cast<MappingIndex>(found);
    profile_.import.add("missing_mapping", Severity::warning, 1,
                        "Locations refer to mappings that the file does not have; their module is unknown.",
                        fmt::format("mapping {}", id));
    return MappingIndex::none;
  }

  void add_id(IdMap& rows, std::uint64_t id, std::size_t row, const char* what) {
    if (id == 0) {
      profile_.import.add(fmt::format("{}_without_id", what), Severity::warning, 1,
                          "Nothing can refer to an entry without an id, so it is never shown.");
      return;
    }
    if (rows.add(id, static_cast<std::uint32_t>(row))) return;
    profile_.import.add(fmt::format("duplicate_{}_id", what), Severity::warning, 1,
                        "Two entries have one id; the later one is used, as pprof does. Stacks may name the wrong one.",
                        fmt::format("{} {}", what, id));
  }

  const MessageIndex& index_;
  const std::string& name_;
  FileTexts& texts_;
  Profile& profile_;
  IdMap mapping_rows_, function_rows_;
  WireProblem problem_ = WireProblem::none;
  const std::uint8_t* problem_at_ = nullptr;
  const char* problem_part_ = "";
};

}  // namespace

Result<void> FileTexts::read(const MessageIndex& index, const std::string& name, Profile& profile) {
  profile_ = &profile;
  if (index.strings.size() >= 0xffffff00)
    return Failure(refusal("the file has 2^32 texts or more", "Is this a pprof profile?", name));
  profile.strings.reserve(index.strings.size() + 2, index.string_bytes);
  for (std::size_t i = 0; i < index.strings.size(); ++i) {
    const std::string_view text = text_of(index.strings[i]);
    if (i == 0 && text.empty()) continue;  // A StringTable already begins with the empty text.
    if (i == 0) {
      offset_ = 1;
      profile.import.add("first_text_not_empty", Severity::warning, 1,
                         "The format requires string 0 to be empty. Fields that are not set show this string.",
                         fmt::format("'{}'", text));
    }
    profile.strings.append(text);
  }
  count_ = index.strings.size();
  if (count_ == 0) count_ = 1;  // An unset field refers to text 0, which is empty, even if the file has no texts.
  return {};
}

StringId FileTexts::missing(std::uint64_t number) {
  if (missing_text_ == StringId::empty) missing_text_ = profile_->strings.append("<missing text>");
  profile_->import.add("missing_text", Severity::warning, 1,
                       "The file refers to strings that it does not have, perhaps because it was cut off; they are "
                       "shown as <missing text>. Save the profile again.",
                       fmt::format("text {} of {}", number, count_));
  return missing_text_;
}

Result<void> read_tables(const MessageIndex& index, const std::string& name, FileTexts& texts, Profile& profile,
                         IdMap& location_rows) {
  TableReader reader(index, name, texts, profile);
  if (!reader.read() || !reader.read_locations(location_rows)) return Failure(reader.error());
  return {};
}

}  // namespace hbmscope::pprof
