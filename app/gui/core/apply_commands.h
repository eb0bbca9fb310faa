// The functions that apply commands: apply::NAME applies the command NAME to the bound context. They are defined in the
// files named apply_to_* and beside the parts of App that they are about; without one, the program does not link.
#pragma once

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct AppState;
class Answering;
class AttachedJobs;
class DemoRuns;
class Emulation;
class KeptBookmarks;
class KeptFile;
class OpenSources;
class RecentFiles;
class SideBySide;
class WorkerPool;

// What commands act on.
struct AppParts {
  AppState& state;
  WorkerPool& pool;
  Answering& asking;
  SideBySide& sides;
  RecentFiles& recent;
  KeptFile& filters;
  OpenSources& sources;
  Emulation& emulation;
  AttachedJobs& jobs;
  DemoRuns& demo;
  KeptBookmarks& bookmarks;
};

namespace apply {

#define X(name, ...) void name(AppParts& parts);
#define V(name) void show_##name(AppParts& parts);
HBMSCOPE_MENU_COMMANDS(X, X, V)
HBMSCOPE_COMMANDS_OF_VIEWS(X, X, X)
#undef V
#undef X
#define X(name, type, help) void name(AppParts& parts, const type& given);
HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, X, X)
#undef X

}  // namespace apply
}  // namespace hbmscope::gui
