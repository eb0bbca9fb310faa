// The stack of a memory event: the operators and Python functions that were running on its thread, outermost first. The
// spans of a thread are nested, like its calls.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/read/kineto/kineto_events.h"
#include "analysis/read/open_spans.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::kineto {

class Stacks {
 public:
  // Sorts the spans. Both arguments must outlive this object.
  Stacks(Events& events, wire::StreamWriter& writer);

  // The stack at that time; 0: nothing is running. Times must ascend from call to call.
  std::uint32_t find(std::uint32_t thread, std::int64_t time_ns);

 private:
  struct Thread {
    std::size_t next = 0, end = 0;  // Range in Events::spans.
    OpenSpans open;
  };
  std::uint32_t define_frame(std::uint32_t name);

  const Events& events_;
  wire::StreamWriter& writer_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> frame_of_name_;  // 0: not defined yet.
};

}  // namespace hbmscope::kineto
