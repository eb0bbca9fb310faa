// Each backend has its own format for device names. The profile's label `device` holds that text (XLA's
// PjRtDevice::DebugString). This file parses it; the full text remains the device's identity.
//
//   TPU_3(process=0,(1,0,0,1))               kind "TPU", id 3, process 0, coordinates "1,0,0" core 1
//   NVIDIA A100-SXM4-40GB_0(process=1,(0,))  kind "NVIDIA A100-SXM4-40GB", id 0, process 1
//   gpu:0, cuda:0, CUDA_0, TFRT_CPU_0, GPU 0 kind and id
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbmscope {

struct DeviceName {
  std::string text;                     // As the source printed it.
  std::string kind;                     // "TPU"; equal to `text` if nothing else was recognised.
  std::string host;                     // Empty: unknown.
  std::optional<std::int64_t> process;  // JAX process (host) index.
  std::optional<std::int64_t> id;       // Global device id.
  std::string coordinates;              // "1,0,0,1", if it is known.
  std::string part;                     // With several files or ranks: "rank 3". Empty: there is only one.

  // "TPU 3", "NVIDIA A100-SXM4-40GB 0"; with the process unless it is 0: "TPU 3 (process 1)".
  std::string short_text() const;
};

DeviceName parse_device_name(std::string_view text);

// Orders by host, process, kind, id (as a number), then by text: TPU_2 comes before TPU_10.
bool device_before(const DeviceName& a, const DeviceName& b);

// Sorts rows in that order by their member `name`, an optional that must have a value. Each name is parsed once.
template <class Row>
void sort_by_device(std::vector<Row>& rows) {
  std::vector<std::pair<DeviceName, std::size_t>> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(parse_device_name(*rows[i].name), i);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return device_before(a.first, b.first) || (!device_before(b.first, a.first) && a.second < b.second);
  });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& [name, i] : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

}  // namespace hbmscope
