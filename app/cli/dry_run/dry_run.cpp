#include "app/cli/dry_run/dry_run.h"

#include <filesystem>
#include <utility>

namespace hbmscope::cli {
namespace fs = std::filesystem;

void keep_plans(const std::string& recording, TpuRun& run) {
  std::error_code error;
  const std::string made = std::exchange(run.plans, {});
  const fs::path kept = fs::absolute(recording, error).replace_extension(".programs");
  if (recording.empty() || !fs::is_directory(made, error) || fs::is_empty(made, error)) return;
  const auto is_plan = [](const fs::path& file) {
    const std::string name = file.filename().string();
    return (name.starts_with("module_") || name.starts_with("refused.")) && name.ends_with(".hlo.pb");
  };
  for (fs::directory_iterator entry(kept, error), end; !error && entry != end; entry.increment(error))
    if (is_plan(entry->path())) fs::remove(entry->path(), error);
  fs::create_directories(kept, error);
  fs::copy(made, kept, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
  if (!error) run.plans = kept.string();
}

}  // namespace hbmscope::cli
