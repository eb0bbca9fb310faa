#include "analysis/trace/profile_from_trace.h"

#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

class ProfileMaker {
 public:
  explicit ProfileMaker(const Trace& trace) : trace_(trace), counted_(find_counted_heaps(trace)) {
    profile_.files = trace.files;
    profile_.file_bytes = trace.file_bytes;
    profile_.inflated_bytes = trace.file_bytes;
    profile_.import = trace.import;
    profile_.producer = trace.producer;
    profile_.drop_frames = intern(trace.drop_frames);
    profile_.value_types = {{intern("allocations"), intern("count")}, {intern("space"), intern("bytes")}};
    profile_.values.resize(2);
    profile_.stack_begin.push_back(0);
    profile_.label_begin = {0, 0};  // The set without a label.
    profile_.line_begin.push_back(0);
  }

  void add(std::size_t stream, const StreamState& state) {
    const Definitions& definitions = trace_.streams[stream].definitions();
    locations_.assign(definitions.frame_count(), no_location);
    // In the order of stacks, so that equal ones meet and the result does not depend on slots.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string_view>, std::pair<std::int64_t, std::int64_t>> sums;
    const auto add = [&](std::uint32_t heap, std::uint32_t stack, std::uint64_t size, std::string_view kind) {
      if (!counted_[stream][heap]) return;
      auto& [count, bytes] = sums[{stack, heap, kind}];
      ++count;
      bytes += static_cast<std::int64_t>(size);
    };
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) add(block.heap, block.stack, block.size, block.is_pending() ? "pending" : "block");
    for (const PhysicalHandle& handle : state.physical().handles())
      if (handle.is_live() && !handle.is_imported) add(handle.heap, handle.stack, handle.size, "handle");
    for (auto& [key, sum] : sums) {
      // The profile's promise: all values of a type add up to less than 2^63.
      if (sum.second > std::numeric_limits<std::int64_t>::max() - total_bytes_) {
        profile_.import.add("sum_over_2_63", Severity::loss, 1,
                            "Blocks add up to 2^63 bytes or more, which no device holds; those beyond count as 0. The "
                            "producer wrote nonsense, or the file is damaged.");
        sum.second = 0;
      }
      total_bytes_ += sum.second;
      const auto& [stack, heap, kind] = key;
      profile_.values[0].push_back(sum.first);
      profile_.values[1].push_back(sum.second);
      profile_.label_set.push_back(label_set(definitions.heap(heap).name, kind));
      add_stack(definitions, stack);
    }
  }

  Profile finish() { return std::move(profile_); }

 private:
  static constexpr std::size_t stack_frames_max = 4096;  // Python itself stops at 1,000; a damaged file may not.
  static constexpr std::uint32_t no_location = 0xffffffff;

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

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
  Profile profile_;
  std::int64_t total_bytes_ = 0;
  std::vector<std::uint32_t> locations_;  // By frame of the stream at hand.
  std::map<std::pair<StringId, StringId>, std::uint32_t> functions_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> label_sets_;
};

}  // namespace

Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states) {
  ProfileMaker maker(trace);
  for (std::size_t i = 0; i < states.size(); ++i) maker.add(i, states[i]);
  return maker.finish();
}

}  // namespace hbmscope
