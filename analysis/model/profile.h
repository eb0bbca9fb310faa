// A pprof profile as flat columns: sizes and stacks at one point in time, without addresses or event times.
//
// A million samples of 40 frames each have 40 million locations. As objects (one per sample, label and location) they
// take several GiB and a minute of pointer chasing; here they take a handful of vectors. Sample i has the values
// `values[type][i]`, the stack `stack_locations[stack_begin[i] .. stack_begin[i + 1])`, innermost frame first, and the
// labels of the set `label_set[i]`. Each distinct label set is stored once: there are many samples and few sets
// (devices times kinds).
//
// The message is documented at https://github.com/google/pprof/blob/main/doc/README.md. What JAX omits (mappings,
// addresses, times, period, default value) is absent here too, never invented.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/model/string_table.h"

namespace hbmscope {

struct ValueType {
  StringId type{};  // "space"
  StringId unit{};  // "bytes"
};

struct Label {
  StringId key{};
  StringId text{};          // For text labels.
  std::int64_t number = 0;  // For numeric labels.
  StringId number_unit{};   // Empty: not in the file.
  bool is_number = false;

  friend bool operator==(const Label&, const Label&) = default;
};

struct Mapping {
  std::uint64_t memory_start = 0, memory_limit = 0, file_offset = 0;
  StringId file{}, build_id{};
  bool has_functions = false, has_filenames = false, has_line_numbers = false, has_inline_frames = false;
};

struct Function {
  StringId name{}, system_name{}, file{};
  std::int64_t start_line = 0;  // 0: unknown.
};

// One source position; a location has several if calls were inlined, innermost first.
struct Line {
  FunctionIndex function = FunctionIndex::none;
  std::int64_t line = 0, column = 0;  // 0: unknown.
};

struct Profile {
  // The source files, as the user named them; several if profiles were merged.
  std::vector<std::string> files;
  std::uint64_t file_bytes = 0;      // On disk.
  std::uint64_t inflated_bytes = 0;  // After gzip; equal to file_bytes for raw files.

  std::string producer;  // "PyTorch memory snapshot". Empty if the value types say it.

  StringTable strings;
  std::vector<ValueType> value_types;
  std::optional<std::size_t> default_value_type;  // An index of value_types, if the file names one.

  // Samples. A sample of unknown size has kind=executable and a negative size in the file. Here its size is 0, and
  // unknown_size lists it (ascending), so that no sum can include it.
  std::vector<std::vector<std::int64_t>> values;  // [value type][sample]
  std::vector<std::uint64_t> stack_begin;         // sample_count() + 1
  std::vector<LocationIndex> stack_locations;     // Innermost first.
  std::vector<LabelSetIndex> label_set;           // One per sample.
  std::vector<std::uint32_t> unknown_size;        // Sample numbers.

  // Label sets; the labels of a set are in file order.
  std::vector<std::uint32_t> label_begin;  // label_set_count() + 1
  std::vector<Label> labels;

  // Locations.
  std::vector<std::uint64_t> location_address;  // 0: none (Python frames have no address).
  std::vector<MappingIndex> location_mapping;
  std::vector<std::uint8_t> location_folded;
  std::vector<std::uint32_t> line_begin;  // location_count() + 1
  std::vector<Line> lines;

  std::vector<Function> functions;
  std::vector<Mapping> mappings;

  // The rest of the header.
  std::int64_t time_ns = 0, duration_ns = 0, period = 0;  // 0: unknown. time_ns counts from 1970.
  ValueType period_type;
  StringId drop_frames{}, keep_frames{}, doc_url{};
  bool drops_interpreter_frames = false;  // Made from a trace, whose stacks may mix C++ and Python.
  std::vector<StringId> comments;

  ImportStatistics import;

  std::size_t sample_count() const { return label_set.size(); }
  std::size_t location_count() const { return location_address.size(); }
  std::size_t label_set_count() const { return label_begin.size() - 1; }

  // Innermost first.
  std::span<const LocationIndex> stack(std::size_t sample) const {
    return {stack_locations.data() + stack_begin[sample], stack_locations.data() + stack_begin[sample + 1]};
  }
  std::span<const Line> location_lines(LocationIndex location) const {
    return {lines.data() + line_begin[row(location)], lines.data() + line_begin[row(location) + 1]};
  }
  std::span<const Label> label_set_labels(LabelSetIndex set) const {
    return {labels.data() + label_begin[row(set)], labels.data() + label_begin[row(set) + 1]};
  }
  std::string_view text(StringId id) const { return strings.text(id); }
};

// The value type with that name ("alloc_space"), or the first type of the pair with that name ("alloc").
std::optional<std::size_t> find_value_type(const Profile& profile, std::string_view name);

// Which value types are the bytes and the number of objects. JAX: "space" and "allocations". Go heap profiles have two
// such pairs; the default one (inuse) is used unless `preferred_type` names another ("alloc_space", "alloc"). A profile
// without bytes (CPU time) has only `primary`, whose unit is then shown instead.
struct MemoryValues {
  std::optional<std::size_t> bytes, count;
  std::size_t primary = 0;  // The bytes if there are any, else the default, else the last type, as in pprof.
};
MemoryValues find_memory_values(const Profile& profile, std::string_view preferred_type = {});

// Numeric labels read as "512 bytes".
std::string label_text(const Profile& profile, const Label& label);

// The text of the first label of that key in a set, if it has one.
std::optional<std::string> find_label_text(const Profile& profile, LabelSetIndex set, std::string_view key);

// True for the output of jax.profiler.device_memory_profile(): exactly allocations/count and space/bytes, and no sign
// of another producer. Source: jaxlib/pprof_profile_builder.cc.
bool is_device_memory_profile(const Profile& profile);

}  // namespace hbmscope
