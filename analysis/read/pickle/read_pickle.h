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

#include <cstddef>
#include <cstdint>
#include <optional>
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

// `bytes` may go on behind the pickle (Document::end_offset). Offsets of errors count from the beginning of `bytes`;
// `name` is only used in messages.
Result<Document> read_pickle(std::span<const std::uint8_t> bytes, const std::string& name, const Limits& limits = {},
                             ReadControl* control = nullptr);

// Wants what some lists hold as soon as it is there, so that a history of a million dicts need not lie in the document
// first. What it has taken the document forgets. A pickle may come back to such an item, or change what is in one, or
// fill lists in an order in which their meaning is not known yet: then the taker gives up, and whoever reads does so
// again without it.
class ItemTaker {
 public:
  virtual ~ItemTaker() = default;
  // Of the list that comes last in `stack`, the values that wait to be part of something. Asked when items of it begin.
  virtual bool wants(std::span<const Value> stack) = 0;
  // Items of such a list that are complete; what lies in `stack` is not. False: they can't be taken.
  virtual bool take(std::span<const Value> stack, std::span<const Value> items) = 0;
  // This list or dict is looked into in the end only, so that it may still grow.
  virtual bool waits_for(Value container) const = 0;

  bool has_given_up() const { return has_given_up_; }
  void give_up() { has_given_up_ = true; }

 private:
  bool has_given_up_ = false;
};

// Where a pickle's bytes come from, one piece after the other.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;  // There may be fewer bytes, never more.
  // Fills the beginning of `room`; less than all of it at the end only.
  virtual std::size_t read(std::span<std::uint8_t> room) = 0;
};

// Into `document`, which must be empty and is worth nothing after an error. Of `bytes` some megabytes are in memory at
// a time. With a `taker` that has given up there is an error too, which means nothing.
std::optional<Error> read_pickle(Document& document, ByteSource& bytes, const std::string& name,
                                 ReadControl* control = nullptr, ItemTaker* taker = nullptr);
std::optional<Error> read_pickle(Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                                 const Limits& limits, ReadControl* control, ItemTaker* taker);

}  // namespace hbmscope::pickle
