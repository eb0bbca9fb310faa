// What has to be known of a device's streams to hand memory from one to another: how far each has come.
#pragma once

namespace hbmscope::allocator {

using Stream = void*;  // A CUstream; null is the default one.

class Streams {
 public:
  using Event = void*;  // Null: a place that every stream has passed already.
  virtual ~Streams() = default;
  // A mark behind all that was asked of the stream so far.
  virtual Event record(Stream stream) = 0;
  virtual bool is_done(Event event) = 0;
  virtual void wait(Event event) = 0;    // Until it is done.
  virtual void forget(Event event) = 0;  // Once, and nothing is asked about it any more.
  // What is asked of it now is recorded into a graph and not done: no mark can be set.
  virtual bool is_capturing(Stream stream) = 0;
};

}  // namespace hbmscope::allocator
