// What a process' memory on each device is made of, as sentences and as JSON.
#include "app/cli/report_accounts.h"

#include <fmt/format.h>

#include "analysis/query/device_account.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"

namespace hbmscope::cli {
namespace {

std::string owners_text(const std::vector<OwnerBytes>& owners) {
  constexpr std::size_t owners_shown = 6;
  std::string text;
  for (std::size_t i = 0; i < owners.size() && i < owners_shown; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", text_from_bytes(owners[i].bytes), printable(owners[i].owner));
  if (owners.size() > owners_shown) text += fmt::format(" and {} more", text_from_count(owners.size() - owners_shown));
  return text;
}

}  // namespace

std::string text_from_accounts(const std::vector<DeviceAccount>& accounts, const Trace& trace) {
  const std::vector<std::string> streams = find_stream_names(trace);
  std::string text;
  for (const DeviceAccount& account : accounts) {
    std::string device = fmt::format("GPU {}", account.device);
    if (account.stream < streams.size() && !streams[account.stream].empty())
      device += fmt::format(" of {}", printable(streams[account.stream]));
    // Without a pool that is seen from the inside, everything is "outside", and the blocks say whose it is.
    if (account.pools_bytes > 0 && account.outside_pools_bytes() > 0)
      text += fmt::format("{}: {} outside the frameworks' pools: {}\n", device,
                          text_from_bytes(account.outside_pools_bytes()), owners_text(account.owners));
    if (account.reported_bytes && account.unexplained_bytes)
      text += fmt::format(
          "{}: the device reports {} for this process, {} of it unexplained (contexts, loaded code, local memory of "
          "kernels)\n",
          device, text_from_bytes(*account.reported_bytes), text_from_bytes(*account.unexplained_bytes));
  }
  return text;
}

nlohmann::ordered_json json_from_accounts(const std::vector<DeviceAccount>& accounts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DeviceAccount& account : accounts) {
    nlohmann::ordered_json owners = nlohmann::ordered_json::array();
    for (const OwnerBytes& owner : account.owners)
      owners.push_back({{"owner", valid_utf8(owner.owner)}, {"bytes", owner.bytes}, {"blocks", owner.blocks}});
    list.push_back({{"stream", account.stream},
                    {"device", account.device},
                    {"pools_bytes", account.pools_bytes},
                    {"outside_pools_bytes", account.outside_pools_bytes()},
                    {"owners", std::move(owners)},
                    {"kept_bytes", account.kept_bytes},
                    {"reported_bytes", or_null(account.reported_bytes)},
                    {"all_processes_bytes", or_null(account.all_processes_bytes)},
                    {"unexplained_bytes", or_null(account.unexplained_bytes)}});
  }
  return list;
}

}  // namespace hbmscope::cli
