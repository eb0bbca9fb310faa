#include "analysis/trace/profile_from_trace.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/model/clamped.h"
#include "analysis/trace/device_labels.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/lent_stacks.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

enum class SampleKind : std::uint8_t { block, pending, handle };
std::string_view text_from_kind(SampleKind kind) {
  switch (kind) {
    case SampleKind::pending: return "pending";
    case SampleKind::handle: return "handle";
    case SampleKind::block: break;
  }
  return "block";
}

constexpr std::uint32_t no_lender = 0xffffffff;

// The key of a sample. The size is part of it, so that a filter by size filters blocks.
struct SampleKey {
  std::uint32_t stack = 0, heap = 0, tag = 0;
  std::uint32_t lender = no_lender;  // The stream whose definitions have the stack; no_lender: the block's own.
  SampleKind kind = SampleKind::block;
  std::uint64_t size = 0;
  bool passes = true;  // A filter of blocks.

  friend auto operator<=>(const SampleKey&, const SampleKey&) = default;
};

struct SampleKeyHash {
  std::size_t operator()(const SampleKey& key) const {
    std::uint64_t hash = (std::uint64_t{key.stack} << 32 | (key.heap ^ key.lender)) * 0x9e3779b97f4a7c15U;
    hash = (hash ^ hash >> 32 ^ key.size) * 0xd6e8feb86659fd93U;
    hash = (hash ^ hash >> 32 ^
            (std::uint64_t{key.tag} << 8 | static_cast<std::uint64_t>(key.kind) << 1 | (key.passes ? 1U : 0U))) *
           0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

// By column of the profile: live blocks and bytes, then allocated ones.
using Values = std::array<std::int64_t, 4>;
constexpr std::size_t live_blocks = 0, live_space = 1, allocated_blocks = 2, allocated_space = 3;

using Samples = std::unordered_map<SampleKey, Values, SampleKeyHash>;

void add_one(Samples& samples, const SampleKey& key, std::size_t blocks, std::size_t space) {
  Values& values = samples[key];
  ++values[blocks];
  values[space] = clamped_sum(values[space], static_cast<std::int64_t>(key.size));
}

// Returns false if it was cancelled.
bool add_allocated(const Stream& stream, std::uint64_t end, const std::vector<bool>& counted, PassControl* control,
                   Samples& samples) {
  const auto add = [&](const auto& record, std::uint32_t tag, SampleKind kind) {
    if (record.heap == 0 || record.heap >= counted.size() || !counted[record.heap]) return;
    add_one(samples, {record.stack, record.heap, tag, no_lender, kind, possible_size(record)}, allocated_blocks,
            allocated_space);
  };
  return pass_over_records(stream, end, control, [&](const wire::DecodedBlock& block, const RecordPlace& place) {
    if (place.kind == wire::RecordKind::alloc) {
      const auto& record = block.rows<wire::AllocRecord>()[place.row];
      add(record, record.tag, SampleKind::block);
    } else if (place.kind == wire::RecordKind::physical_create) {
      const auto& record = block.rows<wire::PhysicalCreateRecord>()[place.row];
      if (possible_size(record) > 0) add(record, 0, SampleKind::handle);
    }
  });
}

class ProfileMaker {
 public:
  ProfileMaker(const Trace& trace, const std::vector<StreamState>& states, ProfileValues values)
      : trace_(trace),
        lent_(find_lent_stacks(trace, states)),
        counted_(find_counted_heaps(trace)),
        heap_labels_(find_heap_labels(trace, HeapLabels::parts)),
        device_labels_(find_device_labels(trace, heap_labels_)),
        values_(values) {
    profile_.files = trace.files;
    profile_.file_bytes = trace.file_bytes;
    profile_.inflated_bytes = trace.file_bytes;
    profile_.import = trace.import;
    profile_.producer = trace.producer;
    profile_.drop_frames = intern(trace.drop_frames);
    profile_.drops_interpreter_frames = true;
    profile_.value_types = {{intern("live_blocks"), intern("count")}, {intern("live_space"), intern("bytes")}};
    profile_.default_value_type = live_space;
    if (values_ == ProfileValues::live_and_allocated) {
      profile_.value_types.push_back({intern("allocated_blocks"), intern("count")});
      profile_.value_types.push_back({intern("allocated_space"), intern("bytes")});
    }
    profile_.values.resize(profile_.value_types.size());
    profile_.stack_begin.push_back(0);
    profile_.label_begin = {0, 0};  // The set without labels.
    profile_.line_begin.push_back(0);
  }

  // Returns false if it was cancelled. `places`: null: all pass.
  bool add(std::size_t stream, const StreamState& state, PassControl* control, const BlockPlaces* places = nullptr) {
    const Definitions& definitions = trace_.streams[stream].definitions();
    Samples samples;
    const std::vector<LentStack>& lent = lent_[stream];
    const auto add_live = [&](const SampleKey& key) {
      if (counted_[stream][key.heap]) add_one(samples, key, live_blocks, live_space);
    };
    for (const LiveBlock& block : state.slots()) {
      if (!block.is_live() || (places != nullptr && places->by_slot[block.slot] == BlockPlace::left_out)) continue;
      const SampleKind kind = block.is_pending() ? SampleKind::pending : SampleKind::block;
      SampleKey key{block.stack, block.heap, block.tag, no_lender, kind, block.size};
      if (!lent.empty() && lent[block.slot].stack != 0) {
        key.stack = lent[block.slot].stack;
        key.lender = lent[block.slot].stream;
      }
      key.passes = places == nullptr || places->by_slot[block.slot] == BlockPlace::passes;
      add_live(key);
    }
    for (const PhysicalHandle& handle : state.physical().handles()) {
      if (!handle.is_live() || handle.is_imported) continue;
      const BlockPlace place = places == nullptr ? BlockPlace::passes : places->of_handles[handle.heap];
      if (place != BlockPlace::left_out)
        add_live(
            {handle.stack, handle.heap, 0, no_lender, SampleKind::handle, handle.size, place == BlockPlace::passes});
    }
    if (values_ == ProfileValues::live_and_allocated &&
        !add_allocated(trace_.streams[stream], state.position(), counted_[stream], control, samples))
      return false;
    // Sorted by stack, so that equal keys are adjacent and the result does not depend on slots.
    std::vector<std::pair<SampleKey, Values>> sorted(samples.begin(), samples.end());
    samples = {};
    std::sort(sorted.begin(), sorted.end());
    for (auto& [key, values] : sorted) {
      keep_below_2_63(values);
      for (std::size_t column = 0; column < profile_.values.size(); ++column)
        profile_.values[column].push_back(values[column]);
      profile_.label_set.push_back(label_set(stream, definitions, key));
      kept_.push_back(key.passes);
      add_stack(key.lender == no_lender ? stream : key.lender, key.stack);
    }
    return true;
  }

  Profile finish() { return std::move(profile_); }
  std::vector<bool> take_kept() { return std::move(kept_); }

 private:
  static constexpr std::size_t stack_frames_max = 4096;  // Python stops at 1,000; a damaged file may not.
  static constexpr std::uint32_t no_location = 0xffffffff;

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  // Profile guarantees that the values of each type add up to less than 2^63.
  void keep_below_2_63(Values& values) {
    for (std::size_t column = 0; column < values.size(); ++column) {
      if (values[column] > std::numeric_limits<std::int64_t>::max() - totals_[column]) {
        profile_.import.add("sum_over_2_63", Severity::loss, 1,
                            "Blocks add up to 2^63 bytes or more, which no device has; those beyond count as 0. The "
                            "producer wrote wrong values, or the file is damaged.");
        values[column] = 0;
      }
      totals_[column] += values[column];
    }
  }

  void add_stack(std::size_t stream, std::uint32_t id) {
    const Definitions& definitions = trace_.streams[stream].definitions();
    std::vector<std::uint32_t>& locations = locations_[stream];
    locations.resize(definitions.frame_count(), no_location);
    std::size_t frames = 0;
    for (; id != 0 && frames < stack_frames_max; ++frames) {
      const TraceStack stack = definitions.stack(id);
      profile_.stack_locations.push_back(location(definitions, stack.frame, locations));
      id = stack.parent;
    }
    profile_.stack_begin.push_back(profile_.stack_locations.size());
  }

  LocationIndex location(const Definitions& definitions, std::uint32_t frame, std::vector<std::uint32_t>& known) {
    if (frame >= known.size()) frame = 0;
    if (known[frame] != no_location) return static_cast<LocationIndex>(known[frame]);
    const TraceFrame source = definitions.frame(frame);
    const StringId name = intern(definitions.text(source.function)), file = intern(definitions.text(source.file));
    const auto [found, is_new] =
        functions_.try_emplace({name, file}, static_cast<std::uint32_t>(profile_.functions.size()));
    if (is_new) profile_.functions.push_back({name, name, file, 0});
    known[frame] = static_cast<std::uint32_t>(profile_.location_count());
    profile_.location_address.push_back(0);
    profile_.location_mapping.push_back(MappingIndex::none);
    profile_.location_folded.push_back(0);
    profile_.lines.push_back({static_cast<FunctionIndex>(found->second), source.line, 0});
    profile_.line_begin.push_back(static_cast<std::uint32_t>(profile_.lines.size()));
    return static_cast<LocationIndex>(known[frame]);
  }

  LabelSetIndex label_set(std::size_t stream, const Definitions& definitions, const SampleKey& key) {
    const auto [found, is_new] = label_sets_.try_emplace(std::tuple(stream, key.heap, key.tag, key.kind),
                                                         static_cast<std::uint32_t>(profile_.label_set_count()));
    if (is_new) {
      const auto add = [&](std::string_view name, std::string_view text) {
        if (!text.empty()) profile_.labels.push_back({intern(name), intern(text), 0, StringId::empty, false});
      };
      const auto& [kind, device, heap, tag] = trace_label_keys;
      add(kind, text_from_kind(key.kind));
      add(device, device_labels_[stream][key.heap]);
      add(heap, heap_labels_[stream][key.heap]);
      add(tag, definitions.text(key.tag));
      profile_.label_begin.push_back(static_cast<std::uint32_t>(profile_.labels.size()));
    }
    return static_cast<LabelSetIndex>(found->second);
  }

  const Trace& trace_;
  std::vector<std::vector<LentStack>> lent_;
  std::vector<std::vector<bool>> counted_;  // By stream and heap: the other heaps are views of the same bytes.
  std::vector<std::vector<std::string>> heap_labels_, device_labels_;
  Profile profile_;
  std::vector<bool> kept_;  // By sample.
  ProfileValues values_;
  Values totals_{};
  std::map<std::size_t, std::vector<std::uint32_t>> locations_;  // By stream and frame.
  std::map<std::pair<StringId, StringId>, std::uint32_t> functions_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t, SampleKind>, std::uint32_t> label_sets_;
};

}  // namespace

std::optional<Profile> profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                                          ProfileValues values, PassControl* control) {
  if (control != nullptr)
    for (const Stream& stream : trace.streams) control->total_events += stream.end_position();
  ProfileMaker maker(trace, states, values);
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!maker.add(i, states[i], control)) return std::nullopt;
  return maker.finish();
}

Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states) {
  return *profile_from_trace(trace, states, ProfileValues::live);
}

Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                           const std::vector<BlockPlaces>& places, std::vector<bool>& kept) {
  ProfileMaker maker(trace, states, ProfileValues::live);
  for (std::size_t i = 0; i < states.size(); ++i) maker.add(i, states[i], nullptr, &places[i]);
  kept = maker.take_kept();
  return maker.finish();
}

}  // namespace hbmscope
