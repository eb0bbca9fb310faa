// Any bytes as the data that an observer sends to a viewer: the result is a trace or an error text, and the same
// however the bytes are cut.
//
// The first byte is the size of the parts in which they are fed. A welcome precedes them, so that short inputs get to
// the frames.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/read/recording/growing_trace.h"
#include "collector/view/link_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

struct Heard {
  std::uint64_t blocks = 0, statuses = 0, events = 0;
  std::string wrong;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard hear(const std::vector<std::uint8_t>& said, std::size_t step) {
  Heard heard;
  GrowingTrace trace("fuzz");
  trace.expect_skips();
  view::LinkReader reader(
      [&](const wire::SharedBlock& block) {
        ++heard.blocks;
        trace.take(block);
      },
      [&](const link::Status&) { ++heard.statuses; });
  for (std::size_t at = 0; at < said.size() && heard.wrong.empty(); at += step)
    if (auto wrong = reader.feed(std::span(said).subspan(at, std::min(step, said.size() - at)))) heard.wrong = *wrong;
  heard.events = trace.events();
  return heard;
}

}  // namespace

FUZZ_TARGET(fuzz_read_link, data, size) {
  if (size == 0) return 0;
  link::Welcome welcome;
  welcome.version = link::version;
  std::vector<std::uint8_t> said(sizeof(welcome));
  std::memcpy(said.data(), &welcome, sizeof(welcome));
  said.insert(said.end(), data + 1, data + size);
  require(hear(said, said.size()) == hear(said, data[0] + std::size_t{1}), "cut otherwise it is heard otherwise");
  return 0;
}
