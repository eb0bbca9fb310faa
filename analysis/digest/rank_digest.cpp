#include "analysis/digest/rank_digest.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <xxhash.h>

#include "analysis/query/profile_view.h"
#include "analysis/query/short_name.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/stream_names.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

constexpr int frames_max = 256;

std::uint64_t hash_of(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

std::string frame_without_line(const Definitions& definitions, const TraceFrame& frame) {
  return short_name_of_function(definitions.text(frame.function)) + " (" +
         std::string(file_tail(definitions.text(frame.file))) + ")";
}

// The sites of a stream, by the ids of its stacks.
class Sites {
 public:
  explicit Sites(const Definitions& definitions) : definitions_(definitions) {}

  std::uint64_t of_stack(std::uint32_t stack) {
    const auto [at, is_new] = by_stack_.try_emplace(stack, 0);
    if (is_new) at->second = add(stack);
    return at->second;
  }

  std::vector<DigestSite> take() {
    std::vector<DigestSite> all;
    for (auto& [id, site] : sites_) all.push_back(std::move(site));
    return all;
  }

 private:
  std::uint64_t add(std::uint32_t stack) {
    std::vector<std::string> frames;
    for (std::uint32_t at = stack; at != 0 && frames.size() < frames_max; at = definitions_.stack(at).parent)
      frames.push_back(frame_without_line(definitions_, definitions_.frame(definitions_.stack(at).frame)));
    DigestSite site;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      site.stack += (site.stack.empty() ? "" : ";") + *frame;
    site.id = hash_of(site.stack);
    if (std::optional<TraceFrame> own = find_own_frame(definitions_, stack)) {
      own->line = 0;
      site.own = frame_text(definitions_, *own);
    } else {
      site.own = no_user_code_text(definitions_, stack);
    }
    const std::uint64_t id = site.id;
    sites_.try_emplace(id, std::move(site));
    return id;
  }

  const Definitions& definitions_;
  std::unordered_map<std::uint32_t, std::uint64_t> by_stack_;
  std::map<std::uint64_t, DigestSite> sites_;
};

std::vector<DigestUse> uses_of(const StreamState& state, const std::vector<bool>& counted, Sites& sites) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, DigestUse> found;
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live() || block.heap >= counted.size() || !counted[block.heap]) continue;
    const std::uint64_t site = sites.of_stack(block.stack);
    DigestUse& use = found[{block.heap, site}];
    use.site = site;
    use.heap = block.heap;
    use.bytes += block.size;
    ++use.blocks;
  }
  std::vector<DigestUse> uses;
  for (const auto& [key, use] : found) uses.push_back(use);
  return uses;
}

// The digest of one stream of a trace.
class Digester {
 public:
  Digester(const Trace& trace, std::size_t index, const std::vector<bool>& counted)
      : trace_(trace), index_(index), stream_(trace.streams[index]), counted_(counted), sites_(stream_.definitions()) {}

  // Nothing if the stream never held anything and no request failed.
  std::optional<RankDigest> make() {
    const std::uint32_t heap = main_heap();
    const std::uint64_t failed = note_failures();
    if (heap == 0 && failed == 0) return std::nullopt;
    note_process();
    if (heap != 0) {
      const HeapPeak peak = stream_.peak(heap);
      digest_.main_heap = stream_.definitions().heap(heap).name;
      digest_.peak_bytes = peak.in_use_bytes;
      digest_.device_uuid = stream_.definitions().heap(heap).uuid;
      note_moment("peak", peak.position);
      note_curve(heap);
    }
    if (last_failure_) note_moment("oom", *last_failure_);
    note_moment("end", stream_.end_position());
    note_shape();
    digest_.sites = sites_.take();
    return std::move(digest_);
  }

 private:
  std::uint32_t main_heap() const {
    std::uint32_t found = 0;
    std::uint64_t most = 0;
    for (const HeapInfo& info : stream_.definitions().heaps()) {
      if (info.id == 0 || !counted_[info.id]) continue;
      if (const std::uint64_t peak = stream_.peak(info.id).in_use_bytes; peak > most) {
        most = peak;
        found = info.id;
      }
    }
    return found;
  }

  std::uint64_t note_failures() {
    std::vector<const FailureEvent*> all;
    for (const FailureEvent& failure : stream_.failures())
      if (failure.is_out_of_memory && !is_of_extra_pool(stream_, failure)) all.push_back(&failure);
    digest_.failures_count = all.size();
    if (!all.empty()) last_failure_ = all.back()->event;
    for (std::size_t i = all.size() - std::min(all.size(), failures_max); i < all.size(); ++i) {
      const StreamState state = stream_.state_at(all[i]->event);
      digest_.failures.push_back(row_from_failure(stream_, *all[i], &state));
    }
    return all.size();
  }

  void note_process() {
    const Definitions& definitions = stream_.definitions();
    digest_.file = trace_.stream_files.empty() ? trace_.files.front() : trace_.stream_files[index_];
    digest_.rank = rank_of_stream(trace_, index_);
    digest_.host = definitions.job_fact("host");
    digest_.process = definitions.job_fact("process");
    digest_.command = definitions.job_fact("command");
    digest_.begun_ms = trace_.begun_ms;
    if (stream_.has_times()) digest_.duration_ns = stream_.last_time_ns() - stream_.first_time_ns();
    const EventCounts& counts = stream_.counts();
    digest_.events = counts.total;
    digest_.lost = counts.lost;
    digest_.is_complete = counts.damaged_blocks == 0 && counts.missing_blocks == 0 &&
                          trace_.import.count_of("not_finished") == 0 &&
                          definitions.job_fact(wire::left_running_fact).empty();
  }

  void note_moment(std::string_view name, std::uint64_t position) {
    std::vector<StreamState> states(trace_.streams.size());
    states[index_] = stream_.state_at(position);
    DigestMoment moment;
    moment.name = name;
    if (stream_.has_times()) moment.since_start_ns = stream_.since_start_ns(time_of(stream_, states[index_]));
    moment.uses = uses_of(states[index_], counted_, sites_);
    for (HeapRow& row : compute_heap_rows(trace_, states))
      if (row.stream == index_ && counted_[row.heap] && (row.peak_in_use_bytes > 0 || row.pool_bytes.value_or(0) > 0)) {
        if (digest_.device_name.empty()) digest_.device_name = row.device_name;
        moment.heaps.push_back(std::move(row));
      }
    digest_.moments.push_back(std::move(moment));
  }

  void note_curve(std::uint32_t heap) {
    for (const TimelineBucket& bucket : stream_.timeline(heap).buckets(0, stream_.end_position(), curve_points_max)) {
      if (digest_.curve.size() == curve_points_max) break;
      const std::int64_t at = stream_.has_times() ? stream_.since_start_ns(bucket.first_time_ns)
                                                  : static_cast<std::int64_t>(bucket.first_position);
      digest_.curve.push_back({at, bucket.most.in_use});
    }
  }

  void note_shape() {
    std::set<std::uint64_t> ids;
    for (const DigestMoment& moment : digest_.moments)
      if (moment.name == "peak")
        for (const DigestUse& use : moment.uses) ids.insert(use.site);
    std::string bytes;
    for (const std::uint64_t id : ids) bytes.append(reinterpret_cast<const char*>(&id), sizeof id);
    digest_.shape = hash_of(bytes);
  }

  const Trace& trace_;
  std::size_t index_;
  const Stream& stream_;
  const std::vector<bool>& counted_;
  Sites sites_;
  RankDigest digest_;
  std::optional<std::uint64_t> last_failure_;
};

}  // namespace

std::vector<RankDigest> digest_of(const Trace& trace) {
  std::vector<RankDigest> digests;
  const std::vector<std::vector<bool>> counted = find_counted_heaps(trace);
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    if (auto digest = Digester(trace, i, counted[i]).make()) digests.push_back(std::move(*digest));
  return digests;
}

}  // namespace hbmscope
