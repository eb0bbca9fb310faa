// Where the code of frames is on this machine, and the command that opens it in an editor. A worker looks for the
// files.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "app/gui/sources/source_id.h"

namespace hbmscope::gui {

struct AppState;
struct FrameKey;

struct CodePlace {
  bool is_known = false;  // Otherwise a worker looks for it.
  std::string path;       // Empty: it is not on this machine.
};
// By source and by the file's name in it.
using CodePlaces = std::map<std::pair<SourceId, std::string>, CodePlace>;

// Why the frame can't be opened in an editor, as a sentence; empty if it can.
std::string why_no_editor(const AppState& state, const FrameKey& frame);

}  // namespace hbmscope::gui
