// An append-only sequence whose copies share storage. A copy keeps the elements it had, however much the original grows
// later. This is how a live trace reaches the window: a new version costs a few pointers, not a copy of its history.
//
// Elements lie in chunks that never move. Chunk sizes double at first; later each chunk is an eighth of the elements
// before it, so a long sequence reserves at most that much. One thread appends; at the same time others may read copies
// that they received earlier. Appending to a copy that is no longer the longest first gives it storage of its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

namespace hbmscope {

template <class T, std::size_t first_chunk = 64>
class SharedLog {
  static_assert(std::has_single_bit(first_chunk));

 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    Iterator() = default;
    Iterator(const SharedLog* log, std::size_t at) : log_(log), at_(at) {}
    reference operator*() const { return (*log_)[at_]; }
    pointer operator->() const { return &(*log_)[at_]; }
    reference operator[](difference_type by) const { return *(*this + by); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this + -1); }
    Iterator& operator+=(difference_type by) {
      at_ = static_cast<std::size_t>(static_cast<difference_type>(at_) + by);
      return *this;
    }
    Iterator& operator-=(difference_type by) { return *this += -by; }
    friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
    friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, difference_type by) { return it += -by; }
    friend difference_type operator-(Iterator a, Iterator b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }
    friend auto operator<=>(Iterator a, Iterator b) { return a.at_ <=> b.at_; }

   private:
    const SharedLog* log_ = nullptr;
    std::size_t at_ = 0;
  };

  SharedLog() = default;
  SharedLog(const SharedLog&) = default;
  SharedLog& operator=(const SharedLog&) = default;
  SharedLog(SharedLog&& other) noexcept : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  SharedLog& operator=(SharedLog&& other) noexcept {
    chunks_ = std::move(other.chunks_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t at) const { return *place(at); }
  const T& front() const { return *place(0); }
  const T& back() const { return *place(size_ - 1); }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  void push_back(T value) {
    make_mine();
    *make_place(size_) = std::move(value);
    grow_to(size_ + 1);
  }

  // Appends all values contiguously. If the current chunk has no room for them, its remaining elements stay
  // default-initialised. Returns the index of the first value.
  std::size_t append_together(std::span<const T> values) {
    if (values.empty()) return size_;
    make_mine();
    std::size_t at = size_;
    while (chunk_end(at) - at < values.size()) at = chunk_end(at);
    std::copy(values.begin(), values.end(), make_place(at));
    grow_to(at + values.size());
    return at;
  }
  std::span<const T> together(std::size_t at, std::size_t count) const {
    return count == 0 ? std::span<const T>{} : std::span<const T>{place(at), count};
  }

  // The capacity of the chunks in use, which copies may share.
  std::size_t capacity() const { return size_ == 0 ? 0 : chunk_end(size_ - 1); }

 private:
  static constexpr std::size_t doublings = 8, chunks_a_doubling = 8;
  struct Chunks {
    using Late = std::array<std::unique_ptr<T[]>, (48 - doublings) * chunks_a_doubling>;
    std::array<std::unique_ptr<T[]>, doublings> early;  // Each twice as long as the previous one.
    std::unique_ptr<Late> late;                         // Allocated together with the first late chunk.
    std::size_t used = 0;                               // By the longest copy; read by the thread that appends.

    std::unique_ptr<T[]>& held(std::size_t chunk) {
      return chunk < doublings ? early[chunk] : (*late)[chunk - doublings];
    }
  };

  // In units of the first chunk, the number of elements before each doubling is a power of two minus one.
  static std::size_t chunk_of(std::size_t at) {
    const std::size_t unit = at / first_chunk + 1;
    const auto doubling = static_cast<std::size_t>(std::bit_width(unit)) - 1;
    if (doubling < doublings) return doubling;
    constexpr unsigned bits = std::bit_width(chunks_a_doubling) - 1;
    const std::size_t part = unit >> (doubling - bits) & (chunks_a_doubling - 1);
    return doublings + (doubling - doublings) * chunks_a_doubling + part;
  }
  static std::size_t chunk_begin(std::size_t chunk) {
    if (chunk < doublings) return (first_chunk << chunk) - first_chunk;
    const std::size_t late = chunk - doublings, doubling = doublings + late / chunks_a_doubling;
    const std::size_t parts = chunks_a_doubling + late % chunks_a_doubling;
    return first_chunk * (parts << doubling) / chunks_a_doubling - first_chunk;
  }
  static std::size_t chunk_end(std::size_t at) { return chunk_begin(chunk_of(at) + 1); }
  const T* place(std::size_t at) const {
    const std::size_t chunk = chunk_of(at);
    return &chunks_->held(chunk)[at - chunk_begin(chunk)];
  }
  T* make_place(std::size_t at) {
    const std::size_t chunk = chunk_of(at);
    if (chunk >= doublings && chunks_->late == nullptr) chunks_->late = std::make_unique<typename Chunks::Late>();
    std::unique_ptr<T[]>& held = chunks_->held(chunk);
    if (held == nullptr) held = std::make_unique_for_overwrite<T[]>(chunk_begin(chunk + 1) - chunk_begin(chunk));
    return &held[at - chunk_begin(chunk)];
  }
  void grow_to(std::size_t size) { chunks_->used = size_ = size; }

  void make_mine() {
    if (chunks_ == nullptr) chunks_ = std::make_shared<Chunks>();
    if (chunks_->used == size_) return;
    SharedLog own;
    own.chunks_ = std::make_shared<Chunks>();
    for (std::size_t at = 0; at < size_; ++at) *own.make_place(at) = (*this)[at];
    own.grow_to(size_);
    *this = std::move(own);
  }

  std::shared_ptr<Chunks> chunks_;
  std::size_t size_ = 0;
};

}  // namespace hbmscope
