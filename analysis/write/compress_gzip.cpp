#include "analysis/write/compress_gzip.h"

#include <memory>

#include <libdeflate.h>

namespace hbmscope {
namespace {

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};

}  // namespace

std::string compress_gzip(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(libdeflate_alloc_compressor(6));
  std::string zipped(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  zipped.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), zipped.data(), zipped.size()));
  return zipped;
}

}  // namespace hbmscope
