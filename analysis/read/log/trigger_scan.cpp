#include "analysis/read/log/trigger_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hbmscope::log {
namespace {

constexpr std::size_t trigger_size = 4;
// All in lower case; of the other characters the bit that makes letters lower case is ignored too.
constexpr std::array<std::string_view, 11> triggers = {
    "emor",  // memory
    "lloc",  // allocator, allocate, ALLOC_FAILED
    "inus",  // InUse at
    "n_us",  // in_use: 0
    "chun",  // Total Chunks
    "egio",  // Next region of size
    "us_n",  // CUDNN_STATUS_NOT_INITIALIZED
    "took",  // Model loading took
    "hbm ",  // exceeded hbm capacity
    "hbm=",  // Init model | hbm=
    "mem=",  // avail mem=
};
constexpr char fold = 0x20;

using Bytes [[gnu::vector_size(16)]] = char;
using Words [[gnu::vector_size(16)]] = std::uint64_t;
constexpr std::size_t step = sizeof(Bytes);

Bytes load(const char* at) {
  Bytes bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

bool is_trigger(const char* at) {
  return std::any_of(triggers.begin(), triggers.end(), [&](std::string_view trigger) {
    for (std::size_t i = 0; i < trigger_size; ++i)
      if ((at[i] | fold) != (trigger[i] | fold)) return false;
    return true;
  });
}

// Whether a trigger begins at one of the 16 bytes.
bool has_trigger(const char* at) {
  const Bytes a = load(at) | fold, b = load(at + 1) | fold, c = load(at + 2) | fold, d = load(at + 3) | fold;
  Bytes any = {};
  for (const std::string_view trigger : triggers)
    any |= (a == (trigger[0] | fold)) & (b == (trigger[1] | fold)) & (c == (trigger[2] | fold)) &
           (d == (trigger[3] | fold));
  const Words words = reinterpret_cast<Words&>(any);
  return (words[0] | words[1]) != 0;
}

}  // namespace

std::size_t find_trigger(std::string_view text, std::size_t from) {
  const char* begin = text.data();
  const std::size_t end = text.size() < trigger_size ? 0 : text.size() - trigger_size + 1;
  std::size_t at = from;
  while (at + step + trigger_size <= text.size() && !has_trigger(begin + at)) at += step;
  for (; at < end; ++at)
    if (is_trigger(begin + at)) return at;
  return std::string_view::npos;
}

std::uint64_t count_line_ends(std::string_view text) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  // Sums of at most 255 per byte.
  while (at + step <= text.size()) {
    Bytes sums = {};
    for (int i = 0; i < 127 && at + step <= text.size(); ++i, at += step) sums -= load(text.data() + at) == '\n';
    std::array<unsigned char, step> each{};
    std::memcpy(each.data(), &sums, step);
    for (const unsigned char sum : each) count += sum;
  }
  return count +
         static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
}

}  // namespace hbmscope::log
