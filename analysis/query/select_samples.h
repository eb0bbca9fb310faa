// Selects the samples of a view: those that pass focus, ignore, hide, show and where.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/profile_view.h"

namespace re2 {
class RE2;
}

namespace hbmscope {

// The four expressions of a request, compiled; null if not given.
struct FramePatterns {
  std::shared_ptr<const re2::RE2> focus, ignore, hide, show;
};
Result<FramePatterns> compile_frame_patterns(const ViewRequest& request);

// The display name of a function: its name, else its mangled name, else "<no name>".
std::string_view function_text(const Profile& profile, const Function& function);
// The text for a code location without a known function: "0x4711", or "<missing location>".
std::string address_text(const Profile& profile, LocationIndex location);

// pprof's rule: an expression is searched for in a line's function and file, and in the location's module.
bool line_matches(const Profile& profile, const Line& line, const re2::RE2& pattern);
// Such frames are never visible, whatever the patterns.
bool is_of_interpreter(const ProfileView& view, const Line& line);
bool mapping_matches(const Profile& profile, LocationIndex location, const re2::RE2& pattern);

// The lines of a location that remain after drop_frames, hide and show, innermost first. A location without lines is
// visible or hidden as a whole.
std::vector<Line> visible_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location);
bool is_visible_without_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location);

// Fills samples and all_samples; requires the view's frames.
Result<void> select_samples(const FramePatterns& patterns, ProfileView& view);

}  // namespace hbmscope
