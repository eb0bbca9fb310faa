// The operations on a device's streams that are needed to pass memory from one to another: how far has each one got?
#pragma once

namespace hbmscope::allocator {

using Stream = void*;  // A CUstream; null is the default one.

class Streams {
 public:
  using Event = void*;  // Null: an event that is done already.
  virtual ~Streams() = default;
  // Records an event behind all work enqueued on the stream so far.
  virtual Event record(Stream stream) = 0;
  virtual bool is_done(Event event) = 0;
  virtual void wait(Event event) = 0;    // Returns when it is done.
  virtual void forget(Event event) = 0;  // Called once per event, which is not used afterwards.
  // While captured, work is recorded into a graph instead of executed, and no event can be recorded.
  virtual bool is_capturing(Stream stream) = 0;
};

}  // namespace hbmscope::allocator
