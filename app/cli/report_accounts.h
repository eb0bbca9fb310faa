#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/query/device_account.h"

namespace hbmscope::cli {

// One line for each part that a person should know about. Empty if there is nothing of that kind.
std::string text_from_accounts(const std::vector<DeviceAccount>& accounts, const Trace& trace);
// `device_accounts` in JSON.md.
nlohmann::ordered_json json_from_accounts(const std::vector<DeviceAccount>& accounts);

}  // namespace hbmscope::cli
