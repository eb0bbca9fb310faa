#include "tests/analysis/profile_builder.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <random>

namespace hbmscope {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
}

}  // namespace

ProfileBuilder::ProfileBuilder() : ProfileBuilder({{"allocations", "count"}, {"space", "bytes"}}) {}

ProfileBuilder::ProfileBuilder(const std::vector<std::pair<std::string, std::string>>& types) {
  for (const auto& [type, unit] : types) profile_.value_types.push_back({text(type), text(unit)});
  profile_.values.resize(types.size());
  profile_.files = {"test.prof"};
  profile_.stack_begin = {0};
  profile_.line_begin = {0};
  profile_.label_begin = {0, 0};
}

ProfileBuilder& ProfileBuilder::name(const std::string& file) {
  profile_.files = {file};
  return *this;
}

ProfileBuilder& ProfileBuilder::time(std::int64_t time_ns) {
  profile_.time_ns = time_ns;
  return *this;
}

ProfileBuilder& ProfileBuilder::drop(std::string_view drop_frames, std::string_view keep_frames) {
  profile_.drop_frames = text(drop_frames);
  profile_.keep_frames = text(keep_frames);
  return *this;
}

ProfileBuilder& ProfileBuilder::sample(std::string_view stack, std::int64_t bytes, std::int64_t count,
                                       const std::vector<TestLabel>& labels) {
  return values(stack, {count, bytes}, labels);
}

ProfileBuilder& ProfileBuilder::unknown(std::string_view stack, std::int64_t count,
                                        const std::vector<TestLabel>& labels) {
  profile_.unknown_size.push_back(static_cast<std::uint32_t>(profile_.sample_count()));
  return values(stack, {count, 0}, labels);
}

ProfileBuilder& ProfileBuilder::values(std::string_view stack, const std::vector<std::int64_t>& values,
                                       const std::vector<TestLabel>& labels) {
  std::vector<LocationIndex> locations;
  const std::vector<std::string_view> frames = split(stack, ';');
  for (std::size_t i = frames.size(); i-- > 0;) locations.push_back(location(frames[i]));
  return this->values(locations, values, labels);
}

ProfileBuilder& ProfileBuilder::values(const std::vector<LocationIndex>& innermost_first,
                                       const std::vector<std::int64_t>& values, const std::vector<TestLabel>& labels) {
  profile_.stack_locations.insert(profile_.stack_locations.end(), innermost_first.begin(), innermost_first.end());
  profile_.stack_begin.push_back(profile_.stack_locations.size());
  for (std::size_t type = 0; type < profile_.values.size(); ++type) profile_.values[type].push_back(values[type]);
  profile_.label_set.push_back(label_set(labels));
  return *this;
}

FunctionIndex ProfileBuilder::function(std::string_view name, std::string_view file) {
  const std::string key = std::string(name) + '\0' + std::string(file);
  const auto [found, is_new] = functions_.try_emplace(key, static_cast<FunctionIndex>(profile_.functions.size()));
  if (is_new) profile_.functions.push_back({text(name), text(name), text(file), 1});
  return found->second;
}

LocationIndex ProfileBuilder::location(std::string_view frames) {
  if (const auto found = locations_.find(frames); found != locations_.end()) return found->second;
  std::vector<Line> lines;
  const std::vector<std::string_view> parts = split(frames, '+');
  for (std::size_t i = parts.size(); i-- > 0;) {
    const std::size_t at = parts[i].rfind('@');
    const std::string_view name = parts[i].substr(0, at);
    std::string file = std::string(name) + ".py";
    std::int64_t number = 1;
    if (at != std::string_view::npos) {
      const std::string_view where = parts[i].substr(at + 1);
      const std::size_t colon = where.rfind(':');
      file = where.substr(0, colon);
      if (colon != std::string_view::npos)
        std::from_chars(where.data() + colon + 1, where.data() + where.size(), number);
    }
    lines.push_back({function(name, file), number, 0});
  }
  const LocationIndex made = add_location(0, MappingIndex::none, lines);
  locations_.emplace(std::string(frames), made);
  return made;
}

LocationIndex ProfileBuilder::address(std::uint64_t address, std::string_view module) {
  const auto [found, is_new] =
      mappings_.try_emplace(std::string(module), static_cast<MappingIndex>(profile_.mappings.size()));
  if (is_new) profile_.mappings.push_back({0, ~std::uint64_t{0}, 0, text(module), {}, false, false, false, false});
  return add_location(address, found->second, {});
}

LocationIndex ProfileBuilder::add_location(std::uint64_t address, MappingIndex mapping,
                                           const std::vector<Line>& lines) {
  profile_.location_address.push_back(address);
  profile_.location_mapping.push_back(mapping);
  profile_.location_folded.push_back(0);
  profile_.lines.insert(profile_.lines.end(), lines.begin(), lines.end());
  profile_.line_begin.push_back(static_cast<std::uint32_t>(profile_.lines.size()));
  return static_cast<LocationIndex>(profile_.location_count() - 1);
}

LabelSetIndex ProfileBuilder::label_set(const std::vector<TestLabel>& labels) {
  if (labels.empty()) return LabelSetIndex::none;
  for (const TestLabel& label : labels)
    profile_.labels.push_back({text(label.key), text(label.text), label.number, text(label.unit), label.text.empty()});
  profile_.label_begin.push_back(static_cast<std::uint32_t>(profile_.labels.size()));
  return static_cast<LabelSetIndex>(profile_.label_set_count() - 1);
}

ProfileView view_of(const std::shared_ptr<const Profile>& profile, const ViewRequest& request) {
  auto view = make_view(profile, request);
  if (view) return std::move(*view);
  std::cerr << "the test's own request is wrong: " << view.error().text() << '\n';
  std::abort();
}

ProfileView view_of(const ProfileBuilder& builder, const ViewRequest& request) {
  return view_of(builder.build(), request);
}

std::string folded(const std::vector<Frame>& table, const std::vector<FrameIndex>& innermost_first) {
  std::string text;
  for (std::size_t i = innermost_first.size(); i-- > 0;)
    text += (text.empty() ? "" : ";") + table[row(innermost_first[i])].function;
  return text;
}

ProfileBuilder random_profile(std::uint32_t seed, std::size_t samples) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  ProfileBuilder builder;
  for (std::size_t i = 0; i < samples; ++i) {
    std::string stack;
    const std::uint32_t depth = below(9);
    for (std::uint32_t d = 0; d < depth; ++d) {
      const std::uint32_t f = below(7);
      const std::string file =
          f < 2 ? "/venv/site-packages/lib/api.py" : "/home/me/step" + std::to_string(f % 3) + ".py";
      if (!stack.empty()) stack += below(8) == 0 ? '+' : ';';
      stack += "f" + std::to_string(f) + "@" + file + ":" + std::to_string(1 + below(3));
    }
    std::vector<TestLabel> labels;
    if (below(5) != 0) labels.push_back({"device", "TPU_" + std::to_string(below(3)) + "(process=0)"});
    const bool is_unknown = below(12) == 0;
    if (is_unknown || below(7) != 0) labels.push_back({"kind", is_unknown || below(4) == 0 ? "executable" : "buffer"});
    if (below(10) == 0) labels.push_back({"bytes", "", static_cast<std::int64_t>(below(4)) * 512, "bytes"});
    if (is_unknown)
      builder.unknown(stack, 1 + below(3), labels);
    else
      builder.sample(stack, below(3) == 0 ? 0 : 1 + below(100'000), below(20), labels);
  }
  return builder;
}

}  // namespace hbmscope
