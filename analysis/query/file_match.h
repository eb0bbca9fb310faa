// What of a file's path two sides of a comparison must have in common. Its tail (file_tail), whatever the machine; but
// where a side was stripped of its folders to be shared (convert --strip-paths), "torch/nn/modules/linear.py" is
// "…/site-packages/linear.py" there, and the name alone can be compared.
#pragma once

#include <string_view>

namespace hbmscope {

class FileMatch {
 public:
  // Every file of both sides, before any is compared.
  void look_at(std::string_view file) { is_by_name_ = is_by_name_ || file.starts_with("…/"); }
  bool is_by_name() const { return is_by_name_; }  // A side was stripped.
  std::string_view key_of(std::string_view file) const;

 private:
  bool is_by_name_ = false;
};

}  // namespace hbmscope
