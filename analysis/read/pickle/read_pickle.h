// Reads a Python pickle of protocols 2 to 5 as plain data: numbers, texts, bytes, lists, tuples, dicts. A pickle is a
// program for a small stack machine, and Python's own loader runs whatever it names; this one knows 43 opcodes, none of
// which names or calls anything, and refuses a file at the first other one, with its byte.
//
// Bounds. Nothing is allocated for a length that the file merely claims. A document takes at most 64 bytes for each
// byte of the pickle (a list of empty lists), a snapshot between one and two. No recursion, however deep a file nests.
// More than max_nesting open marks, a memo number larger than the file, a text of 4 GiB or 2^31 values of one kind are
// errors.
//
// Speed: 20 million opcodes (a snapshot of a million trace entries, 70 MB) in about a tenth of a second on one core.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/pickle/document.h"
#include "analysis/read/read_control.h"

namespace hbmscope::pickle {

struct Limits {
  std::uint32_t nesting_max = 4'096;  // Python's own pickler stops at about 1,000.
  // `bytes` are the beginning of a pickle of a dict, up to behind one of its values: the document is a dict of what is
  // there, so that the first values can be looked at before the rest is read.
  bool is_beginning = false;
};

// A pickle of protocol 2 or later begins with PROTO and a number; later than 5 is a pickle too, one that is refused.
bool looks_like_pickle(std::span<const std::uint8_t> bytes);

// `bytes` must outlive the Document; it may go on behind the pickle (Document::end_offset). Offsets of errors count
// from the beginning of `bytes`; `name` is only used in messages.
Result<Document> read_pickle(std::span<const std::uint8_t> bytes, const std::string& name, const Limits& limits = {},
                             ReadControl* control = nullptr);

}  // namespace hbmscope::pickle
