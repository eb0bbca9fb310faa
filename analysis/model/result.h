// Failures outside our control: a missing file, a wrong header, a regular expression that does not compile. Such a
// failure is a value, never an exception. It always says where it happened and what the user can do about it.
//
// Two other kinds of trouble are not Errors. A bug of ours is a check that stops the program. Dirty data (an executable
// of size -1, a sample without a stack) is an ImportStatistic, counted and kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace hbmscope {

struct Error {
  std::string what;                     // One sentence without a full stop: "string 17 of 12 does not exist".
  std::string remedy;                   // What to do about it, one sentence. Empty only if nothing can be done.
  std::string file;                     // As the user named it, if a file is involved.
  std::optional<std::uint64_t> offset;  // Byte in `file` (`inflated`: after decompression); without a file, in the text
                                        // that the user typed.
  bool inflated = false;
  // The file is whole, but of a format that hbmscope doesn't read; `what` begins with "this is". Such a file in a
  // folder is left out.
  bool is_other_format = false;

  // "a.prof: byte 812 (after inflating): string 17 of 12 does not exist. Was the file cut off? ..."
  std::string text() const;
};

// An error that does not point at a byte of a file.
inline Error refusal(std::string what, std::string remedy, std::string file = {}) {
  return {std::move(what), std::move(remedy), std::move(file), {}, false, false};
}

// A file of a format that hbmscope doesn't read.
inline Error other_format(std::string what, std::string remedy, std::string file) {
  return {std::move(what), std::move(remedy), std::move(file), {}, false, true};
}

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

}  // namespace hbmscope
