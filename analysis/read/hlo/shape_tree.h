// The shape of a value (a ShapeProto), with its parts if it is a tuple. Parsed once, because a hundred thousand buffers
// may be parts of one value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::hlo {

class ShapeTree {
 public:
  static constexpr int depth_max = 64;  // Nested tuples.
  static constexpr std::size_t text_bytes_max = 1024;

  explicit ShapeTree(protobuf::ByteRange message, int depth = depth_max);

  // The part at an index, or null.
  const ShapeTree* find(const std::vector<std::uint64_t>& index) const;
  bool is_tuple() const { return is_tuple_; }
  // "f32[8,128]{1,0:T(8,128)}", "(f32[8], u32[])"; long texts end in "...". Empty: unknown.
  const std::string& text() const;

 private:
  std::string make_text() const;

  protobuf::ByteRange message_;
  bool is_tuple_ = false, is_deeper_ = false;
  std::vector<ShapeTree> parts_;
  mutable std::optional<std::string> text_;
};

// The layouts of TPU arrays have tiles.
bool has_tiles(protobuf::ByteRange shape, int depth);

}  // namespace hbmscope::hlo
