// Pickles written by hand, and the result of reading them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analysis/read/pickle/read_pickle.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope::pickle {

using namespace std::string_literals;

// `body` goes between PROTO and STOP.
struct Read {
  explicit Read(const std::string& body, int protocol = 4)
      : bytes("\x80"s + static_cast<char>(protocol) + body + "."), document(read_pickle(bytes_of(bytes), "a.pickle")) {}
  const Document& get() const { return *document; }
  Value root() const { return document->root(); }
  std::int64_t integer() const { return static_cast<std::int64_t>(document->integer(root())->bits); }
  std::string_view text() const { return *document->text(root()); }

  std::string bytes;
  Result<Document> document;
};

inline void expect_refused(const Read& read, std::string_view part, std::uint64_t offset) {
  ASSERT_FALSE(read.document.has_value()) << part;
  const Error& error = read.document.error();
  EXPECT_NE(error.what.find(part), std::string::npos) << error.what;
  EXPECT_EQ(error.offset, offset) << error.what;
  EXPECT_FALSE(error.remedy.empty()) << error.what;
  EXPECT_EQ(error.file, "a.pickle");
}

}  // namespace hbmscope::pickle
