// What the window wants to know of a file, or of the part of it that is there, at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/source/read_source.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

struct ReadFile {
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const ProfileSummary> summary;
  std::vector<DeviceAccount> accounts;
  std::vector<DeviceHeaps> devices;
  std::vector<AttachedFacts> attached;
  std::shared_ptr<const WorkloadAnswer> workload;  // Of a workload file.
  MomentName opening_at;

  static Result<ReadFile> from(const hbmscope::Source& read);
  void fill(Source& source) const;
};

}  // namespace hbmscope::gui
