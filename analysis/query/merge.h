// Merges several profiles (of several processes) into one, as pprof does: equal functions become one, and samples are
// concatenated. Value types must agree; otherwise the error names both.
#pragma once

#include <memory>
#include <span>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"

namespace hbmscope {

Result<Profile> merge_profiles(std::span<const std::shared_ptr<const Profile>> profiles);

}  // namespace hbmscope
