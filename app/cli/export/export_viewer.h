// export --to html --viewer: hbmscope's page for browsers (app/web) in one file, with the recordings, snapshots or
// profiles in it.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

int run_viewer_export(const ExportOptions& options);  // The exit code.

}  // namespace hbmscope::cli
