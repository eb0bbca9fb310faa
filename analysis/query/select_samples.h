// Which samples a view has: those that focus, ignore, hide, show and where leave.
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

// The four expressions of a request, compiled; null where not given.
struct FramePatterns {
  std::shared_ptr<const re2::RE2> focus, ignore, hide, show;
};
Result<FramePatterns> compile_frame_patterns(const ViewRequest& request);

// What a function is called: its name, else its mangled name, else "<no name>".
std::string_view function_text(const Profile& profile, const Function& function);
// What stands for a place in the code whose function is not known: "0x4711", or "<missing location>".
std::string address_text(const Profile& profile, LocationIndex location);

// pprof's rule: an expression is searched for in a line's function and file, and in the location's module.
bool line_matches(const Profile& profile, const Line& line, const re2::RE2& pattern);
// No frame of the view, whatever the patterns.
bool is_of_interpreter(const ProfileView& view, const Line& line);
bool mapping_matches(const Profile& profile, LocationIndex location, const re2::RE2& pattern);

// The lines of a location that drop_frames, hide and show leave, innermost first. A location that has no lines is
// visible or not as a whole.
std::vector<Line> visible_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location);
bool is_visible_without_lines(const ProfileView& view, const FramePatterns& patterns, LocationIndex location);

// Fills samples and all_samples; the view's frames must be there.
Result<void> select_samples(const FramePatterns& patterns, ProfileView& view);

}  // namespace hbmscope
