// Which samples a view has: those that focus, ignore, hide, show and where leave.
#pragma once

#include <memory>
#include <string>

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

// pprof's rule: an expression is searched for in a line's function and file, and in the location's module.
bool line_matches(const Profile& profile, const Line& line, const re2::RE2& pattern);
bool mapping_matches(const Profile& profile, LocationIndex location, const re2::RE2& pattern);

// Fills samples and all_samples; the view's frames must be there.
Result<void> select_samples(const FramePatterns& patterns, ProfileView& view);

}  // namespace hbmscope
