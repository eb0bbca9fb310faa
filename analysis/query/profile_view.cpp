#include "analysis/query/profile_view.h"

#include <functional>
#include <unordered_map>

#include <fmt/format.h>
#include <re2/re2.h>

#include "analysis/query/flat_index.h"
#include "analysis/query/interpreter_frame.h"
#include "analysis/query/select_samples.h"
#include "analysis/query/short_name.h"

namespace hbmscope {
namespace {

// Creates the frames of all locations. Frames are equal if their function, file and (by line) line are. The hash table
// uses the numbers of the texts, so no text is compared per location.
class FrameTableBuilder {
 public:
  FrameTableBuilder(ProfileView& view, const FramePatterns& patterns)
      : view_(view),
        profile_(*view.profile),
        patterns_(patterns),
        rows_(view.profile->functions.size()),
        library_files_(*view.profile),
        function_frames_(view.profile->functions.size(), FrameIndex::none),
        text_numbers_(view.profile->strings.size()),
        text_rows_by_hash_(view.profile->functions.size()) {}

  void build() {
    const std::size_t count = profile_.location_count();
    view_.frame_begin.reserve(count + 1);
    view_.frame_begin.push_back(0);
    view_.location_frames.reserve(profile_.lines.size());
    for (std::size_t i = 0; i < count; ++i) {
      add_location(static_cast<LocationIndex>(i));
      view_.frame_begin.push_back(static_cast<std::uint32_t>(view_.location_frames.size()));
    }
  }

 private:
  struct Key {
    std::uint64_t a, b, c;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static std::uint64_t hash_of(const Key& key) {
    std::uint64_t h = key.a * 0x9e3779b97f4a7c15U;
    h = (h ^ key.b ^ (h >> 32)) * 0xd6e8feb86659fd93U;
    h = (h ^ key.c ^ (h >> 32)) * 0x9e3779b97f4a7c15U;
    return h ^ (h >> 32);
  }

  void add_location(LocationIndex location) {
    if (view_.lines(location).empty()) {
      if (is_visible_without_lines(view_, patterns_, location))
        view_.location_frames.push_back(address_frame(location, nullptr));
      return;
    }
    if (!patterns_.hide && !patterns_.show) return add_lines(location, view_.lines(location));
    add_lines(location, visible_lines(view_, patterns_, location));
  }

  void add_lines(LocationIndex location, std::span<const Line> lines) {
    if (view_.request.by == FrameBy::address) {
      if (!lines.empty()) view_.location_frames.push_back(address_frame(location, &lines.front()));
      return;
    }
    for (const Line& line : lines)
      if (!is_of_interpreter(view_, line)) view_.location_frames.push_back(line_frame(location, line));
  }

  FrameIndex find_or_add(const Key& key, auto make_frame) {
    const auto next = static_cast<std::uint32_t>(view_.frames.size());
    const std::uint32_t found = rows_.find_or_add(hash_of(key), next, [&](std::uint32_t i) { return keys_[i] == key; });
    if (found == next) {
      keys_.resize(next);  // Frames by file and package have no key.
      keys_.push_back(key);
      view_.frames.push_back(make_frame());
    }
    return static_cast<FrameIndex>(found);
  }

  // Packages and files are few, and their texts are made here: equal texts are one frame.
  FrameIndex text_frame(const std::string& text, bool is_library) {
    const auto [found, is_new] = text_rows_.try_emplace(text, static_cast<FrameIndex>(view_.frames.size()));
    if (is_new) view_.frames.push_back({text, view_.request.by == FrameBy::file ? text : std::string(), 0, is_library});
    return found->second;
  }

  FrameIndex line_frame(LocationIndex location, const Line& line) {
    if (line.function == FunctionIndex::none) return address_frame(location, nullptr);
    if (view_.request.by == FrameBy::line) return named_frame(profile_.functions[row(line.function)], line.line);
    // Everything else depends only on the function, which several locations share.
    FrameIndex& frame = function_frames_[row(line.function)];
    if (frame == FrameIndex::none) frame = function_frame(profile_.functions[row(line.function)]);
    return frame;
  }

  FrameIndex function_frame(const Function& function) {
    const std::string_view file = profile_.text(function.file);
    const bool is_library = library_files_.contains(function.file);
    if (view_.request.by == FrameBy::file)
      return text_frame(file.empty() ? "<unknown file>" : std::string(file), is_library);
    if (view_.request.by == FrameBy::package)
      return text_frame(file.empty() ? "<unknown file>" : package_of(file, function_text(profile_, function)),
                        is_library);
    return named_frame(function, 0);
  }

  // `line` 0: the whole function.
  FrameIndex named_frame(const Function& function, std::int64_t line) {
    const StringId name = function.name != StringId::empty ? function.name : function.system_name;
    return find_or_add({text_number(name), text_number(function.file), static_cast<std::uint64_t>(line)}, [&] {
      return Frame{std::string(function_text(profile_, function)), std::string(profile_.text(function.file)),
                   view_.request.by == FrameBy::line ? line : function.start_line,
                   library_files_.contains(function.file)};
    });
  }

  // One number per distinct text, even if the file contains a text twice; 0 in text_numbers_ means not looked at.
  std::uint64_t text_number(StringId id) {
    std::uint32_t& number = text_numbers_[row(id)];
    if (number == 0) {
      const std::string_view text = profile_.text(id);
      const auto next = static_cast<std::uint32_t>(distinct_texts_.size());
      number = 1 + text_rows_by_hash_.find_or_add(std::hash<std::string_view>{}(text), next,
                                                  [&](std::uint32_t i) { return distinct_texts_[i] == text; });
      if (number == next + 1) distinct_texts_.push_back(text);
    }
    return number;
  }

  // `line` provides the name, if one is visible.
  FrameIndex address_frame(LocationIndex location, const Line* line) {
    const std::uint64_t address = profile_.location_address[row(location)];
    const MappingIndex mapping = profile_.location_mapping[row(location)];
    const bool nothing_known = address == 0 && line == nullptr && mapping == MappingIndex::none;
    constexpr std::uint64_t by_address = std::uint64_t{1} << 62;  // Distinct from all text numbers.
    const Key key = {by_address | row(mapping), nothing_known ? 0 : address,
                     nothing_known || address != 0 ? 0 : row(location) + 1};
    return find_or_add(key, [&] {
      if (line != nullptr && line->function != FunctionIndex::none) {
        const Function& function = profile_.functions[row(line->function)];
        Frame frame{std::string(function_text(profile_, function)), std::string(profile_.text(function.file)),
                    line->line, library_files_.contains(function.file)};
        if (address != 0) frame.function += fmt::format(" 0x{:x}", address);
        return frame;
      }
      Frame frame{address_text(profile_, location), {}, 0, false};
      if (mapping != MappingIndex::none) frame.file = profile_.text(profile_.mappings[row(mapping)].file);
      return frame;
    });
  }

  ProfileView& view_;
  const Profile& profile_;
  const FramePatterns& patterns_;
  FlatIndex rows_;         // Over keys_.
  std::vector<Key> keys_;  // By FrameIndex.
  std::unordered_map<std::string, FrameIndex> text_rows_;
  LibraryFiles library_files_;
  std::vector<FrameIndex> function_frames_;  // By function. None if not created yet.
  std::vector<std::uint32_t> text_numbers_;  // By StringId.
  FlatIndex text_rows_by_hash_;              // Over distinct_texts_.
  std::vector<std::string_view> distinct_texts_;
};

std::string file_of(const Profile& profile) {
  return profile.files.empty() ? "?" : profile.files.front();
}

// Applies the profile's own drop_frames. Everything below a matching frame is machinery (an allocator's internals) and
// is dropped, from the outermost such frame inwards, but never before the first frame that is kept (pprof's
// profile.Prune).
Result<void> apply_drop_frames(ProfileView& view) {
  const Profile& profile = *view.profile;
  if (profile.drop_frames == StringId::empty || view.request.keep_dropped_frames) return {};
  const auto whole = [&](StringId id) { return "(?:" + std::string(profile.text(id)) + ")"; };
  const RE2 drop(whole(profile.drop_frames), RE2::Quiet);
  const RE2 keep(profile.keep_frames == StringId::empty ? "[^\\s\\S]" : whole(profile.keep_frames), RE2::Quiet);
  if (!drop.ok() || !keep.ok())
    return Failure(refusal(
        "the profile's own expression for dropped frames is wrong: " + (drop.ok() ? keep.error() : drop.error()),
        "--keep-dropped-frames opens it without.", file_of(profile)));
  // 0: kept; 1: frames inside it are dropped; 2: it is dropped too.
  std::vector<std::uint8_t> state(profile.location_count());
  view.dropped_lines.assign(profile.location_count(), 0);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto lines = profile.location_lines(static_cast<LocationIndex>(i));
    for (std::size_t k = lines.size(); k-- > 0;) {
      if (lines[k].function == FunctionIndex::none) continue;
      const std::string_view name = without_arguments(profile.text(profile.functions[row(lines[k].function)].name));
      const re2::StringPiece piece(name.data(), name.size());
      if (name.empty() || !RE2::FullMatch(piece, drop) || RE2::FullMatch(piece, keep)) continue;
      state[i] = k + 1 == lines.size() ? 2 : 1;
      if (state[i] == 1)
        view.dropped_lines[i] = static_cast<std::uint32_t>(k + 1);  // The outer ones of inlined calls stay.
      break;
    }
  }
  view.skip.assign(profile.sample_count(), 0);
  for (std::size_t sample = 0; sample < view.skip.size(); ++sample) {
    const auto stack = profile.stack(sample);
    bool found_user = false;
    for (std::size_t i = stack.size(); i-- > 0;) {
      const std::uint8_t what = state[row(stack[i])];
      if (what == 0) found_user = true;
      if (what == 0 || !found_user) continue;
      view.skip[sample] = static_cast<std::uint32_t>(what == 2 ? i + 1 : i);
      break;
    }
  }
  return {};
}

void drop_interpreter_frames(ProfileView& view) {
  const Profile& profile = *view.profile;
  if (!profile.drops_interpreter_frames || view.request.keep_dropped_frames) return;
  view.is_interpreter.reserve(profile.functions.size());
  for (const Function& function : profile.functions)
    view.is_interpreter.push_back(is_interpreter_frame(profile.text(function.name), profile.text(function.file)));
}

Result<void> check_value_type(const Profile& profile, const std::string& wanted) {
  if (profile.value_types.empty())
    return Failure(refusal("the profile has no values at all", "Save it again.", file_of(profile)));
  if (wanted.empty() || find_value_type(profile, wanted)) return {};
  std::string known;
  for (const ValueType& type : profile.value_types) {
    known += (known.empty() ? "" : ", ") + std::string(profile.text(type.type));
  }
  if (find_value_type(profile, "live_space") && !find_value_type(profile, "allocated_space")) known += ", allocated";
  return Failure(refusal(fmt::format("the profile has no values '{}'", wanted), fmt::format("It has {}.", known)));
}

// If there are several pairs of values (inuse and alloc, live and allocated), only one is shown, and stacks that are 0
// in it would be rows of zeros. pprof drops them too (graph.go, newGraph).
void leave_out_zeros(ProfileView& view) {
  if (view.request.keep_zeros || view.profile->value_types.size() <= 2) return;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < view.sample_count(); ++i)
    if (!(view.weight(view.sample(i)) == Weight{})) kept.push_back(view.sample(i));
  if (kept.size() == view.sample_count()) return;
  view.samples = std::move(kept);
  view.all_samples = false;
}

}  // namespace

std::vector<FrameIndex> ProfileView::visible_stack(std::uint32_t sample) const {
  std::vector<FrameIndex> visible;
  for (const LocationIndex location : stack(sample))
    for (const FrameIndex frame : frames_of(location)) visible.push_back(frame);
  return visible;
}

Result<ProfileView> make_view(std::shared_ptr<const Profile> profile, const ViewRequest& request) {
  ProfileView view;
  view.profile = std::move(profile);
  view.request = request;
  if (auto known = check_value_type(*view.profile, request.value_type); !known)
    return Failure(std::move(known.error()));
  view.columns = find_memory_values(*view.profile, request.value_type);
  if (!view.profile->unknown_size.empty()) {
    view.unknown_size.assign(view.profile->sample_count(), false);
    for (const std::uint32_t sample : view.profile->unknown_size) view.unknown_size[sample] = true;
  }
  const auto patterns = compile_frame_patterns(request);
  if (!patterns) return Failure(patterns.error());
  if (auto done = apply_drop_frames(view); !done) return Failure(std::move(done.error()));
  drop_interpreter_frames(view);
  FrameTableBuilder(view, *patterns).build();
  if (auto done = select_samples(*patterns, view); !done) return Failure(std::move(done.error()));
  view.is_filtered = !view.all_samples;
  leave_out_zeros(view);
  for (std::size_t i = 0; i < view.profile->sample_count(); ++i)
    view.total += view.weight(static_cast<std::uint32_t>(i));
  if (view.all_samples)
    view.selected = view.total;
  else
    for (const std::uint32_t sample : view.samples) view.selected += view.weight(sample);
  return view;
}

std::string_view unit_of_amounts(const ProfileView& view) {
  const auto& types = view.profile->value_types;
  if (view.columns.bytes || view.columns.primary >= types.size()) return "bytes";
  return view.profile->text(types[view.columns.primary].unit);
}

}  // namespace hbmscope
