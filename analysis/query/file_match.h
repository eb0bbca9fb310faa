// How two sides of a comparison match file paths: normally by the tail of the path (file_tail), which does not depend
// on the machine. If a side was stripped of its folders for sharing (convert --strip-paths),
// "torch/nn/modules/linear.py" is "…/site-packages/linear.py" there, so only the file name can be compared.
#pragma once

#include <string_view>

namespace hbmscope {

class FileMatch {
 public:
  // Call for every file of both sides before the first comparison.
  void look_at(std::string_view file) { is_by_name_ = is_by_name_ || file.starts_with("…/"); }
  bool is_by_name() const { return is_by_name_; }  // A side was stripped.
  std::string_view key_of(std::string_view file) const;

 private:
  bool is_by_name_ = false;
};

}  // namespace hbmscope
