#include "analysis/query/merge.h"

#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/model/clamped.h"

namespace hbmscope {
namespace {

std::string types_text(const Profile& profile) {
  std::string text;
  for (const ValueType& type : profile.value_types)
    text += fmt::format("{}{}/{}", text.empty() ? "" : ", ", profile.text(type.type), profile.text(type.unit));
  return text;
}

std::string name_of(const Profile& profile) {
  return profile.files.empty() ? "?" : profile.files.front();
}

// Appends profiles to `out`, translating all row numbers.
class Merger {
 public:
  explicit Merger(Profile& out) : out_(out) {}

  void append(const Profile& in) {
    texts_.resize(in.strings.size());
    for (std::size_t i = 0; i < texts_.size(); ++i) texts_[i] = out_.strings.intern(in.text(static_cast<StringId>(i)));
    append_tables(in);
    append_samples(in);
    for (const ImportStatistic& s : in.import.rows()) out_.import.add(s.name, s.severity, s.count, s.remedy, s.example);
    out_.files.insert(out_.files.end(), in.files.begin(), in.files.end());
    out_.file_bytes += in.file_bytes;
    out_.inflated_bytes += in.inflated_bytes;
    if (out_.time_ns == 0 || (in.time_ns != 0 && in.time_ns < out_.time_ns)) out_.time_ns = in.time_ns;
    for (const StringId comment : in.comments) out_.comments.push_back(text(comment));
  }

 private:
  StringId text(StringId id) const { return texts_[row(id)]; }

  void append_tables(const Profile& in) {
    mapping_base_ = out_.mappings.size();
    for (Mapping mapping : in.mappings) {
      mapping.file = text(mapping.file);
      mapping.build_id = text(mapping.build_id);
      out_.mappings.push_back(mapping);
    }
    function_rows_.clear();
    for (Function function : in.functions) {
      function.name = text(function.name);
      function.system_name = text(function.system_name);
      function.file = text(function.file);
      const auto key = std::tuple(function.name, function.system_name, function.file, function.start_line);
      const auto [found, is_new] = functions_.try_emplace(key, static_cast<FunctionIndex>(out_.functions.size()));
      if (is_new) out_.functions.push_back(function);
      function_rows_.push_back(found->second);
    }
    location_base_ = out_.location_count();
    for (std::size_t i = 0; i < in.location_count(); ++i) {
      out_.location_address.push_back(in.location_address[i]);
      const MappingIndex mapping = in.location_mapping[i];
      out_.location_mapping.push_back(
          mapping == MappingIndex::none ? mapping : static_cast<MappingIndex>(row(mapping) + mapping_base_));
      out_.location_folded.push_back(in.location_folded[i]);
      for (Line line : in.location_lines(static_cast<LocationIndex>(i))) {
        if (line.function != FunctionIndex::none) line.function = function_rows_[row(line.function)];
        out_.lines.push_back(line);
      }
      out_.line_begin.push_back(static_cast<std::uint32_t>(out_.lines.size()));
    }
  }

  void append_samples(const Profile& in) {
    std::vector<LabelSetIndex> sets;
    for (std::size_t set = 0; set < in.label_set_count(); ++set) {
      if (set == 0) {
        sets.push_back(LabelSetIndex::none);
        continue;
      }
      for (Label label : in.label_set_labels(static_cast<LabelSetIndex>(set))) {
        label.key = text(label.key);
        label.text = text(label.text);
        label.number_unit = text(label.number_unit);
        out_.labels.push_back(label);
      }
      sets.push_back(static_cast<LabelSetIndex>(out_.label_set_count()));
      out_.label_begin.push_back(static_cast<std::uint32_t>(out_.labels.size()));
    }
    const auto sample_base = static_cast<std::uint32_t>(out_.sample_count());
    for (std::size_t type = 0; type < out_.values.size(); ++type)
      out_.values[type].insert(out_.values[type].end(), in.values[type].begin(), in.values[type].end());
    const std::uint64_t stack_base = out_.stack_locations.size();
    for (std::size_t i = 0; i < in.sample_count(); ++i) {
      out_.stack_begin.push_back(stack_base + in.stack_begin[i + 1]);
      out_.label_set.push_back(sets[row(in.label_set[i])]);
    }
    for (const LocationIndex location : in.stack_locations)
      out_.stack_locations.push_back(static_cast<LocationIndex>(row(location) + location_base_));
    for (const std::uint32_t sample : in.unknown_size) out_.unknown_size.push_back(sample_base + sample);
  }

  Profile& out_;
  std::vector<StringId> texts_;
  std::size_t mapping_base_ = 0, location_base_ = 0;
  std::vector<FunctionIndex> function_rows_;
  std::map<std::tuple<StringId, StringId, StringId, std::int64_t>, FunctionIndex> functions_;
};

// The sum may reach 2^63 although no single profile's does.
bool sums_fit(const Profile& profile) {
  for (const auto& values : profile.values) {
    std::int64_t sum = 0;
    for (const std::int64_t value : values) {
      sum = clamped_sum(sum, clamped_magnitude(value));
      if (sum == std::numeric_limits<std::int64_t>::max()) return false;
    }
  }
  return true;
}

}  // namespace

Result<Profile> merge_profiles(std::span<const std::shared_ptr<const Profile>> profiles) {
  Profile out;
  if (profiles.empty()) return Failure(refusal("there is nothing to merge", "Name at least one profile."));
  const Profile& first = *profiles.front();
  std::uint64_t samples = 0;
  for (const auto& profile : profiles) {
    samples += profile->sample_count();
    if (types_text(*profile) != types_text(first))
      return Failure(refusal(fmt::format("profiles of different kinds can't be added up: {} has {}, {} has {}",
                                         name_of(first), types_text(first), name_of(*profile), types_text(*profile)),
                             "Give profiles of one kind."));
  }
  if (samples >= 0xffffffff)
    return Failure(refusal("together the profiles have 2^32 samples or more", "Merge fewer at a time."));
  for (const ValueType& type : first.value_types)
    out.value_types.push_back({out.strings.intern(first.text(type.type)), out.strings.intern(first.text(type.unit))});
  out.default_value_type = first.default_value_type;
  out.period_type = {out.strings.intern(first.text(first.period_type.type)),
                     out.strings.intern(first.text(first.period_type.unit))};
  out.period = first.period;
  out.duration_ns = first.duration_ns;
  out.drop_frames = out.strings.intern(first.text(first.drop_frames));
  out.keep_frames = out.strings.intern(first.text(first.keep_frames));
  out.drops_interpreter_frames = first.drops_interpreter_frames;
  out.doc_url = out.strings.intern(first.text(first.doc_url));
  out.values.resize(out.value_types.size());
  out.stack_begin.push_back(0);
  out.line_begin.push_back(0);
  out.label_begin = {0, 0};
  Merger merger(out);
  for (const auto& profile : profiles) merger.append(*profile);
  if (!sums_fit(out)) return Failure(refusal("together the values reach 2^63", "Merge fewer profiles."));
  return out;
}

}  // namespace hbmscope
