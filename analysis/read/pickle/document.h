// What a pickle says, as plain data. A snapshot of a million trace entries is a million dicts of seven keys: here such
// a dict is 8 bytes (its shape and where its values begin) and 56 bytes of values, one after the other. The shape, the
// list of its keys, is shared by all dicts that have the same keys in the same order.
//
// TRAP: a pickle can hold itself (a list that is its own item) and can share (a hundred lists, each of which holds the
// next one twice, are 2^100 items). Whoever walks a Document bounds his own depth and either remembers what he has
// seen (by number: list_count, dict_count) or bounds how much he makes of it.
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
  std::uint64_t end_offset() const { return end_offset_; }  // The byte behind the pickle's last opcode.
  int protocol() const { return protocol_; }

  // Booleans are integers, as in Python. Nothing for what is no integer.
  std::optional<Integer> integer(Value value) const;
  std::optional<double> real(Value value) const;
  std::optional<std::string_view> text(Value value) const;
  std::optional<std::span<const std::uint8_t>> bytes(Value value) const;

  // Items of a list or tuple; empty for everything else.
  std::span<const Value> items(Value value) const {
    if (!value.is(Value::Tag::list)) return {};
    const List& list = lists_[value.number()];
    return {list.values, list.size};
  }
  bool is_tuple(Value list) const { return lists_[list.number()].is_tuple != 0; }

  // `dict` must be one. Keys and values of a dict are equally many; where a key comes twice, the later one holds.
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
  // The number of the key in the shape. Linear; who asks for the same keys of many dicts keeps the answer for a shape.
  std::optional<std::uint32_t> find_key(ShapeNumber shape, std::string_view key) const;
  // Value::missing() where `value` is no dict or has no such key.
  Value find(Value value, std::string_view key) const;

  std::uint32_t list_count() const { return static_cast<std::uint32_t>(lists_.size()); }
  std::uint32_t dict_count() const { return static_cast<std::uint32_t>(dicts_.size()); }
  std::uint32_t text_count() const { return static_cast<std::uint32_t>(texts_.size()); }
  std::uint32_t shape_count() const { return static_cast<std::uint32_t>(shapes_.size()); }

 private:
  friend class DocumentBuilder;
  static constexpr unsigned chunk_bits = 16;
  static constexpr std::uint32_t chunk_values = 1U << chunk_bits;
  static constexpr ShapeNumber unfinished = 0xffffffff;  // Only while it is built.

  struct List {
    Value* values;
    std::uint32_t size;
    std::uint32_t capacity : 31;
    std::uint32_t is_tuple : 1;
  };
  struct Dict {
    ShapeNumber shape;
    std::uint32_t begin;  // In the chunks; of a wide dict the number of a list.
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
  std::vector<std::unique_ptr<Value[]>> slabs_;  // What the chunks lie in.
  std::vector<Value*> chunks_;                   // Of chunk_values each; they never move.
  std::vector<LargeRun> large_runs_;             // Lists too large for a chunk.
  std::vector<List> lists_;
  std::vector<Dict> dicts_;
  std::vector<Shape> shapes_;
  std::vector<Value> keys_;
  std::vector<Text> texts_;
  std::vector<std::unique_ptr<char[]>> text_slabs_;  // What they lie in.
  std::vector<Integer> wide_integers_;
  std::vector<double> reals_;
};

}  // namespace hbmscope::pickle
