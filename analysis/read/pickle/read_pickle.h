// Reads a Python pickle of protocols 2 to 5 as plain data: numbers, texts, bytes, lists, tuples, dicts. A pickle is a
// program for a small stack machine, and Python's own loader runs whatever it names. This reader knows 43 opcodes, none
// of which names or calls anything, and refuses a file at the first other opcode, with its byte.
//
// Bounds. Nothing is allocated for a length that the file merely claims. A document takes at most 64 bytes per byte of
// the pickle (a list of empty lists); for snapshots it is one to two. There is no recursion, however deep a file nests.
// More than nesting_max open marks, a memo number larger than the file, a text of 4 GiB or 2^31 values of one kind are
// errors.
//
// Speed: 20 million opcodes (a snapshot of a million trace entries, 70 MB) take about a tenth of a second on one core.
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
  // `bytes` are the beginning of a pickle of a dict, cut after one of its values. The document is a dict of what is
  // there, so that the first values are available before the rest is read.
  bool is_beginning = false;
};

// A pickle of protocol 2 or later begins with PROTO and a number. A protocol above 5 is recognised too, but refused.
bool looks_like_pickle(std::span<const std::uint8_t> bytes);

// `bytes` may continue after the pickle (Document::end_offset). Error offsets count from the beginning of `bytes`;
// `name` is only used in messages.
Result<Document> read_pickle(std::span<const std::uint8_t> bytes, const std::string& name, const Limits& limits = {},
                             ReadControl* control = nullptr);

// Takes the items of some lists as soon as they are complete, so that a history of a million dicts need not be in the
// document all at once; the document forgets what was taken. A pickle may refer to such an item again, change its
// contents, or fill lists before their meaning is known. The taker then gives up, and the caller reads again without
// it.
class ItemTaker {
 public:
  virtual ~ItemTaker() = default;
  // About the list at the end of `stack`, the values that are waiting to become part of something. Called when its
  // items begin.
  virtual bool wants(std::span<const Value> stack) = 0;
  // Complete items of such a list; whatever is in `stack` is not complete. False: they can't be taken.
  virtual bool take(std::span<const Value> stack, std::span<const Value> items) = 0;
  // This list or dict is examined only at the end, so it may still grow.
  virtual bool waits_for(Value container) const = 0;

  bool has_given_up() const { return has_given_up_; }
  void give_up() { has_given_up_ = true; }

 private:
  bool has_given_up_ = false;
};

// A source of a pickle's bytes, piece by piece.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;  // There may be fewer bytes, never more.
  // Fills `room` from its beginning; returns less than its size only at the end.
  virtual std::size_t read(std::span<std::uint8_t> room) = 0;
};

// Reads into `document`, which must be empty and is unusable after an error. Keeps only some megabytes of `bytes` in
// memory at a time. If the `taker` gave up, the returned error has no meaning.
std::optional<Error> read_pickle(Document& document, ByteSource& bytes, const std::string& name,
                                 ReadControl* control = nullptr, ItemTaker* taker = nullptr);
std::optional<Error> read_pickle(Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                                 const Limits& limits, ReadControl* control, ItemTaker* taker);

}  // namespace hbmscope::pickle
