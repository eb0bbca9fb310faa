// Writes the contents of a view as a pprof profile, with protobuf: that way, the library that everyone reads it with
// checks the message, and an export is not a hot path.
#include <algorithm>

#include "analysis/query/select_samples.h"
#include "analysis/write/compress_gzip.h"
#include "analysis/write/write.h"
#include "pprof.pb.h"

namespace hbmscope {
namespace {

class ProfileWriter {
 public:
  explicit ProfileWriter(const ProfileView& view) : view_(view), profile_(*view.profile) {
    // The view's own expressions, which compiled when the view was made.
    if (auto patterns = compile_frame_patterns(view.request)) patterns_ = std::move(*patterns);
  }

  // In parts: a protobuf message is limited to 2 GiB, and concatenated messages form one message.
  std::string write() {
    for (std::size_t i = 0; i < profile_.strings.size(); ++i) {
      const std::string_view text = profile_.text(static_cast<StringId>(i));
      out_.add_string_table(text.data(), text.size());
    }
    write_header();
    write_tables();
    std::string message = out_.SerializeAsString();
    out_.Clear();
    write_locations();
    constexpr std::size_t samples_a_part = 65'536;
    for (std::size_t i = 0; i < view_.sample_count(); ++i) {
      if (i % samples_a_part == 0) take_part(message);
      write_sample(view_.sample(i));
    }
    take_part(message);
    return message;
  }

 private:
  void take_part(std::string& message) {
    out_.AppendToString(&message);
    out_.Clear();
  }

  static std::int64_t number(StringId id) { return static_cast<std::int64_t>(row(id)); }

  void write_header() {
    for (const ValueType& type : profile_.value_types) {
      pprof::ValueType& out = *out_.add_sample_type();
      out.set_type(number(type.type));
      out.set_unit(number(type.unit));
    }
    if (profile_.period_type.type != StringId::empty) {
      out_.mutable_period_type()->set_type(number(profile_.period_type.type));
      out_.mutable_period_type()->set_unit(number(profile_.period_type.unit));
    }
    out_.set_period(profile_.period);
    out_.set_time_nanos(profile_.time_ns);
    out_.set_duration_nanos(profile_.duration_ns);
    // Readers of the export must not drop frames that the view keeps.
    if (!view_.request.keep_dropped_frames) {
      out_.set_drop_frames(number(profile_.drop_frames));
      out_.set_keep_frames(number(profile_.keep_frames));
    }
    out_.set_doc_url(number(profile_.doc_url));
    if (!view_.request.value_type.empty())
      out_.set_default_sample_type(number(profile_.value_types[view_.columns.primary].type));
    else if (profile_.default_value_type)
      out_.set_default_sample_type(number(profile_.value_types[*profile_.default_value_type].type));
    for (const StringId comment : profile_.comments) out_.add_comment(number(comment));
  }

  void write_tables() {
    for (std::size_t i = 0; i < profile_.mappings.size(); ++i) {
      const Mapping& mapping = profile_.mappings[i];
      pprof::Mapping& out = *out_.add_mapping();
      out.set_id(i + 1);
      out.set_memory_start(mapping.memory_start);
      out.set_memory_limit(mapping.memory_limit);
      out.set_file_offset(mapping.file_offset);
      out.set_filename(number(mapping.file));
      out.set_build_id(number(mapping.build_id));
      out.set_has_functions(mapping.has_functions);
      out.set_has_filenames(mapping.has_filenames);
      out.set_has_line_numbers(mapping.has_line_numbers);
      out.set_has_inline_frames(mapping.has_inline_frames);
    }
    for (std::size_t i = 0; i < profile_.functions.size(); ++i) {
      const Function& function = profile_.functions[i];
      pprof::Function& out = *out_.add_function();
      out.set_id(i + 1);
      out.set_name(number(function.name));
      out.set_system_name(number(function.system_name));
      out.set_filename(number(function.file));
      out.set_start_line(function.start_line);
    }
  }

  // Stacks leave out locations whose lines are all hidden.
  bool is_visible(std::size_t location) const { return view_.frame_begin[location] != view_.frame_begin[location + 1]; }

  void write_locations() {
    for (std::size_t i = 0; i < profile_.location_count(); ++i) {
      if (!is_visible(i)) continue;
      pprof::Location& out = *out_.add_location();
      out.set_id(i + 1);
      out.set_address(profile_.location_address[i]);
      out.set_is_folded(profile_.location_folded[i] != 0);
      if (const MappingIndex mapping = profile_.location_mapping[i]; mapping != MappingIndex::none)
        out.set_mapping_id(row(mapping) + 1);
      for (const Line& line : visible_lines(view_, patterns_, static_cast<LocationIndex>(i))) {
        pprof::Line& out_line = *out.add_line();
        if (line.function != FunctionIndex::none) out_line.set_function_id(row(line.function) + 1);
        out_line.set_line(line.line);
        out_line.set_column(line.column);
      }
    }
  }

  void write_sample(std::uint32_t sample) {
    pprof::Sample& out = *out_.add_sample();
    for (const LocationIndex location : view_.stack(sample))
      if (is_visible(row(location))) out.add_location_id(row(location) + 1);
    const bool is_unknown = !view_.unknown_size.empty() && view_.unknown_size[sample];
    for (std::size_t type = 0; type < profile_.values.size(); ++type) {
      // As the runtime writes it: -1 for each program of unknown size.
      const bool is_bytes = is_unknown && profile_.text(profile_.value_types[type].unit) == "bytes";
      const std::int64_t programs = std::max<std::int64_t>(1, view_.weight(sample).unknown);
      out.add_value(is_bytes ? -programs : profile_.values[type][sample]);
    }
    for (const Label& label : profile_.label_set_labels(profile_.label_set[sample])) {
      pprof::Label& out_label = *out.add_label();
      out_label.set_key(number(label.key));
      out_label.set_str(number(label.text));
      out_label.set_num(label.number);
      out_label.set_num_unit(number(label.number_unit));
    }
  }

  const ProfileView& view_;
  const Profile& profile_;
  FramePatterns patterns_;
  pprof::Profile out_;
};

}  // namespace

std::string write_pprof(const ProfileView& view) {
  if (!view.request.keep_zeros) {
    // All value types are written, so samples that are 0 in the chosen one belong in it too.
    ViewRequest request = view.request;
    request.keep_zeros = true;
    if (const auto whole = make_view(view.profile, request)) return write_pprof(*whole);
  }
  return compress_gzip(ProfileWriter(view).write());
}

}  // namespace hbmscope
