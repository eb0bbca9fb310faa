#include "allocator/reference/replay/check.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocator/reference/replay/player.h"
#include "allocator/reference/replay/state.h"

namespace hbmscope::allocator {
namespace {

class EventSink final : public Sink {
 public:
  void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t requested_bytes) override {
    events.push_back({RegionEvent::Kind::claimed, number, claim.bytes, requested_bytes, claim.base});
    bases.push_back(claim.base);
  }
  void on_claim_refused(std::uint64_t requested_bytes) override {
    events.push_back({RegionEvent::Kind::refused, 0, requested_bytes, 0, 0});
  }
  void on_region_released(std::uint32_t number, const Claim& claim) override {
    events.push_back({RegionEvent::Kind::released, number, claim.bytes, 0, 0});
  }

  std::vector<RegionEvent> events;   // The current operation's.
  std::vector<std::uint64_t> bases;  // Where all regions so far begin, by number.
};

std::string text_from_event(const RegionEvent& event) {
  switch (event.kind) {
    case RegionEvent::Kind::claimed:
      return fmt::format("region {} of {} B at {:#x}, {} B requested", event.region, event.bytes, event.base,
                         event.requested_bytes);
    case RegionEvent::Kind::refused: return fmt::format("{} B refused by the driver", event.bytes);
    case RegionEvent::Kind::released: return fmt::format("region {} of {} B given back", event.region, event.bytes);
  }
  return {};
}

std::string text_from_answer(const RecordedAnswer& answer) {
  switch (answer.outcome) {
    case RecordedOutcome::allocated:
      return fmt::format("region {}, offset {}, a chunk of {} B", answer.region, answer.offset, answer.chunk_bytes);
    case RecordedOutcome::out_of_memory: return "out of memory";
    case RecordedOutcome::zero_bytes: return "zero bytes";
    case RecordedOutcome::freed: return "freed";
    case RecordedOutcome::nothing_freed: return "nothing to free";
    case RecordedOutcome::unknown: break;
  }
  return "no answer";
}

bool is_equal(const RecordedAnswer& a, const RecordedAnswer& b) {
  if (a.outcome != b.outcome) return false;
  return a.outcome != RecordedOutcome::allocated ||
         (a.region == b.region && a.offset == b.offset && a.chunk_bytes == b.chunk_bytes);
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t step) {
  const std::uint64_t rest = bytes % step;
  return rest == 0 || bytes > ~std::uint64_t{0} - (step - rest) ? bytes : bytes + (step - rest);
}

// Serves and refuses as recorded. What isn't recorded is refused, and the checker reports the difference.
class DriverOfStream final : public Upstream {
 public:
  explicit DriverOfStream(const RequestStream& stream) : stream_(stream) {}

  // The claims that follow are made during this operation.
  void begin(std::uint64_t operation) {
    operation_ = operation;
    while (next_ < stream_.events.size() && stream_.events[next_].operation < operation) ++next_;
  }
  std::optional<Claim> claim(std::uint64_t bytes) override {
    if (next_ == stream_.events.size() || stream_.events[next_].operation != operation_) return {};
    const RegionEvent& event = stream_.events[next_].event;
    if (event.kind == RegionEvent::Kind::released) return {};
    ++next_;
    const bool is_served = event.kind == RegionEvent::Kind::claimed &&
                           event.bytes == rounded_up(bytes, stream_.config.upstream.granularity);
    if (!is_served || !is_free(event.base, event.bytes)) return {};
    claims_.push_back({event.base, event.bytes});
    return claims_.back();
  }
  void release(const Claim& claim) override {
    std::erase_if(claims_, [&](const Claim& one) { return one.base == claim.base; });
    if (next_ < stream_.events.size() && stream_.events[next_].event.kind == RegionEvent::Kind::released) ++next_;
  }

 private:
  // Damaged files may have regions on top of each other.
  bool is_free(std::uint64_t base, std::uint64_t bytes) const {
    if (bytes == 0 || base > ~std::uint64_t{0} - bytes) return false;
    return std::none_of(claims_.begin(), claims_.end(),
                        [&](const Claim& one) { return base < one.base + one.bytes && one.base < base + bytes; });
  }

  const RequestStream& stream_;
  std::uint64_t operation_ = 0;
  std::size_t next_ = 0;
  std::vector<Claim> claims_;
};

class Checker {
 public:
  Checker(const RequestStream& stream, const xla_gpu::Options& options)
      : stream_(stream),
        addresses_(stream.config.upstream),
        driver_(stream),
        allocator_(stream.config.has_recorded_driver ? static_cast<Upstream&>(driver_) : addresses_, options),
        player_(stream, allocator_) {
    allocator_.set_sink(&sink_);
  }

  CheckResult run() {
    for (at_ = 0; at_ < stream_.operations.size(); ++at_)
      if (!check_states() || !check_operation(stream_.operations[at_])) return std::move(result_);
    check_states();
    return std::move(result_);
  }

 private:
  bool differ(std::uint32_t line, std::string what, std::string recorded, std::string replayed) {
    result_.difference = Difference{line, std::move(what), std::move(recorded), std::move(replayed)};
    return false;
  }

  bool check_operation(const Operation& operation) {
    sink_.events.clear();
    driver_.begin(at_);
    const RecordedAnswer replayed = operation.is_free ? play_free(operation) : play_allocate(operation);
    return check_events(operation) && check_answer(operation, replayed);
  }

  RecordedAnswer play_free(const Operation& operation) {
    RecordedAnswer answer;
    const bool is_freed = player_.free(operation) == FreeOutcome::freed;
    answer.outcome = is_freed ? RecordedOutcome::freed : RecordedOutcome::nothing_freed;
    return answer;
  }

  RecordedAnswer play_allocate(const Operation& operation) {
    const Allocation answer = player_.allocate(operation);
    if (answer.outcome == Outcome::allocated)
      return {RecordedOutcome::allocated, answer.region, answer.address - sink_.bases[answer.region], answer.bytes};
    RecordedAnswer refused;
    refused.outcome =
        answer.outcome == Outcome::zero_bytes ? RecordedOutcome::zero_bytes : RecordedOutcome::out_of_memory;
    return refused;
  }

  bool check_answer(const Operation& operation, const RecordedAnswer& replayed) {
    const RecordedAnswer& recorded = stream_.answers[at_];
    if (allocator_.fault() != Fault::none)
      return differ(operation.line, "the answer", text_from_answer(recorded),
                    std::string(text_from_fault(allocator_.fault())));
    if (recorded.outcome == RecordedOutcome::unknown) {
      ++result_.without_answer;
      return true;
    }
    if (!is_equal(recorded, replayed))
      return differ(operation.line, "the answer", text_from_answer(recorded), text_from_answer(replayed));
    ++result_.answers;
    return true;
  }

  bool check_events(const Operation& operation) {
    for (RegionEvent event : sink_.events) {
      if (stream_.config.has_recorded_driver) {
        const std::uint64_t granularity = stream_.config.upstream.granularity;
        if (event.kind == RegionEvent::Kind::refused) event.bytes = rounded_up(event.bytes, granularity);
        event.requested_bytes = rounded_up(event.requested_bytes, granularity);
      }
      const bool has_more = next_event_ < stream_.events.size() && stream_.events[next_event_].operation == at_;
      if (!has_more) return differ(operation.line, "the regions before it", "no more", text_from_event(event));
      const RecordedEvent& recorded = stream_.events[next_event_];
      if (recorded.event != event)
        return differ(recorded.line, "the region", text_from_event(recorded.event), text_from_event(event));
      ++next_event_;
      ++result_.events;
    }
    if (next_event_ < stream_.events.size() && stream_.events[next_event_].operation == at_) {
      const RecordedEvent& recorded = stream_.events[next_event_];
      return differ(recorded.line, "the region", text_from_event(recorded.event), "nothing");
    }
    return true;
  }

  // All states that were recorded after this number of operations.
  bool check_states() {
    for (; next_state_ < stream_.states.size() && stream_.states[next_state_].operations == at_; ++next_state_) {
      if (!check_state(stream_.states[next_state_])) return false;
      ++result_.states;
    }
    return true;
  }

  bool check_state(const RecordedState& recorded) {
    if (recorded.operations_before != at_)
      return differ(recorded.line, "the number of operations so far", fmt::to_string(recorded.operations_before),
                    fmt::to_string(at_));
    const WalkedState state = compute_state(allocator_, recorded.chunk_list.has_value());
    for (const RecordedState::Number& number : recorded.numbers) {
      const auto replayed = find_number(state, number.name);
      if (!replayed) {
        result_.unknown_names.insert(number.name);
      } else if (*replayed != number.value) {
        return differ(recorded.line, number.name, fmt::to_string(number.value), fmt::to_string(*replayed));
      }
    }
    return check_fragmentation(recorded, state) && check_hash(recorded, state) && check_bins(recorded) &&
           check_order(recorded) && check_chunks(recorded, state);
  }

  bool check_fragmentation(const RecordedState& recorded, const WalkedState& state) {
    if (!recorded.has_fragmentation) return true;
    const auto replayed = static_cast<float>(fragmentation_of(state.statistics));
    const bool is_same = recorded.fragmentation ? *recorded.fragmentation == replayed : std::isnan(replayed);
    if (is_same) return true;
    const auto text = [](float value) { return std::isnan(value) ? "undefined" : fmt::format("{:.9g}", value); };
    return differ(recorded.line, "fragmentation", recorded.fragmentation ? text(*recorded.fragmentation) : "undefined",
                  text(replayed));
  }

  bool check_hash(const RecordedState& recorded, const WalkedState& state) {
    if (!recorded.hash || *recorded.hash == state.hash) return true;
    return differ(recorded.line, "fnv1a", fmt::format("{:016x}", *recorded.hash), fmt::format("{:016x}", state.hash));
  }

  bool check_bins(const RecordedState& recorded) {
    if (!recorded.bins) return true;
    const auto totals = allocator_.bin_totals();
    if (recorded.bins->size() != totals.size())
      return differ(recorded.line, "the number of bins", fmt::to_string(recorded.bins->size()),
                    fmt::to_string(totals.size()));
    for (std::size_t bin = 0; bin < totals.size(); ++bin) {
      const xla_gpu::BinTotals& total = totals[bin];
      const std::vector<std::uint64_t> replayed = {bin, total.bytes_in_use, total.bytes, total.chunks_in_use,
                                                   total.chunks};
      if ((*recorded.bins)[bin] != replayed)
        return differ(recorded.line, fmt::format("bin {} (bytes in use, bytes, chunks in use, chunks)", bin),
                      fmt::format("{}", fmt::join((*recorded.bins)[bin], ", ")),
                      fmt::format("{}", fmt::join(replayed, ", ")));
    }
    return true;
  }

  bool check_order(const RecordedState& recorded) {
    if (!recorded.region_order) return true;
    std::vector<std::uint64_t> replayed;
    for (const xla_gpu::Region& region : allocator_.regions()) replayed.push_back(region.number);
    if (*recorded.region_order == replayed) return true;
    return differ(recorded.line, "region_order", fmt::format("{}", fmt::join(*recorded.region_order, ", ")),
                  fmt::format("{}", fmt::join(replayed, ", ")));
  }

  bool check_chunks(const RecordedState& recorded, const WalkedState& state) {
    if (!recorded.chunk_list) return true;
    const auto text = [](const std::vector<ChunkRow>& rows, std::size_t at) {
      if (at >= rows.size()) return std::string("no more chunks");
      const ChunkRow& row = rows[at];
      return fmt::format("region {}, offset {}, {} B, {}", row.region, row.offset, row.bytes,
                         row.in_use ? "in use" : "free");
    };
    const std::size_t count = std::max(recorded.chunk_list->size(), state.rows.size());
    for (std::size_t at = 0; at < count; ++at)
      if (at >= recorded.chunk_list->size() || at >= state.rows.size() || (*recorded.chunk_list)[at] != state.rows[at])
        return differ(recorded.line, fmt::format("chunk {} of chunk_list", at), text(*recorded.chunk_list, at),
                      text(state.rows, at));
    return true;
  }

  const RequestStream& stream_;
  EventSink sink_;
  VirtualAddresses addresses_;
  DriverOfStream driver_;
  xla_gpu::Bfc allocator_;
  Player player_;
  CheckResult result_;
  std::uint64_t at_ = 0;
  std::size_t next_event_ = 0, next_state_ = 0;
};

}  // namespace

CheckResult check(const RequestStream& stream, const xla_gpu::Options& options) {
  return Checker(stream, options).run();
}

}  // namespace hbmscope::allocator
