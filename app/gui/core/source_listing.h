// The source file of a frame, when it is on this machine, with what each of its lines holds.
//
// A profile names files as the job saw them: an absolute path of another machine, or a path relative to the folder it
// ran in. So the file is looked for as it is named, then by ever shorter tails of its path below the profile's folder,
// the folders above that, and the folder that hbmscope was started in. A tail of several parts is a better match than
// the bare file name and is tried first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/query/profile_view.h"
#include "app/gui/core/frame_key.h"

namespace hbmscope::gui {

struct LineAmount {
  Weight flat, cum;
};

struct SourceListing {
  std::string named;       // As the profile names it.
  std::string path;        // Where it was found.
  bool exact = false;      // `path` is `named`; else it was found by its tail and may be another version.
  std::int64_t focus = 0;  // The line to show, from 1.
  std::vector<std::string> lines;
  std::map<std::int64_t, LineAmount> amounts;  // By line number; lines that hold nothing are absent.
  Weight total;                                // Of the profile: what percentages are of.
};

// Nothing is found in folders that can't be read. `folders` are searched in order.
Result<std::string> find_source_file(const std::string& named, const std::vector<std::string>& folders);

// `by_line` is the view with FrameBy::line. Errors: the file was not found (where it was looked for is in the remedy),
// is not text, or is over 16 MiB.
Result<SourceListing> read_source_listing(const ProfileView& by_line, const FrameKey& frame,
                                          const std::vector<std::string>& folders);

}  // namespace hbmscope::gui
