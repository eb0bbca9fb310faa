#include "analysis/read/log/trigger_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "analysis/units/ascii.h"

// Compiled a second time for processors with vectors of 32 bytes; the dynamic linker chooses. Sanitizers can't have
// functions that are chosen so early.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define HBMSCOPE_CLONES [[gnu::target_clones("avx2", "default")]]
#else
#define HBMSCOPE_CLONES
#endif

namespace hbmscope::log {
namespace {

constexpr std::size_t trigger_size = 4;
// All in lower case; of the other characters the bit that makes letters lower case is ignored too.
constexpr std::array<std::string_view, 21> triggers = {
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
    "?mem",  // avail mem=, max_mem: of a word that ends there
    "ax_m",  // Max_MA, of DeepSpeed
    "kv c",  // KV cache usage
    "usag",  // token usage
    "ffer",  // model buffer size
    "kill",  // oom_kill, Killed, OOMKilled
    "code",  // exit code 137
    "reso",  // out of resource: shared memory
    "aded",  // offloaded 33/33 layers
    "ib f",  // 11024 MiB free
    "ice=",  // device=CUDA0 size=
};
constexpr char fold = 0x20;

// A common word counts only near one of these, which the sentences have: "model weights took", "Model loading took",
// "finished in 20 secs, took", "buffer size", "exit code 137", "return code = -9", "out of resource", "offloaded 33/33
// layers", "device=CUDA0".
struct CommonWord {
  std::string_view word;
  std::array<std::string_view, 3> near;
  bool is_before;         // They stand before it; otherwise after it.
  std::size_t bytes_max;  // How far away: blanks and colours may stand between.
};
constexpr std::array<CommonWord, 7> common_words = {{{"usag", {"oken"}, true, 8},
                                                     {"took", {"ight", "oadi", "secs"}, true, 48},
                                                     {"ffer", {"size", "of s", "r si"}, false, 8},
                                                     {"code", {" 137", "= -9", ": -9"}, false, 16},
                                                     {"reso", {"t of", "ut o", "out "}, true, 8},
                                                     {"aded", {" lay", "laye", "ayer"}, false, 16},
                                                     {"ice=", {"cuda", "rocm", "vulk"}, false, 8}}};

using Bytes [[gnu::vector_size(32)]] = char;
using Words [[gnu::vector_size(32)]] = std::uint64_t;
constexpr std::size_t step = sizeof(Bytes);

// Vectors are passed by reference: how they are passed by value depends on the processor.
[[gnu::always_inline]] inline void load(const char* at, Bytes& bytes) {
  std::memcpy(&bytes, at, sizeof bytes);
}

// Four letters as one number, in any case.
std::uint32_t folded_word(const char* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word | 0x20202020U;
}

bool is_word(const char* at, std::string_view word) {
  return !word.empty() && folded_word(at) == folded_word(word.data());
}

// "mem" as a word, or as the end of a name: "max mem: 5", "mem_usage:", and not "member", "remember".
bool is_mem(const char* end, const char* at) {
  return (at[1] | fold) == 'm' && (at[2] | fold) == 'e' && (at[3] | fold) == 'm' && !is_letter(at[0]) &&
         at + trigger_size < end && !is_letter(at[trigger_size]);
}

// `begin` and `end` are those of the text.
bool is_trigger(const char* begin, const char* end, const char* at) {
  if (is_mem(end, at)) return true;
  const std::uint32_t here = folded_word(at);
  const auto found = std::find_if(triggers.begin(), triggers.end(),
                                  [&](std::string_view trigger) { return folded_word(trigger.data()) == here; });
  if (found == triggers.end()) return false;
  const auto common = std::find_if(common_words.begin(), common_words.end(),
                                   [&](const CommonWord& each) { return each.word == *found; });
  if (common == common_words.end()) return true;
  const std::size_t room = static_cast<std::size_t>(common->is_before ? at - begin : end - at - trigger_size);
  const std::size_t distance = std::min(room, common->bytes_max);
  const char* const first = common->is_before ? at - distance : at + trigger_size;
  for (const char* place = first; place + trigger_size <= std::min(first + distance + trigger_size, end); ++place)
    if (std::any_of(common->near.begin(), common->near.end(), [&](auto word) { return is_word(place, word); }))
      return true;
  return false;
}

constexpr char folded(std::size_t trigger, std::size_t letter) {
  return static_cast<char>(triggers[trigger][letter] | fold);
}

// Unrolled, so that the letters are constants. A byte that isn't 0 stands for a place where the two letters are.
template <std::size_t... trigger>
[[gnu::always_inline]] inline void find_letters(const Bytes& second, const Bytes& fourth, Words& places,
                                                std::index_sequence<trigger...>) {
  const Bytes any = (((second == folded(trigger, 1)) & (fourth == folded(trigger, 3))) | ...);
  std::memcpy(&places, &any, sizeof places);
}

// Those of the next 32 places after which the second and the fourth letter of a trigger are. Few words have them that
// have no trigger.
[[gnu::always_inline]] inline void find_places(const char* at, Words& places) {
  Bytes second, fourth;
  load(at + 1, second);
  load(at + 3, fourth);
  second |= fold;
  fourth |= fold;
  find_letters(second, fourth, places, std::make_index_sequence<triggers.size()>());
}

// The first of eight places at which a trigger begins; 8: none.
std::size_t first_trigger(std::string_view text, const char* at, std::uint64_t places) {
  while (places != 0) {
    const auto place = static_cast<std::size_t>(std::countr_zero(places)) / 8;
    if (is_trigger(text.data(), text.data() + text.size(), at + place)) return place;
    places &= ~(std::uint64_t{0xff} << place * 8);
  }
  return 8;
}

// The first of the next 32 places at which a trigger begins; `step`: none.
[[gnu::always_inline]] inline std::size_t first_in_step(std::string_view text, const char* at, const char* letters) {
  Words places;
  find_places(letters, places);
  if ((places[0] | places[1] | places[2] | places[3]) == 0) return step;
  for (std::size_t word = 0; word < step / 8; ++word) {
    const std::size_t place = first_trigger(text, at + word * 8, places[word]);
    if (place < 8) return word * 8 + place;
  }
  return step;
}

}  // namespace

HBMSCOPE_CLONES std::size_t find_trigger(std::string_view text, std::size_t from) {
  const char* begin = text.data();
  std::size_t at = from;
  for (; at + step + trigger_size <= text.size(); at += step) {
    const std::size_t place = first_in_step(text, begin + at, begin + at);
    if (place < step) return at + place;
  }
  for (; at + trigger_size <= text.size(); at += step) {
    // The rest, filled up with a letter that ends no trigger.
    std::array<char, step + trigger_size> rest;
    rest.fill('~');
    std::memcpy(rest.data(), begin + at, std::min(rest.size(), text.size() - at));
    const std::size_t place = first_in_step(text, begin + at, rest.data());
    if (place < step) return at + place;
  }
  return std::string_view::npos;
}

HBMSCOPE_CLONES std::uint64_t count_line_ends(std::string_view text) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  // Sums of at most 255 per byte.
  while (at + step <= text.size()) {
    Bytes sums = {};
    for (int i = 0; i < 127 && at + step <= text.size(); ++i, at += step) {
      Bytes bytes;
      load(text.data() + at, bytes);
      sums -= bytes == '\n';
    }
    std::array<unsigned char, step> each{};
    std::memcpy(each.data(), &sums, step);
    for (const unsigned char sum : each) count += sum;
  }
  return count +
         static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
}

}  // namespace hbmscope::log

#undef HBMSCOPE_CLONES
