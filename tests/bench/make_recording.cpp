// Writes the training run of scale_recording.h, for opening it by hand.
//
//   make_recording FILE [EVENTS] [LIVE]      ten million events, a million live blocks by default
#include <cstdio>
#include <cstdlib>

#include "tests/bench/scale_recording.h"

int main(int argc, char** argv) {
  hbmscope::bench::ScaleShape shape;
  if (argc > 2) shape.events = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) shape.live_most = std::strtoull(argv[3], nullptr, 10);
  if (argc < 2 || shape.events == 0 || shape.live_most < 100) {
    std::fprintf(stderr, "make_recording FILE [EVENTS] [LIVE]\n");
    return 2;
  }
  if (const auto failure = hbmscope::bench::write_scale_recording(argv[1], shape)) {
    std::fprintf(stderr, "%s: %s\n", argv[1], failure->c_str());
    return 1;
  }
  return 0;
}
