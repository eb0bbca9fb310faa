// The shape of a value, a ShapeProto, with the parts that it has as a tuple. Read once: a hundred thousand buffers may
// be parts of one value, whose tuple is as long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::hlo {

class ShapeTree {
 public:
  static constexpr int depth_max = 64;  // Of tuples in tuples.
  static constexpr std::size_t text_bytes_max = 1024;

  explicit ShapeTree(protobuf::ByteRange message, int depth = depth_max);

  // The part that an index names; null: there is none.
  const ShapeTree* find(const std::vector<std::uint64_t>& index) const;
  bool is_tuple() const { return is_tuple_; }
  // "f32[8,128]{1,0:T(8,128)}", "(f32[8], u32[])"; of a longer one the beginning and "...". Empty: it can't be told.
  const std::string& text() const;

 private:
  std::string make_text() const;

  protobuf::ByteRange message_;
  bool is_tuple_ = false, is_deeper_ = false;
  std::vector<ShapeTree> parts_;
  mutable std::optional<std::string> text_;
};

// Layouts of a TPU's arrays have tiles.
bool has_tiles(protobuf::ByteRange shape, int depth);

}  // namespace hbmscope::hlo
