#include "analysis/trace/profile_from_trace.h"

#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/model/clamped.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

struct SampleKey {
  std::uint32_t stack = 0, heap = 0;
  std::string_view kind;  // Of the literals below.

  friend bool operator<(const SampleKey& a, const SampleKey& b) {
    return std::tie(a.stack, a.heap, a.kind) < std::tie(b.stack, b.heap, b.kind);
  }
};

// By column of the profile: live blocks and bytes, then those allocated.
using Values = std::array<std::int64_t, 4>;
constexpr std::size_t live_blocks = 0, live_space = 1, allocated_blocks = 2, allocated_space = 3;

// In the order of stacks, so that equal ones meet and the result does not depend on slots.
using Samples = std::map<SampleKey, Values>;

// False where it was cancelled.
bool add_allocated(const Stream& stream, std::uint64_t end, const std::vector<bool>& counted, PassControl* control,
                   Samples& samples) {
  struct Sum {
    std::int64_t count = 0, bytes = 0;
  };
  using Sums = std::unordered_map<std::uint64_t, Sum>;  // By stack and heap.
  Sums blocks, handles;
  const auto add = [&](Sums& sums, const auto& record) {
    if (record.heap == 0 || record.heap >= counted.size() || !counted[record.heap]) return;
    Sum& sum = sums[std::uint64_t{record.stack} << 32 | record.heap];
    ++sum.count;
    sum.bytes = clamped_sum(sum.bytes, static_cast<std::int64_t>(possible_size(record)));
  };
  const bool is_whole =
      pass_over_records(stream, end, control, [&](const wire::DecodedBlock& block, const RecordPlace& place) {
        if (place.kind == wire::RecordKind::alloc)
          add(blocks, block.rows<wire::AllocRecord>()[place.row]);
        else if (place.kind == wire::RecordKind::physical_create)
          if (const auto& record = block.rows<wire::PhysicalCreateRecord>()[place.row]; possible_size(record) > 0)
            add(handles, record);
      });
  for (const auto& [sums, kind] : {std::pair(&blocks, "block"), std::pair(&handles, "handle")})
    for (const auto& [key, sum] : *sums) {
      Values& values = samples[{static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), kind}];
      values[allocated_blocks] = sum.count;
      values[allocated_space] = sum.bytes;
    }
  return is_whole;
}

class ProfileMaker {
 public:
  ProfileMaker(const Trace& trace, ProfileValues values)
      : trace_(trace),
        counted_(find_counted_heaps(trace)),
        heap_labels_(find_heap_labels(trace, HeapLabels::parts)),
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
    profile_.label_begin = {0, 0};  // The set without a label.
    profile_.line_begin.push_back(0);
  }

  // False where it was cancelled.
  bool add(std::size_t stream, const StreamState& state, PassControl* control) {
    const Definitions& definitions = trace_.streams[stream].definitions();
    locations_.assign(definitions.frame_count(), no_location);
    Samples samples;
    const auto add_live = [&](std::uint32_t heap, std::uint32_t stack, std::uint64_t size, std::string_view kind) {
      if (!counted_[stream][heap]) return;
      Values& values = samples[{stack, heap, kind}];
      ++values[live_blocks];
      values[live_space] += static_cast<std::int64_t>(size);
    };
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) add_live(block.heap, block.stack, block.size, block.is_pending() ? "pending" : "block");
    for (const PhysicalHandle& handle : state.physical().handles())
      if (handle.is_live() && !handle.is_imported) add_live(handle.heap, handle.stack, handle.size, "handle");
    if (values_ == ProfileValues::live_and_allocated &&
        !add_allocated(trace_.streams[stream], state.position(), counted_[stream], control, samples))
      return false;
    for (auto& [key, values] : samples) {
      keep_below_2_63(values);
      for (std::size_t column = 0; column < profile_.values.size(); ++column)
        profile_.values[column].push_back(values[column]);
      profile_.label_set.push_back(label_set(heap_labels_[stream][key.heap], key.kind));
      add_stack(definitions, key.stack);
    }
    return true;
  }

  Profile finish() { return std::move(profile_); }

 private:
  static constexpr std::size_t stack_frames_max = 4096;  // Python itself stops at 1,000; a damaged file may not.
  static constexpr std::uint32_t no_location = 0xffffffff;

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  // The profile's promise: all values of a type add up to less than 2^63.
  void keep_below_2_63(Values& values) {
    for (std::size_t column = 0; column < values.size(); ++column) {
      if (values[column] > std::numeric_limits<std::int64_t>::max() - totals_[column]) {
        profile_.import.add("sum_over_2_63", Severity::loss, 1,
                            "Blocks add up to 2^63 bytes or more, which no device holds; those beyond count as 0. The "
                            "producer wrote nonsense, or the file is damaged.");
        values[column] = 0;
      }
      totals_[column] += values[column];
    }
  }

  void add_stack(const Definitions& definitions, std::uint32_t id) {
    std::size_t frames = 0;
    for (; id != 0 && frames < stack_frames_max; ++frames) {
      const TraceStack stack = definitions.stack(id);
      profile_.stack_locations.push_back(location(definitions, stack.frame));
      id = stack.parent;
    }
    profile_.stack_begin.push_back(profile_.stack_locations.size());
  }

  LocationIndex location(const Definitions& definitions, std::uint32_t frame) {
    if (frame >= locations_.size()) frame = 0;
    if (locations_[frame] != no_location) return static_cast<LocationIndex>(locations_[frame]);
    const TraceFrame source = definitions.frame(frame);
    const StringId name = intern(definitions.text(source.function)), file = intern(definitions.text(source.file));
    const auto [found, is_new] =
        functions_.try_emplace({name, file}, static_cast<std::uint32_t>(profile_.functions.size()));
    if (is_new) profile_.functions.push_back({name, name, file, 0});
    locations_[frame] = static_cast<std::uint32_t>(profile_.location_count());
    profile_.location_address.push_back(0);
    profile_.location_mapping.push_back(MappingIndex::none);
    profile_.location_folded.push_back(0);
    profile_.lines.push_back({static_cast<FunctionIndex>(found->second), source.line, 0});
    profile_.line_begin.push_back(static_cast<std::uint32_t>(profile_.lines.size()));
    return static_cast<LocationIndex>(locations_[frame]);
  }

  LabelSetIndex label_set(const std::string& device, std::string_view kind) {
    const auto [found, is_new] =
        label_sets_.try_emplace({device, std::string(kind)}, static_cast<std::uint32_t>(profile_.label_set_count()));
    if (is_new) {
      profile_.labels.push_back({intern("kind"), intern(kind), 0, StringId::empty, false});
      if (!device.empty()) profile_.labels.push_back({intern("device"), intern(device), 0, StringId::empty, false});
      profile_.label_begin.push_back(static_cast<std::uint32_t>(profile_.labels.size()));
    }
    return static_cast<LabelSetIndex>(found->second);
  }

  const Trace& trace_;
  std::vector<std::vector<bool>> counted_;  // By stream and heap: the others are views of the same bytes.
  std::vector<std::vector<std::string>> heap_labels_;
  Profile profile_;
  ProfileValues values_;
  Values totals_{};
  std::vector<std::uint32_t> locations_;  // By frame of the stream at hand.
  std::map<std::pair<StringId, StringId>, std::uint32_t> functions_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> label_sets_;
};

}  // namespace

std::optional<Profile> profile_from_trace(const Trace& trace, const std::vector<StreamState>& states,
                                          ProfileValues values, PassControl* control) {
  if (control != nullptr)
    for (const Stream& stream : trace.streams) control->total_events += stream.end_position();
  ProfileMaker maker(trace, values);
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!maker.add(i, states[i], control)) return std::nullopt;
  return maker.finish();
}

Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states) {
  return *profile_from_trace(trace, states, ProfileValues::live);
}

}  // namespace hbmscope
