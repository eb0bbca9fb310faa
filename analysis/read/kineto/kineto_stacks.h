// The stack of a memory event: the operators and Python functions of its thread that ran at that time, the outermost
// first. Spans of a thread lie in each other, as its calls did.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/read/kineto/kineto_events.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::kineto {

class Stacks {
 public:
  // Sorts the spans. Both outlive this.
  Stacks(Events& events, wire::StreamWriter& writer);

  // Of what runs then; 0: nothing does. Times ascend from call to call.
  std::uint32_t find(std::uint32_t thread, std::int64_t time_ns);

 private:
  struct Open {
    std::int64_t end_ns = 0;
    std::uint32_t name = 0;
    std::uint32_t stack = 0;  // 0: not defined yet; most spans hold no memory event.
  };
  struct Thread {
    std::size_t next = 0, end = 0;  // Of Events::spans.
    std::vector<Open> open;         // The innermost last.
  };
  std::uint32_t define_frame(std::uint32_t name);

  const Events& events_;
  wire::StreamWriter& writer_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> frame_of_name_;  // 0: not defined yet.
};

}  // namespace hbmscope::kineto
