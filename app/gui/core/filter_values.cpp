#include "app/gui/core/filter_values.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/query/block_labels.h"
#include "analysis/query/top.h"
#include "analysis/query/user_code.h"
#include "analysis/trace/profile_from_trace.h"
#include "app/gui/core/frame_key.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t values_max = 1000;  // For each field.

class Sums {
 public:
  void add(std::string text, std::int64_t bytes) {
    if (!text.empty()) bytes_[std::move(text)] += bytes;
  }
  std::vector<FilterValue> take() const {
    std::vector<FilterValue> values;
    for (const auto& [text, bytes] : bytes_) values.push_back({text, bytes});
    std::sort(values.begin(), values.end(), [](const FilterValue& a, const FilterValue& b) {
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      return a.text.size() != b.text.size() ? a.text.size() < b.text.size() : a.text < b.text;
    });
    if (values.size() > values_max) values.resize(values_max);
    return values;
  }

 private:
  std::unordered_map<std::string, std::int64_t> bytes_;
};

// Frames with all that was allocated below them, as the filter's text for one.
template <class TextOf>
std::vector<FilterValue> values_of_frames(const std::shared_ptr<const Profile>& profile, FrameBy by,
                                          const TextOf& text_of) {
  ViewRequest request;
  request.by = by;
  const auto view = make_view(profile, request);
  Sums sums;
  if (!view) return {};
  for (const TopRow& row : compute_top(*view, TopOrder::cum_bytes, 0))
    sums.add(text_of(view->frames[static_cast<std::size_t>(row.frame)]), row.cum.bytes);
  return sums.take();
}

void add_code(FilterValues& values, const std::shared_ptr<const Profile>& profile) {
  values["function"] = values_of_frames(profile, FrameBy::function, [](const Frame& frame) { return frame.function; });
  values["file"] = values_of_frames(profile, FrameBy::file, [](const Frame& frame) { return frame.function; });
  values["stack"] = values["function"];
}

void add_lines(FilterValues& values, const std::shared_ptr<const Profile>& profile) {
  values["frame"] = values_of_frames(
      profile, FrameBy::line, [](const Frame& frame) { return own_line_name(frame.function, frame.file, frame.line); });
  const auto view = make_view(profile, {});
  if (!view) return;
  Sums lines;
  for (const UserCodeRow& row : compute_user_code(*view))
    if (row.place == UserCodeRow::Place::line)
      lines.add(own_line_name(row.frame.function, row.frame.file, row.frame.line), row.weight.bytes);
    else if (row.has_place())
      lines.add(std::string(row.label()), row.weight.bytes);
  values["own"] = lines.take();
}

// The time of a stream at which its largest heap has its peak.
std::uint64_t position_of_peak(const Stream& stream) {
  HeapPeak largest;
  for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
    if (const HeapPeak peak = stream.peak(heap); peak.in_use_bytes > largest.in_use_bytes) largest = peak;
  return largest.position;
}

void add_blocks(FilterValues& values, const Trace& trace, const std::vector<StreamState>& states) {
  Sums tags, categories, heaps, layers, devices;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    const BlockLabels labels(trace.streams[i]);
    std::unordered_map<std::uint32_t, std::int64_t> by_tag;
    std::int64_t by_category[category_count] = {};
    for (const LiveBlock& block : states[i].slots()) {
      by_tag[block.tag] += static_cast<std::int64_t>(block.size);
      if (labels.has_categories())
        by_category[static_cast<std::size_t>(labels.category(block))] += static_cast<std::int64_t>(block.size);
    }
    for (const auto& [tag, bytes] : by_tag)
      if (tag != 0) tags.add(std::string(definitions.text(tag)), bytes);
    for (std::size_t category = 0; category < category_count; ++category)
      if (by_category[category] > 0)
        categories.add(std::string(text_from_category(static_cast<Category>(category))), by_category[category]);
    for (std::uint32_t heap = 1; heap < definitions.heaps().size(); ++heap) {
      const HeapInfo& info = definitions.heap(heap);
      const auto bytes = static_cast<std::int64_t>(trace.streams[i].peak(heap).in_use_bytes);
      heaps.add(info.name, bytes);
      layers.add(std::string(text_from_layer(info.layer)), bytes);
      if (info.device != wire::no_device) devices.add(std::to_string(info.device), bytes);
    }
  }
  values["tag"] = tags.take();
  values["category"] = categories.take();
  values["heap"] = heaps.take();
  values["layer"] = layers.take();
  values["device"] = devices.take();
}

}  // namespace

std::optional<FilterValues> filter_values_of_trace(const Trace& trace, const std::atomic<bool>& cancelled) {
  std::vector<StreamState> states;
  for (const Stream& stream : trace.streams) {
    if (cancelled) return std::nullopt;
    states.push_back(stream.state_at(position_of_peak(stream)));
  }
  FilterValues values;
  add_blocks(values, trace, states);
  const auto profile = std::make_shared<const Profile>(profile_from_trace(trace, states));
  if (cancelled) return std::nullopt;
  add_code(values, profile);
  add_lines(values, profile);
  return values;
}

std::optional<FilterValues> filter_values_of_profile(const std::shared_ptr<const Profile>& profile,
                                                     const std::vector<DeviceAccount>& accounts) {
  FilterValues values;
  add_code(values, profile);
  Sums devices, kinds;
  for (const DeviceAccount& account : accounts) {
    if (account.device) devices.add(*account.device, account.total.bytes);
    for (const KindAmount& amount : account.kinds)
      if (amount.kind) kinds.add(*amount.kind, amount.weight.bytes);
  }
  values["device"] = devices.take();
  values["kind"] = kinds.take();
  return values;
}

}  // namespace hbmscope::gui
