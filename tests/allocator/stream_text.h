// Request streams written as text in a test.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analysis/read/requests/read_requests.h"

namespace hbmscope::allocator {

inline Result<ReadRequests> read_text(std::string_view text, std::uint64_t max_bytes = 1 << 30) {
  return read_requests({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "a.jsonl", max_bytes);
}

inline RequestStream stream_of(std::string_view text) {
  auto read = read_text(text);
  if (read) return std::move(read->stream);
  ADD_FAILURE() << read.error().text();
  return {};
}

// A pool of 48 MiB, seven operations and the state after them; the answers were derived from the rules by hand.
inline const std::string small_stream = [] {
  std::ifstream file("tests/cli/inputs/requests.jsonl");
  return std::string(std::istreambuf_iterator<char>(file), {});
}();

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "there is no " << from;
  return text.replace(at, from.size(), to);
}

}  // namespace hbmscope::allocator
