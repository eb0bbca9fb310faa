#include "analysis/query/summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/units/ascii.h"
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
    points.push_back({files.empty() ? "" : files.front(), view.profile->time_ns, view.selected,
                      compute_groups(view, "device"), compute_user_code(view)});
  }
  sort_series(points);
  return points;
}

namespace {

// "train.py:77"
std::string name_of_line(const UserCodeRow& row) {
  if (row.has_no_user_code()) return std::string(row.label());
  std::string name = row.frame.function + " " + file_title(row.frame.file);
  if (row.frame.line > 0) name += fmt::format(":{}", row.frame.line);
  return name;
}

// "leak_step_#", "ckpt-iter#": not the number of a rank.
bool counts_steps(std::string_view name) {
  return name.find("step") != std::string_view::npos || name.find("iter") != std::string_view::npos;
}

// The numbers of the file's name, and the rest of it.
std::pair<std::vector<std::uint64_t>, std::string> split_numbers(std::string_view path) {
  std::pair<std::vector<std::uint64_t>, std::string> split;
  for (const char c : path.substr(path.find_last_of("/\\") + 1)) {
    const bool goes_on = split.second.ends_with('#');
    if (!is_digit(c)) {
      split.second += c;
      continue;
    }
    if (!goes_on) split.first.push_back(0);
    if (!goes_on) split.second += '#';
    split.first.back() = split.first.back() * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return split;
}

std::optional<std::uint64_t> find_steps_between(const std::vector<SeriesPoint>& points) {
  const auto first = split_numbers(points.front().file);
  if (!counts_steps(lower(first.second))) return std::nullopt;
  std::optional<std::size_t> which;
  auto before = first;
  for (std::size_t i = 1; i < points.size(); ++i) {
    auto now = split_numbers(points[i].file);
    if (now.second != first.second) return std::nullopt;
    for (std::size_t k = 0; k < now.first.size(); ++k) {
      if (now.first[k] == before.first[k]) continue;
      if ((which && *which != k) || now.first[k] < before.first[k]) return std::nullopt;
      which = k;
    }
    before = std::move(now);
  }
  if (!which) return std::nullopt;
  return before.first[*which] - first.first[*which];
}

}  // namespace

SeriesGrowth compute_series_growth(const std::vector<SeriesPoint>& points) {
  constexpr std::size_t lines_max = 7;
  SeriesGrowth growth;
  if (points.empty()) return growth;
  std::map<std::string, std::vector<std::int64_t>> by_name;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const UserCodeRow& row : points[i].lines) {
      auto& bytes = by_name[name_of_line(row)];
      bytes.resize(points.size());
      bytes[i] += row.weight.bytes;
    }
  for (auto& [name, bytes] : by_name) growth.lines.push_back({name, std::move(bytes)});
  growth.bytes = clamped_difference(points.back().total.bytes, points.front().total.bytes);
  const auto change_of = [&](const SeriesGrowth::Line& line) {
    const std::int64_t change = clamped_difference(line.bytes.back(), line.bytes.front());
    return growth.bytes < 0 ? -change : change;
  };
  const auto largest_of = [](const SeriesGrowth::Line& line) {
    return *std::max_element(line.bytes.begin(), line.bytes.end());
  };
  std::stable_sort(growth.lines.begin(), growth.lines.end(), [&](const auto& a, const auto& b) {
    return std::max(largest_of(a), change_of(a)) > std::max(largest_of(b), change_of(b));
  });
  const auto find_changed_most = [&] {
    std::optional<std::size_t> most;
    for (std::size_t i = 0; i < growth.lines.size() && growth.bytes != 0; ++i)
      if (change_of(growth.lines[i]) > 0 && growth.lines[i].name.front() != '(' &&
          (!most || change_of(growth.lines[i]) > change_of(growth.lines[*most])))
        most = i;
    return most;
  };
  // The line that changed most is shown, however small it is.
  if (const auto most = find_changed_most(); most && *most >= lines_max)
    std::swap(growth.lines[lines_max - 1], growth.lines[*most]);
  std::optional<SeriesGrowth::Line> others;
  if (growth.lines.size() > lines_max + 1) {
    others = SeriesGrowth::Line{fmt::format("{} other lines", growth.lines.size() - lines_max),
                                std::vector<std::int64_t>(points.size())};
    for (std::size_t i = lines_max; i < growth.lines.size(); ++i)
      for (std::size_t k = 0; k < points.size(); ++k) others->bytes[k] += growth.lines[i].bytes[k];
    growth.lines.resize(lines_max);
  }
  std::stable_sort(growth.lines.begin(), growth.lines.end(),
                   [&](const auto& a, const auto& b) { return change_of(a) > change_of(b); });
  growth.line = find_changed_most();
  if (others) growth.lines.push_back(std::move(*others));
  growth.steps = find_steps_between(points);
  return growth;
}

}  // namespace hbmscope
