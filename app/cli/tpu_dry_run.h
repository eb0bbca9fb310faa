// A dry run on TPUs: its programs' plans, and its part of the JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/judge/tpu_dry_run.h"

namespace hbmscope::cli {

// Puts the plans next to the recording: "train.programs" for "train.hbm". Other files of that folder stay.
void keep_plans(const std::string& recording, TpuRun& run);

nlohmann::ordered_json json_from_tpu_peak(const TpuPeak& peak);
nlohmann::ordered_json json_from_tpu_run(const TpuRun& run);

}  // namespace hbmscope::cli
