// The pretend driver of a trace of PyTorch's allocator (torch_trace.h). It answers what the real run's driver answered,
// and writes down each call in the form of the trace. A call that the real allocator did not make next is refused.
//
// Time: work of 20 ticks for a stream at time 100 is done at 120, or 20 after the stream's earlier work. An event is
// done when the work before it is. cudaFree waits for all streams, so time moves on to the end of their work; unmapping
// does not, but the allocator waits for the stream itself.
#pragma once

#include <map>

#include "allocator/reference/interface/upstream.h"
#include "allocator/reference/pytorch/pending_frees.h"
#include "tests/allocator/torch_trace.h"

namespace hbmscope::allocator {

class TorchDevice final : public Upstream, public pytorch::StreamProgress {
 public:
  explicit TorchDevice(const TorchTrace& trace);

  // The answers come from this step, and lines are written to `written` from now on.
  void begin(const TorchStep& step, std::vector<std::string>& written);
  void work(std::uint32_t stream, std::uint64_t ticks);
  void pass(std::uint64_t ticks) { now_ += ticks; }
  std::uint64_t free_bytes() const { return free_bytes_; }

  std::optional<Claim> claim(std::uint64_t bytes) override;
  void release(const Claim& claim) override;
  std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(const Claim& addresses) override;
  bool map(const Claim& addresses) override;
  void unmap(const Claim& addresses) override;

  Event record(std::uint32_t stream) override { return done_at_[stream]; }
  bool is_done(Event event) override { return event <= now_; }
  void wait(Event event) override { now_ = std::max(now_, event); }
  void wait_for_stream(std::uint32_t stream) override { wait(done_at_[stream]); }
  void sort_completed(std::vector<std::uint64_t>& addresses) override;
  std::vector<std::uint64_t> completing_with_recording(const std::vector<std::uint64_t>& done,
                                                       const std::vector<std::uint64_t>& candidates) override;
  // How many frees completed because the trace says so, and not by the time of their streams.
  std::uint64_t early_completions() const { return early_completions_; }

 private:
  bool may_wait_without_a_call() const;
  // The fields of the next recorded call, if it has one of these names; empty otherwise.
  std::vector<std::string_view> take(std::string_view name, std::string_view other_name = {});
  void write(std::string line) { written_->push_back(std::move(line)); }

  // The allocator refuses requests itself, without a call of the driver, because the program limits it.
  const bool has_limit_;
  // A request releases large segments only after waiting for all streams: no setting releases them before.
  const bool releases_all_;
  const TorchStep* step_ = nullptr;
  std::vector<std::string>* written_ = nullptr;
  std::size_t next_ = 0;  // Of the step's answers.
  std::uint64_t free_bytes_;
  std::uint64_t now_ = 0;
  std::uint64_t early_completions_ = 0;
  std::map<std::uint32_t, std::uint64_t> done_at_;  // By stream.
};

}  // namespace hbmscope::allocator
