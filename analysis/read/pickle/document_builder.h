// Builds a Document while a pickle is read. Every call adds at most in proportion to the bytes that the pickle spent on
// it. It throws only std::bad_alloc and, beyond 2^31 of anything, std::length_error.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/read/pickle/document.h"

namespace hbmscope::pickle {

class DocumentBuilder {
 public:
  // `document` must be empty.
  DocumentBuilder(Document& document, std::uint64_t pickle_bytes);

  Value add_integer(std::int64_t value) {
    return Value::fits_small(value) ? Value::small_integer(value)
                                    : add_wide_integer({static_cast<std::uint64_t>(value), value < 0, false});
  }
  Value add_wide_integer(Integer integer);
  Value add_real(double value);
  // Nearly always returns the same Value for equal texts. It does not follow long collision chains, so that no file can
  // make this slow.
  Value add_text(std::string_view text);
  Value add_bytes(std::string_view bytes);

  Value add_list();
  Value add_tuple(std::span<const Value> items);
  void append(Value list, std::span<const Value> items);  // `list` must be a list; a tuple is allowed and grows.

  Value add_dict();
  void set_items(Value dict, std::span<const Value> keys_and_values);  // Alternating keys and values.

  // The state of the document at some point.
  struct Mark {
    std::uint32_t lists = 0, dicts = 0, chunk = 0, chunk_used = 0;
    std::size_t keys = 0;
  };
  Mark mark();
  // Drops `items`, which are all dicts added since the last mark and no longer needed, and the tuples in them: they
  // become empty and their memory is reused. Their numbers are not, so stale references find nothing. Returns false,
  // without changes, if lists were added or older ones have grown.
  bool forget(const Mark& since, std::span<const Value> items);

  // Dicts that several opcodes fill, or large ones: their keys and values are available only after finish().
  bool has_unfinished_dicts() const { return has_unfinished_dicts_; }
  std::string_view text(Value value) const { return *document_.text(value); }  // `value` must be a text.
  void finish(Value root, int protocol, std::uint64_t end_offset);

 private:
  struct Run {
    Value* values;
    std::uint32_t begin;
  };
  Run allocate_run(std::uint32_t values);
  void add_slab();
  void reserve(std::uint32_t list, std::uint64_t size);
  std::uint32_t add_list_row(bool is_tuple);
  std::uint32_t add_text_row(std::string_view text, std::uint32_t hash);
  void rehash_texts();
  Document::ShapeNumber find_or_add_shape(std::span<const Value> keys_and_values, std::uint64_t hash);
  bool shape_is(Document::ShapeNumber shape, std::span<const Value> keys_and_values) const;
  void make_wide(Document::Dict& dict);
  void grow_shape_table();

  Document& document_;
  bool has_unfinished_dicts_ = false;
  std::uint32_t oldest_grown_ = 0;  // The oldest list that has grown since the last mark.
  std::span<char> text_room_;       // The free part of the last slab.
  std::uint32_t chunk_ = 0xffffffff, chunk_used_ = Document::chunk_values;  // The first run makes the first chunk, 0.
  std::vector<std::uint32_t> text_slots_;                                   // Open addressing, number + 1, 0 is free.
  std::vector<std::uint32_t> shape_slots_;                                  // The same.
  std::vector<std::uint64_t> shape_hashes_;                                 // Hashes of shapes_, for rehashing.
  std::array<Document::ShapeNumber, 256> last_shapes_;  // By hash of the first key: a cache that nearly always hits.
};

}  // namespace hbmscope::pickle
