#include "analysis/query/summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// A profile made from a trace, rather than a profile file.
bool is_of_trace(const Profile& profile) {
  return std::any_of(profile.value_types.begin(), profile.value_types.end(),
                     [&](const ValueType& type) { return profile.text(type.type) == "live_space"; });
}

std::string find_producer(const Profile& profile) {
  if (!profile.producer.empty()) return profile.producer;
  if (is_device_memory_profile(profile)) return "JAX device memory profile";
  for (const ValueType& type : profile.value_types) {
    if (profile.text(type.type) == "inuse_space") return "Go heap profile";
    if (profile.text(type.type) == "cpu") return "CPU profile";
  }
  return "pprof profile";
}

std::int64_t count_named(const std::vector<GroupRow>& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const GroupRow& row) { return row.name.has_value(); });
}

std::string memory_headline(const ProfileSummary& summary, bool has_counts, std::int64_t samples, bool is_live) {
  const bool has_kinds = count_named(summary.by_kind) > 0;
  std::string held;
  for (const GroupRow& kind : summary.by_kind) {
    const std::int64_t count = kind.weight.count + kind.weight.unknown;
    if (count == 0 || !has_kinds) continue;
    if (!held.empty()) held += " and ";
    if (!kind.name)
      held += fmt::format("{} of no kind", text_from_count(count));
    else if (*kind.name == "buffer")
      held += text_from_count_of(count, "buffer", "buffers");
    else if (*kind.name == "block")
      held += text_from_count_of(count, "block", "blocks");
    else if (*kind.name == "executable")
      held += text_from_count_of(count, "compiled program", "compiled programs");
    else
      held += fmt::format("{} of kind {}", text_from_count(count), *kind.name);
  }
  if (held.empty() && !has_counts) held = text_from_count_of(samples, "stack", "stacks");
  if (held.empty()) held = text_from_count_of(summary.total.count + summary.total.unknown, "allocation", "allocations");
  std::string text =
      fmt::format("{} {}in {}", text_from_bytes(summary.total.bytes), is_live ? "" : "allocated so far, ", held);
  if (const std::int64_t devices = count_named(summary.by_device); devices > 0)
    text += fmt::format(" on {}", text_from_count_of(devices, "device", "devices"));
  return text;
}

}  // namespace

ProfileSummary compute_summary(const ProfileView& view) {
  const Profile& profile = *view.profile;
  ProfileSummary summary;
  summary.producer = find_producer(profile);
  summary.total = view.selected;
  summary.by_device = compute_groups(view, "device");
  summary.by_kind = compute_groups(view, "kind");
  if (!profile.value_types.empty()) summary.unit = profile.text(profile.value_types[view.columns.primary].unit);
  const auto samples = static_cast<std::int64_t>(view.sample_count());
  if (view.columns.bytes) {
    // Made from a trace; Go's alloc_space has another name.
    const bool is_live = profile.text(profile.value_types[*view.columns.bytes].type) != "allocated_space";
    summary.headline = fmt::format("{}: {}.", summary.producer,
                                   memory_headline(summary, view.columns.count.has_value(), samples, is_live));
  } else {
    summary.headline =
        fmt::format("{}: {} in {}.", summary.producer, text_from_value(summary.total.bytes, summary.unit),
                    text_from_count_of(samples, "stack", "stacks"));
  }
  if (profile.files.size() > 1) summary.notes.push_back(fmt::format("{} files together.", profile.files.size()));
  if (is_device_memory_profile(profile)) {
    summary.notes.push_back(
        "Sizes are those of the arrays, before the allocator rounds and a TPU pads them; temporaries inside compiled "
        "programs, "
        "fragmentation and the free part of the pool are not in a profile.");
    summary.notes.push_back(
        "This profile has array sizes and stacks, but no addresses or times: no heap map or timeline can be made of "
        "it.");
  }
  if (summary.total.unknown > 0)
    summary.notes.push_back(
        fmt::format("{} of unknown size: the runtime does not report how large {}. Counted here, but in no sum.",
                    text_from_count_of(summary.total.unknown, "compiled program is", "compiled programs are"),
                    summary.total.unknown == 1 ? "it is" : "they are"));
  // Checks the whole profile, not what a filter leaves: programs never have a device.
  const std::vector<std::string> keys = label_keys(profile);
  const bool has_devices = std::find(keys.begin(), keys.end(), "device") != keys.end();
  if (!has_devices && is_device_memory_profile(profile) && profile.sample_count() > 0)
    summary.notes.push_back("The profile does not record devices: older versions of JAX did not write them.");
  if (profile.sample_count() == 0)
    summary.notes.push_back(is_of_trace(profile) ? "At this time nothing is in use that this trace knows of."
                                                 : "The profile has no samples: nothing was alive when it was saved.");
  return summary;
}

void sort_series(std::vector<SeriesPoint>& points) {
  const bool all_have_times =
      std::all_of(points.begin(), points.end(), [](const SeriesPoint& p) { return p.time_ns != 0; });
  if (!all_have_times) return;
  std::stable_sort(points.begin(), points.end(),
                   [](const SeriesPoint& a, const SeriesPoint& b) { return a.time_ns < b.time_ns; });
}

std::vector<SeriesPoint> compute_series(const std::vector<ProfileView>& views) {
  std::vector<SeriesPoint> points;
  for (const ProfileView& view : views) {
    const std::vector<std::string>& files = view.profile->files;
    points.push_back(
        {files.empty() ? "" : files.front(), view.profile->time_ns, view.selected, compute_groups(view, "device")});
  }
  sort_series(points);
  return points;
}

}  // namespace hbmscope
