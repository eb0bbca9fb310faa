// The source file of a frame, if it is on this machine, with the amount that each line holds.
//
// A profile names files as the job saw them: an absolute path on another machine, or a path relative to the job's
// working folder. So we try the path itself, then ever shorter tails of it below the profile's folder, its parent
// folders, and hbmscope's working folder. A tail of several parts is a better match than the file name alone and is
// tried first.
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
  std::string named;       // As in the profile.
  std::string path;        // Where the file was found.
  bool exact = false;      // `path` equals `named`; otherwise only the tail matches, and it may be another version.
  std::int64_t focus = 0;  // The line to show, counted from 1.
  std::vector<std::string> lines;
  std::map<std::int64_t, LineAmount> amounts;  // By line number; lines that hold nothing are absent.
  Weight total;                                // The profile's total, the base of percentages.
};

// Where a frame's source file may be: next to the profile, in the four folders above it, in the current folder.
std::vector<std::string> source_folders(const std::string& profile_path);

// Searches `folders` in order, and skips folders that can't be read.
Result<std::string> find_source_file(const std::string& named, const std::vector<std::string>& folders);

// `by_line` is the view with FrameBy::line. Errors: the file was not found (the remedy lists the searched places), is
// not text, or is larger than 16 MiB.
Result<SourceListing> read_source_listing(const ProfileView& by_line, const FrameKey& frame,
                                          const std::vector<std::string>& folders);

}  // namespace hbmscope::gui
