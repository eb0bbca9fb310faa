// A cache of find_frame_rule(): walking a stack then takes one lookup and two words of memory per frame.
//
// A rule belongs to loaded code, so it is stored with the number of unloads so far and is no longer found after another
// unload. Any thread reads and adds without waiting; if there is no room, the rule is computed again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/inject/frame_tables.h"

namespace hbmscope::inject {

class FrameRules {
 public:
  // `unloads`: the result of look_at_loaded_code() on the thread that walks.
  explicit FrameRules(std::uint64_t unloads)
      : places_(all_places.load(std::memory_order_acquire)),
        unloads_(unloads << address_bits),
        more_unloads_(unloads >> (64 - address_bits) << unloads_shift) {}

  // The rule of the frame that continues at `return_address`, after its call.
  FrameRule of(std::uint64_t return_address) const {
    if (return_address >> address_bits != 0) return {};
    std::uint64_t word = 0;
    if (places_ != nullptr && read(places_[first_place(return_address)], return_address, word)) return unpacked(word);
    return find_elsewhere(return_address);
  }

 private:
  struct Place {
    std::atomic<std::uint64_t> key;  // 0: free, or about to get another rule.
    std::atomic<std::uint64_t> rule;
  };
  // Code addresses have 47 bits. The rest of the key stores some bits of the number of unloads, and the rule stores the
  // others. The rule also stores some bits of another hash of the address, in case the place is reused between two
  // reads.
  static constexpr unsigned address_bits = 47, unloads_shift = 48, kind_shift = 44, check_shift = 34, cfa_shift = 17,
                            offset_bits = 17;
  static constexpr std::size_t places_max = std::size_t{1} << 16, tries_max = 8;

  static std::size_t first_place(std::uint64_t return_address) { return return_address * 0x9e3779b97f4a7c15U >> 48; }
  static std::uint64_t check_of(std::uint64_t return_address) {
    constexpr unsigned check_bits = kind_shift - check_shift;
    return return_address * 0xd1b54a32d192ed03U >> (64 - check_bits) << check_shift;
  }
  bool read(const Place& place, std::uint64_t return_address, std::uint64_t& word) const {
    const std::uint64_t key = return_address | unloads_;
    if (place.key.load(std::memory_order_acquire) != key) return false;
    word = place.rule.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    constexpr std::uint64_t of_rule = std::uint64_t{15} << kind_shift | ((std::uint64_t{1} << check_shift) - 1);
    return place.key.load(std::memory_order_relaxed) == key &&
           (word & ~of_rule) == (more_unloads_ | check_of(return_address));
  }
  static bool can_be_packed(const FrameRule& rule);
  static std::uint64_t packed(const FrameRule& rule);
  static std::int32_t offset_of(std::uint64_t bits) {
    constexpr unsigned unused = 32 - offset_bits;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) << unused) >> unused << 3;
  }
  static FrameRule unpacked(std::uint64_t word) {
    return {static_cast<FrameRule::Kind>(word >> kind_shift & 15), offset_of(word >> cfa_shift), offset_of(word)};
  }
  FrameRule find_elsewhere(std::uint64_t return_address) const;
  void add(std::uint64_t return_address, const FrameRule& rule) const;

  static std::atomic<Place*> all_places;

  const Place* places_;
  std::uint64_t unloads_, more_unloads_;
};

// Called in a child after fork().
void forget_frame_rules();

}  // namespace hbmscope::inject
