// One setting to try: in words that a user can paste, and as the options of an allocator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/reference/catalog/catalog.h"
#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/replay/player.h"
#include "analysis/model/result.h"
#include "analysis/whatif/own_settings.h"

namespace hbmscope {

// A job that does one thing otherwise with some of its blocks: it frees them earlier, or donates them.
//
// `x = step(x)` holds the old x until the new one is there. Freed earlier, the old one goes first: `del x` before the
// call, or a smaller scope. Donated, the new one takes the memory of the old one, as in JAX with donate_argnums, and is
// never requested.
struct RequestChange {
  // Null: those of the recording. Numbers of operations are the same; what is no longer requested is a free of nothing.
  std::shared_ptr<const allocator::RequestStream> requests;
  std::vector<allocator::EarlyFree> early_frees;
  std::uint64_t changed = 0;  // Blocks that are freed earlier, or donated.
};

// `is_chosen`: by operation, whether it requests one of these blocks. Before such a request, all chosen blocks that are
// there are freed, except those since the last request of another kind: they are made together.
RequestChange free_before_next(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen);

// Each chosen block is donated to the first later request of the same size that outlives it. `failed`: operations whose
// requests failed in the recording; their blocks would have outlived all that were there.
RequestChange donate(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen,
                     std::span<const std::uint64_t> failed = {});

struct Scenario {
  std::string name;   // "XLA_CLIENT_MEM_FRACTION=.9", "jax 0.12", "h200"; "as recorded"
  std::string group;  // "settings", "allocator", "version", "device", "program"
  allocator::AllocatorOptions options;
  allocator::VirtualOptions upstream;  // The device, without what is outside the pool.
  std::uint64_t device_bytes = 0;      // All of it.
  bool is_own = false;                 // The settings of the recording.
  RequestChange change;                // What the program does otherwise.
};

// Errors: settings that JAX or PyTorch refuses, or that are not known here; none for the settings of a WhatIfSource.
Result<Scenario> own_scenario(const OwnSettings& own);
// What people try, each one change to the job's own settings: fractions, growth, other allocators, versions, devices.
std::vector<Scenario> usual_scenarios(const OwnSettings& own);
// PyTorch's variable with one more setting, or another value of one: "PYTORCH_CUDA_ALLOC_CONF=a:1,b:3".
std::string words_of_torch(const OwnSettings& own, std::string_view change);
// The size in such words: "device=h200", "device=80GiB". Nothing if there is none, or it is no GPU and no size.
std::optional<std::uint64_t> device_bytes_in(std::string_view words);
// From words: "NAME=VALUE NAME=VALUE", with "allocator=", "version=" and "device=" for what is no variable. Each
// replaces the job's own. Errors: what JAX or PyTorch refuses, unknown names.
Result<Scenario> scenario_from(const OwnSettings& own, std::string_view words);

}  // namespace hbmscope
