#include "analysis/trace/unanswered_refusals.h"

#include <algorithm>

#include "collector/wire/block_decoder.h"

namespace hbmscope {
namespace {

class Refusals {
 public:
  Refusals(const Stream& stream, Answer answer) : stream_(stream), answer_(answer) {
    const SharedLog<FailureEvent>& failures = stream.failures();
    for (std::size_t i = failures.size(); i-- > 0;) {
      const FailureEvent& one = failures[i];
      // A file may contain any time.
      const std::uint64_t age_ns =
          static_cast<std::uint64_t>(stream.last_time_ns()) - static_cast<std::uint64_t>(one.time_ns);
      const bool is_over = is_answer(one) || (one.time_ns < stream.last_time_ns() &&
                                              age_ns >= static_cast<std::uint64_t>(retry_patience_ns));
      if (is_over) break;
      const bool is_later = std::any_of(unanswered_.begin(), unanswered_.end(), [&](std::size_t later) {
        return is_of_same_device(failures[later].heap, one.heap);
      });
      if (!is_later) unanswered_.push_back(i);
    }
    std::reverse(unanswered_.begin(), unanswered_.end());
  }

  void look_for_answers() {
    wire::BlockDecoder decoder;
    wire::DecodedBlock decoded;
    for (const wire::SharedBlock& block : stream_.blocks()) {
      if (unanswered_.empty()) return;
      if (block->end_event() <= stream_.failures()[unanswered_.front()].event || decoder.decode(*block, decoded))
        continue;
      std::uint64_t event = block->header.first_event, allocs = 0, handles = 0;
      for (const std::uint8_t kind : decoded.kinds()) {
        if (kind == static_cast<std::uint8_t>(wire::RecordKind::alloc))
          note_taken(decoded.rows<wire::AllocRecord>()[allocs++], event);
        if (kind == static_cast<std::uint8_t>(wire::RecordKind::physical_create)) {
          const wire::PhysicalCreateRecord& created = decoded.rows<wire::PhysicalCreateRecord>()[handles++];
          if (created.handle < wire::graph_handles) note_taken(created, event);
        }
        if (wire::is_event(kind)) ++event;
      }
    }
  }

  const std::vector<std::size_t>& unanswered() const { return unanswered_; }

 private:
  // An out-of-memory is the outcome of the refusals before it.
  static bool is_answer(const FailureEvent& one) { return one.is_out_of_memory && !one.is_refusal; }

  // A pool may find room after all, without the driver. Heaps of the host are of no device.
  bool is_of_same_device(std::uint32_t one, std::uint32_t other) const {
    const std::uint32_t device = stream_.definitions().heap(one).device;
    return one == other || (device != wire::no_device && device == stream_.definitions().heap(other).device);
  }

  template <class Record>
  void note_taken(const Record& taken, std::uint64_t event) {
    std::erase_if(unanswered_, [&](std::size_t index) {
      const FailureEvent& one = stream_.failures()[index];
      return event > one.event && (one.heap == 0 || is_of_same_device(one.heap, taken.heap)) &&
             (answer_ == Answer::any_allocation || taken.size >= one.requested_bytes / 2);
    });
  }

  const Stream& stream_;
  const Answer answer_;
  std::vector<std::size_t> unanswered_;
};

}  // namespace

std::vector<std::size_t> find_unanswered_refusals(const Stream& stream, Answer answer) {
  Refusals refusals(stream, answer);
  refusals.look_for_answers();
  return refusals.unanswered();
}

}  // namespace hbmscope
