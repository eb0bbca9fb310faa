// The commands about jobs that run: attach, detach, ps.
#pragma once

#include <string>

#include "app/cli/attach.h"
#include "app/cli/ps.h"

namespace CLI {
class App;
}

namespace hbmscope::cli {

struct AttachCommands {
  AttachOptions attach;
  std::string detach;  // The job's number.
  FarOptions detach_far;
  PsOptions ps;
};
void add_attach_commands(CLI::App& app, AttachCommands& commands);

}  // namespace hbmscope::cli
