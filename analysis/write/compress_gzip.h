// One gzip member, made with libdeflate.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

std::string compress_gzip(std::string_view bytes);

}  // namespace hbmscope
