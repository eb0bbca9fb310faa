// What the world refuses: a file that is not there, a header that is wrong, a regular expression that does not
// compile. Such a refusal is a value, never an exception, and it always says where it happened and what the
// person in front of the screen can do about it.
//
// Two other kinds of trouble are not Errors: a bug of ours is a check that stops the program, and dirty data
// (an executable of size -1, a sample whose stack is missing) is an ImportStatistic, counted and kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace hbmscope {

struct Error {
  std::string what;                     // One sentence without a full stop: "string 17 of 12 does not exist".
  std::string remedy;                   // What to do about it, a sentence; empty only where nothing can be done.
  std::string file;                     // As the person named it; empty where no file is involved.
  std::optional<std::uint64_t> offset;  // Byte in `file` (inflated: in what came out of gzip); without a file, in the
                                        // text that was typed.
  bool inflated = false;

  // "a.prof: byte 812 (after inflating): string 17 of 12 does not exist. Was the file cut off? ..."
  std::string text() const;
};

// A refusal that no byte of a file is to blame for.
inline Error refusal(std::string what, std::string remedy, std::string file = {}) {
  return {std::move(what), std::move(remedy), std::move(file), {}, false};
}

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

}  // namespace hbmscope
