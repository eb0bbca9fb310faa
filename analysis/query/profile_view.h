// A profile seen through filters: which samples count, which frames of their stacks are visible, and the name of each
// frame. Every other query (top, groups, call tree, diff) is a pure function of such a view.
//
// A frame is what stacks are grouped by. By function, two locations in one function are one frame; by line they
// are two. The table location -> frames is built once, so that the million-sample loops touch integers only.
//
// focus, ignore, hide and show work as in pprof (profile.FilterSamplesByName in google/pprof): a regular expression is
// searched for in the function's name, the file's name and the mapping's file.
//   focus   keeps samples with a matching frame;   ignore  drops samples with a matching frame;
//   hide    removes matching frames from stacks;   show    removes all other frames.
// A sample whose frames are all hidden is dropped. A profile's own drop_frames / keep_frames apply unless
// `keep_dropped_frames` is set. The same holds for frames of the Python interpreter's own functions in profiles made
// from traces (interpreter_frame.h): they are not shown, but filters can match them. Percentages are relative to the
// whole profile, not to what a filter leaves (`--relative` changes that).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"

namespace hbmscope {

enum class FrameIndex : std::uint32_t { none = 0xffffffff };

enum class FrameBy { function, line, file, package, address };

struct Frame {
  std::string function;     // "train_step"; for FrameBy::file and package: that text; "0x4711" if nothing is known.
  std::string file;         // Empty: unknown.
  std::int64_t line = 0;    // The line, or with FrameBy::function the function's first line. 0 if unknown.
  bool is_library = false;  // In site-packages, in Python itself, in <frozen ...>: drawn grey and folded.
};

// A query on a profile. Comparable, so that it can be the key of a cache.
struct ViewRequest {
  std::string where{}, focus{}, ignore{}, hide{}, show{};
  FrameBy by = FrameBy::function;
  std::string value_type{};  // "alloc_space" or its pair "alloc". Empty means the default.
  bool keep_dropped_frames = false;
  bool keep_zeros = false;  // Keep samples that are 0 in the chosen values but not in others; for exports.
  // By sample of the profile, whether it passed a filter that only the profile's source can evaluate. Null if all did.
  std::shared_ptr<const std::vector<bool>> kept{};

  friend bool operator==(const ViewRequest&, const ViewRequest&) = default;
};

// The weight of samples. For a profile without bytes (CPU time), `bytes` holds the primary value in its own unit.
struct Weight {
  std::int64_t bytes = 0;    // Without samples of unknown size.
  std::int64_t count = 0;    // Likewise.
  std::int64_t unknown = 0;  // The count of samples of unknown size.

  Weight& operator+=(const Weight& other) {
    bytes += other.bytes;
    count += other.count;
    unknown += other.unknown;
    return *this;
  }
  friend bool operator==(const Weight&, const Weight&) = default;
};

struct ProfileView {
  std::shared_ptr<const Profile> profile;
  ViewRequest request;
  MemoryValues columns;

  bool all_samples = true;             // Then `samples` is empty.
  std::vector<std::uint32_t> samples;  // Ascending.
  bool is_filtered = false;            // The request removed samples (not counting samples that are 0).

  std::vector<Frame> frames;                // By FrameIndex.
  std::vector<std::uint32_t> frame_begin;   // location_count() + 1, into location_frames.
  std::vector<FrameIndex> location_frames;  // Innermost first.
  // What the profile's drop_frames removes. Empty if there is nothing.
  std::vector<std::uint32_t> skip;           // Per sample: innermost locations.
  std::vector<std::uint32_t> dropped_lines;  // Per location: innermost lines.
  // Per function: its frames are dropped anywhere in a stack. Empty if there is none.
  std::vector<bool> is_interpreter;

  std::vector<bool> unknown_size;  // Per sample; empty if no sample has unknown size.

  Weight total;     // All samples of the profile.
  Weight selected;  // The samples of this view.

  std::size_t sample_count() const { return all_samples ? profile->sample_count() : samples.size(); }
  std::uint32_t sample(std::size_t i) const { return all_samples ? static_cast<std::uint32_t>(i) : samples[i]; }

  std::span<const FrameIndex> frames_of(LocationIndex location) const {
    return {location_frames.data() + frame_begin[row(location)],
            location_frames.data() + frame_begin[row(location) + 1]};
  }
  // The locations of a sample without those removed by drop_frames, innermost first.
  std::span<const LocationIndex> stack(std::uint32_t sample) const {
    const auto all = profile->stack(sample);
    return skip.empty() ? all : all.subspan(skip[sample]);
  }
  // The lines of a location without those removed by drop_frames, innermost first.
  std::span<const Line> lines(LocationIndex location) const {
    const auto all = profile->location_lines(location);
    return dropped_lines.empty() ? all : all.subspan(dropped_lines[row(location)]);
  }
  // The visible frames of a sample, innermost first. For lists and tooltips; hot loops walk stack() themselves.
  std::vector<FrameIndex> visible_stack(std::uint32_t sample) const;

  Weight weight(std::uint32_t sample) const {
    const std::int64_t count = columns.count ? profile->values[*columns.count][sample] : 0;
    if (!unknown_size.empty() && unknown_size[sample]) return {0, 0, count};
    return {profile->values[columns.primary][sample], count, 0};
  }
};

// Errors: a where expression or regular expression that does not compile; a value type that the profile lacks.
Result<ProfileView> make_view(std::shared_ptr<const Profile> profile, const ViewRequest& request);

// "site-packages/jax/_src/api.py" -> the path after site-packages; "~/work/proj/train.py" -> "train.py";
// "/tmp/ipykernel_35137/19917.py" -> "<notebook>". The part of a path that does not depend on the machine.
std::string_view file_tail(std::string_view file);
// The tail; notebook cells, whose tails are equal, are distinguished by the number in their name: "<notebook> 19917".
std::string file_title(std::string_view file);
bool is_library_file(std::string_view file);

// The unit of Weight::bytes: "bytes"; "nanoseconds" in a profile of times.
std::string_view unit_of_amounts(const ProfileView& view);

// is_library_file, cached per file of a profile: paths are long, and thousands of functions share each one.
class LibraryFiles {
 public:
  explicit LibraryFiles(const Profile& profile) : profile_(profile), known_(profile.strings.size(), unknown) {}

  bool contains(StringId file) {
    std::uint8_t& known = known_[row(file)];
    if (known == unknown) known = is_library_file(profile_.text(file)) ? 1 : 0;
    return known == 1;
  }

 private:
  static constexpr std::uint8_t unknown = 2;
  const Profile& profile_;
  std::vector<std::uint8_t> known_;
};
// "jax._src.api" -> "jax"; the first folder after site-packages, "<python>" for Python's own, else the file's tail.
std::string package_of(std::string_view file, std::string_view function);

}  // namespace hbmscope
