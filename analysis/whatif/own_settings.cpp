#include "analysis/whatif/own_settings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "allocator/reference/catalog/jax_settings.h"
#include "allocator/reference/pytorch/sizes.h"
#include "analysis/model/clamped.h"
#include "analysis/query/device_account.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/log_headline.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Finder {
 public:
  Finder(const Trace& trace, const DeviceRequests& requests)
      : trace_(trace), requests_(requests), stream_(trace.streams[requests.trace_stream]) {}

  Result<OwnSettings> find(std::optional<std::uint64_t> device_bytes, std::uint64_t otherwise) {
    const auto& definitions = stream_.definitions();
    if (has(definitions.job_fact("framework"), "tpu") || !definitions.job_fact("tpu.generation").empty())
      return Failure(Error{"a TPU's memory has no such settings", "Use hbmscope tpu run --what-if.", {}, {}, {}});
    find_allocator();
    if (const std::string speaker = find_other_speaker(); !speaker.empty())
      return Failure(Error{fmt::format("an error text of {} has no requests to replay", speaker),
                           "Record the job: hbmscope run -- COMMAND.",
                           {},
                           {},
                           {}});
    if (own_.is_pytorch)
      take_torch_settings();
    else
      take_jax_settings();
    if (!find_device(device_bytes, otherwise))
      return Failure(
          Error{"the memory of the device is unknown", "Add it: --device h100, or --device-bytes 80GiB.", {}, {}, {}});
    find_outside();
    return std::move(own_);
  }

 private:
  // The heaps of this device whose blocks are the requests.
  bool is_taken(const HeapInfo& heap) const {
    return heap.id != 0 && (!requests_.device || heap.device == *requests_.device) &&
           heap.layer != wire::Layer::physical && heap.memory_kind == "device";
  }

  void find_allocator() {
    const Definitions& definitions = stream_.definitions();
    bool is_bfc = false, has_two_ends = false;
    own_.is_pytorch = has(definitions.job_fact("framework"), "torch");
    for (const HeapInfo& heap : definitions.heaps()) {
      if (!is_taken(heap)) continue;
      own_.is_pytorch = own_.is_pytorch || has(heap.name, "PyTorch");
      is_bfc = is_bfc || has(heap.name, "_bfc");
      has_two_ends = has_two_ends || heap.has(wire::heap_flag::has_two_ends);
    }
    if (own_.is_pytorch) {
      if (const auto release = definitions.job_fact("version.torch"); !release.empty())
        own_.package = fmt::format("torch {}", release);
      return;
    }
    own_.is_allocator_known = is_bfc || !definitions.job_fact("variable.XLA_PYTHON_CLIENT_ALLOCATOR").empty();
    if (!is_bfc) own_.notes.emplace_back("which allocator the job had is not recorded; JAX's is assumed");
    const std::string_view release = definitions.job_fact("version.jaxlib");
    own_.fraction_variable = fraction_variable(definitions);
    own_.version = definitions.job_fact(reported_figure::replayed_version);
    own_.limit_bytes = find_of_heaps(find_limit_bytes);
    if (!release.empty()) own_.package = fmt::format("jaxlib {}", release);
    if (own_.version.empty()) own_.version = version_of_jaxlib(release);
    own_.is_version_known = !own_.version.empty();
    if (own_.version.empty()) own_.version = has_two_ends ? "spatial_v3" : "classic_align";
    // What has one end in a version with two was told so by the settings, which are not always recorded.
    if (is_bfc && !has_two_ends && own_.version.starts_with("spatial")) own_.version = "classic_align";
  }

  // Who reports the failures of a text, if it is no allocator that a replay knows. Empty if it is one, or it is no
  // text.
  std::string find_other_speaker() const {
    if (own_.is_pytorch || !(is_of_log(trace_) || requests_.has_only_failures())) return {};
    std::string speaker = "an unknown allocator";
    for (const HeapInfo& heap : stream_.definitions().heaps()) {
      if (!is_taken(heap)) continue;
      if (has(heap.name, "_bfc") || has(heap.name, "BFC") || has(heap.name, "XLA")) return {};
      speaker = heap.name;
    }
    return speaker;
  }

  // A pool that was claimed as one region before its first block is a preallocated one, and has all that it may have.
  std::optional<std::uint64_t> find_only_region() const {
    const allocator::RecordedPlaces& places = requests_.places;
    const bool is_only = places.regions_before.empty() && places.regions.size() == 1;
    if (!is_only || places.regions.front().operation != 0 || places.regions.front().is_released) return std::nullopt;
    // Unless it has just the size that a growing pool begins with: 2 MiB, doubled until the first request fits.
    std::uint64_t first_bytes = std::uint64_t{2} << 20;
    const std::uint64_t bytes = places.regions.front().claim.bytes;
    while (first_bytes < requests_.stream.operations.front().request.bytes && first_bytes < bytes) first_bytes *= 2;
    return bytes == first_bytes ? std::nullopt : std::optional(bytes);
  }

  void take_jax_settings() {
    const Definitions& definitions = stream_.definitions();
    for (const std::string_view name : allocator::jax_setting_names()) {
      const auto value = definitions.job_fact(fmt::format("variable.{}", name));
      if (value.empty() || value == wire::variable_not_set) continue;
      // Other flags of XLA have no effect here, and would be refused.
      if (name == "XLA_FLAGS") {
        const auto at = value.find(allocator::jax_partitioning_flag);
        if (at == std::string_view::npos) continue;
        own_.settings.push_back({std::string(name), std::string(value.substr(at, value.find(' ', at) - at))});
        continue;
      }
      own_.settings.push_back({std::string(name), std::string(value)});
    }
    if (definitions.job_fact(reported_figure::replayed_preallocation) == "false")
      own_.settings.push_back({"XLA_PYTHON_CLIENT_PREALLOCATE", "false"});
    const auto preallocates = allocator::find_setting(own_.settings, "XLA_PYTHON_CLIENT_PREALLOCATE");
    if (!own_.limit_bytes && preallocates.value_or("true") == "true") own_.limit_bytes = find_only_region();
  }

  void take_torch_settings() {
    const Definitions& definitions = stream_.definitions();
    std::string conf;
    for (const std::string_view name : {torch_conf, torch_conf_newer}) {
      for (const std::string_view prefix : {"variable.", "torch.allocator."})
        if (const auto value = definitions.job_fact(fmt::format("{}{}", prefix, name));
            conf.empty() && value != wire::variable_not_set)
          conf = value;
    }
    if (conf.empty() && definitions.job_fact("torch.allocator.expandable_segments") == "True")
      conf = "expandable_segments:True";
    if (!conf.empty()) own_.settings.push_back({std::string(torch_conf), std::move(conf)});
  }

  template <class Find>
  std::optional<std::uint64_t> find_of_heaps(const Find& find) const {
    for (const HeapInfo& heap : stream_.definitions().heaps())
      if (is_taken(heap))
        if (const auto found = find(stream_, heap.id, stream_.end_position())) return found;
    return std::nullopt;
  }

  bool find_device(std::optional<std::uint64_t> given, std::uint64_t otherwise) {
    const auto recorded = find_of_heaps(find_device_bytes);
    own_.device_bytes = given ? *given : recorded.value_or(0);
    own_.is_device_recorded = recorded && own_.device_bytes == *recorded;
    if (recorded && own_.device_bytes != *recorded) own_.limit_bytes.reset();  // It is that of the recorded device.
    if (own_.device_bytes == 0) find_usable();
    if (own_.device_bytes == 0) own_.device_bytes = otherwise;
    return own_.device_bytes > 0;
  }

  // What the pool had at a failure, and what was free on the device then. Only the first ones are looked at: a job may
  // catch a million, and a pool whose regions are unknown has none of these figures.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> find_pool_and_free() const {
    constexpr std::size_t looked_at_max = 8;
    std::size_t looked_at = 0;
    for (const FailureEvent& failure : stream_.failures()) {
      if (!is_taken(stream_.definitions().heap(failure.heap)) || !failure.available_bytes) continue;
      const StreamState state = stream_.state_at(failure.event);
      if (const auto pool = state.heap(failure.heap).space.region_bytes())
        return std::pair(*pool, *failure.available_bytes);
      // A text has no regions, but says how large the pool was.
      const FailureRow row = row_from_failure(stream_, failure, &state);
      if (row.pool_bytes)
        return std::pair(std::max(*row.pool_bytes, row.used_bytes.value_or(0)), *failure.available_bytes);
      if (++looked_at == looked_at_max) break;
    }
    return std::nullopt;
  }

  // A pool depends on what it can have of the device, and at a failure that is known. JAX's limit is a share of all of
  // the device: from the least that there is, a share is the least that the pool may have.
  void find_usable() {
    const auto found = find_pool_and_free();
    if (!found) return;
    own_.device_bytes = clamped_sum(found->first, found->second);
    own_.is_device_recorded = own_.is_outside_known = own_.is_device_at_least = true;
    own_.notes.push_back(
        fmt::format("the device has at least {}: at a failure the pool had {}, and {} was free outside of it",
                    text_from_bytes(own_.device_bytes), text_from_bytes(found->first), text_from_bytes(found->second)));
  }

  // At a failure the driver said what was left. Otherwise what was allocated outside of pools is the least there was.
  void find_outside() {
    // A replay has the whole device, and its failures say what the pool could still claim.
    own_.is_outside_known |= !stream_.definitions().job_fact(reported_figure::replayed_device).empty();
    if (own_.is_outside_known) return;
    if (const auto found = own_.is_device_recorded ? find_pool_and_free() : std::nullopt) {
      const std::uint64_t known = clamped_sum(found->first, found->second);
      if (known <= own_.device_bytes) {
        own_.outside_bytes = own_.device_bytes - known;
        own_.is_outside_known = true;
        return;
      }
    }
    const auto moment = find_moment(trace_, "end");
    if (!moment) return;
    for (const DeviceAccount& account : find_device_accounts(trace_, compute_states(trace_, *moment))) {
      if (account.stream != requests_.trace_stream || (requests_.device && account.device != *requests_.device))
        continue;
      own_.is_outside_known = account.all_processes_bytes.has_value() && own_.is_device_recorded;
      own_.outside_bytes = own_.is_outside_known ? *account.all_processes_bytes -
                                                       std::min(*account.all_processes_bytes, account.pools_bytes)
                                                 : account.outside_pools_bytes();
    }
    if (!own_.is_outside_known)
      own_.notes.emplace_back(
          "what else takes memory of the device (contexts, libraries, other processes) is not recorded, so less may be "
          "left for the pool");
  }

  const Trace& trace_;
  const DeviceRequests& requests_;
  const Stream& stream_;
  OwnSettings own_;
};

}  // namespace

Result<OwnSettings> find_own_settings(const Trace& trace, const DeviceRequests& requests,
                                      std::optional<std::uint64_t> device_bytes, std::uint64_t device_bytes_otherwise) {
  return Finder(trace, requests).find(device_bytes, device_bytes_otherwise);
}

std::string_view version_of_jaxlib(std::string_view release) {
  struct Since {
    std::array<int, 3> release;
    std::string_view version;
  };
  constexpr Since table[] = {
      {{0, 12, 0}, "spatial_v3"}, {{0, 11, 0}, "spatial_v1"}, {{0, 10, 1}, "classic_align"}, {{0, 0, 1}, "classic"}};
  const auto numbers = release_numbers(release);
  for (const Since& since : table)
    if (numbers >= since.release) return since.version;
  return {};
}

std::uint64_t segment_bytes_of_torch(std::uint64_t bytes) {
  namespace torch = allocator::pytorch;
  if (bytes <= torch::small_max) return torch::small_segment;
  return bytes < torch::large_request ? torch::large_segment : torch::round_up(bytes, torch::segment_step);
}

std::string_view fraction_variable(const Definitions& definitions) {
  for (const std::string_view name : {fraction_newer, fraction_older})
    if (!definitions.job_fact(fmt::format("variable.{}", name)).empty()) return name;
  // From 0.5.3 on at the latest (allocator/reference/catalog/README.md).
  constexpr std::string_view older[] = {"0.3.", "0.4.", "0.5.0", "0.5.1", "0.5.2"};
  const std::string_view release = definitions.job_fact("version.jaxlib");
  if (release.empty()) return fraction_older;
  for (const std::string_view old : older)
    if (release.starts_with(old)) return fraction_older;
  return fraction_newer;
}

}  // namespace hbmscope
