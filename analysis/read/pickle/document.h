// The contents of a pickle as plain data. A snapshot of a million trace entries is a million dicts of seven keys. Here
// such a dict takes 8 bytes (its shape, and where its values begin) and 56 bytes of values. The shape is the list of
// its keys, which all dicts with the same keys in the same order share.
//
// TRAP: a pickle can contain itself (a list that is its own item), and it can share (a hundred lists, each of which
// contains the next one twice, are 2^100 items). Code that walks a Document must bound its depth, and either remember
// what it has visited (by number: list_count, dict_count) or bound its output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/read/pickle/value.h"

namespace hbmscope::pickle {

class Document {
 public:
  using ShapeNumber = std::uint32_t;

  Document() = default;
  Document(Document&& other) noexcept = default;
  Document& operator=(Document&& other) noexcept = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  Value root() const { return root_; }
  std::uint64_t end_offset() const { return end_offset_; }  // The byte after the pickle's last opcode.
  int protocol() const { return protocol_; }

  // Booleans are integers, as in Python. Nothing if it is not an integer.
  std::optional<Integer> integer(Value value) const;
  std::optional<double> real(Value value) const;
  std::optional<std::string_view> text(Value value) const;
  std::optional<std::span<const std::uint8_t>> bytes(Value value) const;

  // The items of a list or tuple. Everything else has none.
  std::span<const Value> items(Value value) const {
    if (!value.is(Value::Tag::list)) return {};
    const List& list = lists_[value.number()];
    return {list.values, list.size};
  }
  bool is_tuple(Value list) const { return lists_[list.number()].is_tuple != 0; }

  // `value` must be a dict. It has as many keys as values; if a key occurs twice, the later one is valid.
  ShapeNumber shape(Value dict) const { return dicts_[dict.number()].shape; }
  std::span<const Value> keys(ShapeNumber shape) const {
    return {keys_.data() + shapes_[shape].first_key, shapes_[shape].keys};
  }
  std::span<const Value> values(Value dict) const {
    const Dict& row = dicts_[dict.number()];
    const Shape& shape = shapes_[row.shape];
    if (shape.keys == 0) return {};
    if (shape.is_wide) return {lists_[row.begin].values, shape.keys};
    return {chunks_[row.begin >> chunk_bits] + (row.begin & (chunk_values - 1)), shape.keys};
  }
  // The index of the key in the shape. Linear; callers that look up the same keys in many dicts cache it per shape.
  std::optional<std::uint32_t> find_key(ShapeNumber shape, std::string_view key) const;
  // Value::missing() if `value` is not a dict or lacks the key.
  Value find(Value value, std::string_view key) const;

  std::uint32_t list_count() const { return static_cast<std::uint32_t>(lists_.size()); }
  std::uint32_t dict_count() const { return static_cast<std::uint32_t>(dicts_.size()); }
  std::uint32_t text_count() const { return static_cast<std::uint32_t>(texts_.size()); }
  std::uint32_t shape_count() const { return static_cast<std::uint32_t>(shapes_.size()); }

 private:
  friend class DocumentBuilder;
  static constexpr unsigned chunk_bits = 16;
  static constexpr std::uint32_t chunk_values = 1U << chunk_bits;
  static constexpr ShapeNumber unfinished = 0xffffffff;  // Only while the document is built.

  struct List {
    Value* values;
    std::uint32_t size;
    std::uint32_t capacity : 31;
    std::uint32_t is_tuple : 1;
  };
  struct Dict {
    ShapeNumber shape;
    std::uint32_t begin;  // In the chunks; for a wide dict, the number of a list.
  };
  struct Shape {
    std::uint32_t first_key, keys;
    bool is_wide;
  };
  struct Text {
    const char* begin;
    std::uint32_t size, hash;
  };
  struct FreeValues {
    void operator()(Value* values) const;
  };
  using LargeRun = std::unique_ptr<Value, FreeValues>;

  Value root_ = Value::none();
  std::uint64_t end_offset_ = 0;
  int protocol_ = 0;
  std::vector<std::unique_ptr<Value[]>> slabs_;  // Memory of the chunks.
  std::vector<Value*> chunks_;                   // Each has chunk_values, which never move.
  std::vector<LargeRun> large_runs_;             // Lists too large for a chunk.
  std::vector<List> lists_;
  std::vector<Dict> dicts_;
  std::vector<Shape> shapes_;
  std::vector<Value> keys_;
  std::vector<Text> texts_;
  std::vector<std::unique_ptr<char[]>> text_slabs_;  // Memory of the texts.
  std::vector<Integer> wide_integers_;
  std::vector<double> reals_;
};

}  // namespace hbmscope::pickle
