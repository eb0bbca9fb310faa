// Several profiles (of several processes) as one, as pprof merges them: equal functions become one, samples are put
// one after the other. Value types must agree, else an error that names both.
#pragma once

#include <memory>
#include <span>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"

namespace hbmscope {

Result<Profile> merge_profiles(std::span<const std::shared_ptr<const Profile>> profiles);

}  // namespace hbmscope
