#include "analysis/read/log/trigger_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

constexpr std::size_t trigger_size = 4;
constexpr char any = '?';  // Of a trigger: whatever isn't a letter.

// In lower case; of other characters the bit that makes letters lower case is ignored too. A common word counts only
// near a word of its sentences: "model weights took", "finished in 20 secs, took", "exit code 137", "return code = -9".
struct Trigger {
  std::string_view word;
  std::array<std::string_view, 3> near = {};
  bool is_before = false;     // They stand before it; otherwise after it.
  std::size_t bytes_max = 0;  // How far away: blanks and colours may stand between.
};
constexpr Trigger triggers[] = {
    {"emor"},                                       // memory
    {"lloc"},                                       // allocator, allocate, ALLOC_FAILED
    {"inus"},                                       // InUse at
    {"n_us"},                                       // in_use: 0
    {"chun"},                                       // Total Chunks
    {"egio"},                                       // Next region of size
    {"us_n"},                                       // CUDNN_STATUS_NOT_INITIALIZED
    {"?mem"},                                       // avail mem=, max_mem: of a word that ends there
    {"hbm "},                                       // exceeded hbm capacity
    {"hbm="},                                       // Init model | hbm=
    {"ax_m"},                                       // Max_MA, of DeepSpeed
    {"kv c"},                                       // KV cache usage
    {"kill"},                                       // oom_kill, Killed, OOMKilled
    {"ib f"},                                       // 11024 MiB free
    {"took", {"ight", "oadi", "secs"}, true, 48},   // Model loading took
    {"usag", {"oken"}, true, 8},                    // token usage
    {"ffer", {"size", "of s", "r si"}, false, 8},   // model buffer size
    {"code", {" 137", "= -9", ": -9"}, false, 16},  // exit code 137
    {"1455", {"rror"}, true, 8},                    // WinError 1455
    {"reso", {"t of", "ut o", "out "}, true, 8},    // out of resource: shared memory
    {"aded", {" lay", "laye", "ayer"}, false, 16},  // offloaded 33/33 layers
    {"pool", {" siz"}, false, 4},                   // maximum pool size exceeded
    {"d da", {"hare"}, true, 8},                    // uses too much shared data
    {"ice=", {"cuda", "rocm", "vulk"}, false, 8},   // device=CUDA0 size=
};

// Four letters as one number, in any case.
constexpr std::uint32_t folded_word(std::string_view letters) {
  std::array<char, trigger_size> word{};
  std::copy_n(letters.data(), trigger_size, word.begin());
  return std::bit_cast<std::uint32_t>(word) | 0x20202020U;
}

std::uint32_t folded_word(const char* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word | 0x20202020U;
}

// `begin` and `end` are those of the text.
bool has_near(const char* begin, const char* end, const char* at, const Trigger& trigger) {
  const auto room = static_cast<std::size_t>(trigger.is_before ? at - begin : end - at) - (trigger.is_before ? 0 : 4);
  const std::size_t distance = std::min(room, trigger.bytes_max);
  const char* const first = trigger.is_before ? at - distance : at + trigger_size;
  for (const char* place = first; place + trigger_size <= std::min(first + distance + trigger_size, end); ++place)
    for (const std::string_view word : trigger.near)
      if (!word.empty() && folded_word(place) == folded_word(word)) return true;
  return false;
}

// The first letter of a trigger may be any.
struct Folded {
  std::uint32_t word, mask;
};
constexpr auto folded_triggers = [] {
  std::array<Folded, std::size(triggers)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].mask =
        triggers[i].word.front() == any ? std::bit_cast<std::uint32_t>(std::array<char, 4>{0, -1, -1, -1}) : ~0U;
    all[i].word = folded_word(triggers[i].word) & all[i].mask;
  }
  return all;
}();

bool is_trigger(const char* begin, const char* end, const char* at) {
  const std::uint32_t here = folded_word(at);
  for (std::size_t i = 0; i < folded_triggers.size(); ++i) {
    if ((here & folded_triggers[i].mask) != folded_triggers[i].word) continue;
    // "max mem: 5", "mem_usage:", and not "member", "remember".
    if (triggers[i].word.front() == any)
      return !is_letter(at[0]) && at + trigger_size < end && !is_letter(at[trigger_size]);
    return triggers[i].bytes_max == 0 || has_near(begin, end, at, triggers[i]);
  }
  return false;
}

// Which triggers have a letter at a place, in eight groups, a bit each. Where a text has letters of one group at all
// four places, a trigger may begin. The halves of a byte are looked up one by one, as the processor can for 32 bytes at
// once.
struct Groups {
  alignas(16) std::array<std::array<std::uint8_t, 16>, trigger_size> low{}, high{};
};
constexpr Groups groups = [] {
  constexpr std::size_t count = 8;
  Groups made;
  std::size_t number = 0;
  for (const Trigger& trigger : triggers) {
    const auto bit = static_cast<std::uint8_t>(1U << number++ % count);
    for (std::size_t i = 0; i < trigger_size; ++i) {
      const auto letter = static_cast<unsigned char>(trigger.word[i]);
      for (unsigned half = 0; half < 16; ++half) {
        const bool is_any = trigger.word[i] == any;
        if (is_any || half == (letter & 15U)) made.low[i][half] |= bit;
        if (is_any || (half | 2U) == (letter >> 4U | 2U)) made.high[i][half] |= bit;
      }
    }
  }
  return made;
}();

bool may_be_trigger(const char* at) {
  unsigned found = 0xff;
  for (std::size_t i = 0; i < trigger_size; ++i) {
    const auto letter = static_cast<unsigned char>(at[i]);
    found &= groups.low[i][letter & 15U] & groups.high[i][letter >> 4U];
  }
  return found != 0;
}

std::size_t find_by_bytes(std::string_view text, std::size_t from) {
  for (; from + trigger_size <= text.size(); ++from)
    if (may_be_trigger(text.data() + from) && is_trigger(text.data(), text.data() + text.size(), text.data() + from))
      return from;
  return std::string_view::npos;
}

#if defined(__x86_64__)
constexpr std::size_t step = sizeof(__m256i);

// The same for 32 places, a bit each; reads three bytes more.
[[gnu::target("avx2")]] inline std::uint32_t places_at(const char* at) {
  const __m256i half = _mm256_set1_epi8(15);
  __m256i found = _mm256_set1_epi8(-1);
  const auto look_up = [&](const std::array<std::uint8_t, 16>& table, __m256i halves) __attribute__((target("avx2"))) {
    const __m128i* const row = reinterpret_cast<const __m128i*>(table.data());
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_load_si128(row)), halves);
  };
  for (std::size_t i = 0; i < trigger_size; ++i) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + i));
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    found = _mm256_and_si256(found, look_up(groups.low[i], bytes));
    found = _mm256_and_si256(found, look_up(groups.high[i], upper));
  }
  const __m256i none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
}

[[gnu::target("avx2")]] std::size_t find_by_vectors(std::string_view text, std::size_t from) {
  const char* const end = text.data() + text.size();
  for (; from + trigger_size <= text.size(); from += step) {
    const char* const at = text.data() + from;
    std::array<char, step + trigger_size> rest{};
    const bool is_whole = from + rest.size() <= text.size();
    if (!is_whole) std::memcpy(rest.data(), at, text.size() - from);
    for (std::uint32_t places = places_at(is_whole ? at : rest.data()); places != 0; places &= places - 1) {
      const char* const place = at + std::countr_zero(places);
      if (place + trigger_size <= end && is_trigger(text.data(), end, place))
        return static_cast<std::size_t>(place - text.data());
    }
  }
  return std::string_view::npos;
}
#endif

}  // namespace

std::size_t find_trigger(std::string_view text, std::size_t from) {
#if defined(__x86_64__)
  static const bool has_vectors = __builtin_cpu_supports("avx2") != 0;
  if (has_vectors) return find_by_vectors(text, from);
#endif
  return find_by_bytes(text, from);
}

std::uint64_t count_line_ends(std::string_view text) {
  using Bytes [[gnu::vector_size(16)]] = char;
  std::uint64_t count = 0;
  std::size_t at = 0;
  // Sums of at most 255 per byte.
  while (at + sizeof(Bytes) <= text.size()) {
    Bytes sums = {};
    for (int i = 0; i < 127 && at + sizeof(Bytes) <= text.size(); ++i, at += sizeof(Bytes)) {
      Bytes bytes;
      std::memcpy(&bytes, text.data() + at, sizeof bytes);
      sums -= bytes == '\n';
    }
    std::array<unsigned char, sizeof(Bytes)> each{};
    std::memcpy(each.data(), &sums, sizeof sums);
    for (const unsigned char sum : each) count += sum;
  }
  return count +
         static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
}

}  // namespace hbmscope::log
