#include "collector/inject/rings.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <iterator>
#include <new>
#include <utility>

#include "collector/inject/hand_over.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/sandbox.h"
#include "collector/inject/shared_memory.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

extern "C" void* __dso_handle;

namespace hbmscope::inject {
namespace {

// How long a thread waits at a full ring, of each second: longer than the observer holds rows back
// (collector/serve/process_drain.h).
constexpr timespec wait_step{0, 100'000};
constexpr std::uint64_t second_ns = 1'000'000'000, waiting_ns_a_second = second_ns / 4;
constexpr unsigned lent_wait_steps_max = 1'000;           // A tenth of a second.
constexpr std::uint64_t no_waiting_ns = second_ns;        // After one that was in vain.
constexpr std::uint64_t looked_for_after_bytes = 65'536;  // Of rows, a thousand events: whether the observer lives.

// Commands of membarrier(2).
constexpr int private_expedited = 8, register_private_expedited = 16;

bool is_tsc_even() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

// pthread_getcpuclockid() moved in glibc 2.34.
using GetClock = int (*)(pthread_t, clockid_t*);
GetClock get_clock = nullptr;

// Not a cancellation point, unlike nanosleep().
void sleep_a_step() {
  syscall(SYS_nanosleep, &wait_step, nullptr);
}

// Used in place of a thread's number.
constexpr std::uint64_t reclaiming = ~std::uint64_t{0};

// The threads' own slots, followed by those that are lent.
ThreadSlot slots[wire::rings_wanted + wire::rings_lent_wanted];

bool take_slot(ThreadSlot& slot, std::uint64_t thread) {
  std::uint64_t nobody = 0;
  std::atomic_ref taken(slot.thread);
  return taken.load(std::memory_order_relaxed) == 0 &&
         taken.compare_exchange_strong(nobody, thread, std::memory_order_acquire);
}

}  // namespace

Rings rings;
__thread std::uintptr_t thread_word = 0;

void prepare_thread_numbers() {
  if (get_clock == nullptr) get_clock = reinterpret_cast<GetClock>(find_function("pthread_getcpuclockid"));
}

std::uint64_t number_of_thread() {
  clockid_t clock = 0;
  if (get_clock == nullptr || get_clock(pthread_self(), &clock) != 0)
    return static_cast<std::uint64_t>(syscall(SYS_gettid));
  constexpr int bits_of_kind = 3;
  return static_cast<std::uint32_t>(~(clock >> bits_of_kind));
}

std::uint64_t read_ticks([[maybe_unused]] bool are_ns) {
#if defined(__x86_64__)
  if (!are_ns) return __rdtsc();
#endif
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void SpinLock::lock() {
  while (!try_lock()) sched_yield();
}

const char* Rings::open(const char* observer_path, int* link) {
  close();  // That of an observer that has died.
  prepare_thread_numbers();
  SharedMemory memory;
  const char* wrong = create_shared_memory(memory);
  if (wrong != nullptr) return wrong;
  auto* header = reinterpret_cast<wire::RingsHeader*>(memory.bytes);
  header->ticks_are_ns = is_tsc_even() ? 0 : 1;
  wrong = hand_over(memory.descriptor, observer_path, observer_, link);
  ::close(memory.descriptor);
  const SharedSizes& sizes = memory.sizes;
  if (wrong != nullptr) {
    munmap(memory.bytes, sizes.bytes());
    return wrong;
  }
  syscall(SYS_membarrier, register_private_expedited, 0);
  definitions_lock_.lock();
  bytes_ = memory.bytes;
  bytes_count_ = sizes.bytes();
  group_bytes_left_ = memory.group_bytes_left;
  ring_bytes_ = sizes.ring_bytes;
  own_rings_ = sizes.own_rings;
  lent_rings_ = sizes.lent_rings;
  ticks_are_ns_ = header->ticks_are_ns != 0;
  header_ = header;
  strings_ = frames_ = stacks_ = heaps_ = modules_ = 0;
  ++session_;
  definitions_lock_.unlock();
  is_mapped_ = true;
  __atomic_store_n(&is_open_, true, __ATOMIC_RELEASE);
  return nullptr;
}

void Rings::close() {
  if (!std::exchange(is_mapped_, false)) return;
  __atomic_store_n(&is_open_, false, __ATOMIC_SEQ_CST);
  // Without membarrier (a kernel before 4.14, a sandbox) it is unknown which threads still write, so the memory stays
  // mapped.
  const bool is_seen = !is_sandboxed() && syscall(SYS_membarrier, private_expedited, 0) == 0;
  for (ThreadSlot& slot : slots)
    while (std::atomic_ref(slot.is_busy).load(std::memory_order_acquire) != 0) nanosleep(&wait_step, nullptr);
  for (SpinLock* lock : {&definitions_lock_, &listing_lock_}) {
    lock->lock();
    lock->unlock();
  }
  const std::uint64_t page = header_->definitions_offset;
  if (!is_seen || munmap(bytes_ + page, bytes_count_ - page) != 0) return;
  void* fresh = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return;
  new (fresh) wire::RingsHeader(*header_);
  mremap(fresh, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, bytes_);
}

void Rings::note_sandbox() {
  if (is_open()) std::atomic_ref(header_->has_sandbox).store(1, std::memory_order_relaxed);
}

void Rings::forget() {
  if (is_mapped_) munmap(bytes_, bytes_count_);
  is_open_ = is_mapped_ = false;
  header_ = nullptr;
  thread_word &= in_driver_call | in_pool_call;
  for (ThreadSlot& slot : slots) slot = ThreadSlot{};
  strings_ = frames_ = stacks_ = heaps_ = modules_ = 0;
  // Another thread of the parent may have held the locks; it does not exist here.
  definitions_lock_.unlock();
  listing_lock_.unlock();
}

wire::RingHeader* Rings::ring(std::uint32_t number) const {
  return reinterpret_cast<wire::RingHeader*>(bytes_ + header_->rings_offset + number * wire::ring_stride(ring_bytes_));
}

// Which ring it is depends on the session, which can't change once the thread has entered.
bool Rings::use_ring(ThreadSlot& mine) {
  mine.session = session_;
  if (!enter(mine)) {
    mine.session = 0;
    return false;
  }
  const auto index = static_cast<std::uint32_t>(&mine - slots);
  const bool is_lent = is_lent_slot(mine);
  const std::uint32_t number = is_lent ? own_rings_ + (index - wire::rings_wanted) : index;
  const bool has_ring = number < (is_lent ? header_->rings : own_rings_);
  if (has_ring) {
    mine.ring = ring(number);
    std::atomic_ref(mine.ring->thread).store(mine.thread, std::memory_order_relaxed);
    std::atomic_ref rings_taken(header_->rings_taken);
    std::uint64_t before = rings_taken.load(std::memory_order_relaxed);
    while (before <= number && !rings_taken.compare_exchange_weak(before, number + std::uint64_t{1})) {
    }
  } else {
    mine.session = 0;
  }
  leave(mine);
  return has_ring;
}

ThreadSlot* Rings::take_ring() {
  if (!is_open()) return nullptr;
  auto* mine = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
  if (mine == nullptr) {
    const std::uint64_t thread = number_of_thread();
    for (std::size_t i = 0; mine == nullptr && i < own_rings_; ++i)
      if (take_slot(slots[i], thread)) mine = &slots[i];
    if (mine == nullptr) return nullptr;
    thread_word = reinterpret_cast<std::uintptr_t>(mine) | (thread_word & thread_flags);
    __cxa_thread_atexit_impl(give_slot_back, mine, &__dso_handle);
  }
  return !is_lent_slot(*mine) && use_ring(*mine) ? mine : nullptr;
}

bool Rings::is_lent_slot(const ThreadSlot& slot) {
  return &slot >= slots + wire::rings_wanted;
}

ThreadSlot* Rings::try_borrowing(std::uint64_t thread) {
  for (std::uint32_t i = 0; i < lent_rings_; ++i) {
    ThreadSlot& slot = slots[wire::rings_wanted + i];
    if (!take_slot(slot, thread)) continue;
    slot.own = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
    slot.stack = 0;
    thread_word = reinterpret_cast<std::uintptr_t>(&slot) | (thread_word & thread_flags);
    if (use_ring(slot)) return &slot;
    return_slot(slot);
    return nullptr;
  }
  return nullptr;
}

// A thread may end inside the call for which it borrowed a slot: by cancellation, or because its observer is gone.
void Rings::reclaim_slots() {
  if (is_sandboxed()) return;
  for (std::size_t i = wire::rings_wanted; i < std::size(slots); ++i) {
    ThreadSlot& slot = slots[i];
    std::uint64_t thread = std::atomic_ref(slot.thread).load(std::memory_order_acquire);
    if (thread == 0 || syscall(SYS_tgkill, getpid(), static_cast<pid_t>(thread), 0) == 0 || errno != ESRCH) continue;
    // Only one thread can succeed here.
    if (!std::atomic_ref(slot.thread).compare_exchange_strong(thread, reclaiming)) continue;
    end_freeing_in(slot);
    leave(slot);
    slot.session = 0;
    std::atomic_ref(slot.thread).store(0, std::memory_order_release);
  }
}

void Rings::end_freeing_in(ThreadSlot& slot) {
  if (slot.session != session_ || !enter(slot)) return;
  std::atomic_ref(slot.ring->freeing_since).store(0, std::memory_order_release);
  leave(slot);
}

// Each slot is lent for the duration of a driver call, so one is returned soon, unless that call waits for this thread.
// So this thread does not wait forever.
ThreadSlot* Rings::borrow_slot(bool may_wait) {
  if (!is_open()) return nullptr;
  const std::uint64_t thread = number_of_thread();
  const int errno_of_job = errno;
  ThreadSlot* lent = try_borrowing(thread);
  if (lent == nullptr && may_wait && read_ticks(true) >= no_waiting_until_ns_.load(std::memory_order_relaxed)) {
    reclaim_slots();
    for (unsigned steps = 0; lent == nullptr && steps < lent_wait_steps_max && is_open(); ++steps) {
      sleep_a_step();
      lent = try_borrowing(thread);
    }
    if (lent == nullptr) no_waiting_until_ns_.store(read_ticks(true) + no_waiting_ns, std::memory_order_relaxed);
  }
  errno = errno_of_job;
  return lent;
}

void Rings::return_slot(ThreadSlot& slot) {
  thread_word = reinterpret_cast<std::uintptr_t>(slot.own) | (thread_word & thread_flags);
  slot.session = 0;
  std::atomic_ref(slot.thread).store(0, std::memory_order_release);
}

// Called when its thread ends.
void Rings::give_slot_back(void* slot) {
  // It was cancelled in a call for which it borrowed a slot.
  auto* current = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
  if (current != nullptr && is_lent_slot(*current) && current->own == slot) {
    rings.end_freeing_in(*current);
    return_slot(*current);
  }
  // In a child after fork() the slot belongs to the parent, whose thread continues to use it there.
  if ((thread_word & ~thread_flags) != reinterpret_cast<std::uintptr_t>(slot)) return;
  thread_word &= in_driver_call;
  auto& mine = *static_cast<ThreadSlot*>(slot);
  if (mine.session == rings.session_ && rings.enter(mine)) {
    std::atomic_ref(mine.ring->freeing_since).store(0, std::memory_order_release);  // It was cancelled in a call.
    std::atomic_ref(mine.ring->thread).store(0, std::memory_order_release);
  }
  leave(mine);
  std::atomic_ref(mine.thread).store(0, std::memory_order_release);
}

std::uint32_t Rings::own_slot(std::uint64_t& thread) {
  const ThreadSlot* mine = slot_of_thread();
  if (mine == nullptr || is_lent_slot(*mine)) return wire::rings_wanted;
  thread = mine->thread;
  return static_cast<std::uint32_t>(mine - slots);
}

bool Rings::note_no_ring() {
  if (is_open()) std::atomic_ref(header_->events_without_ring).fetch_add(1, std::memory_order_relaxed);
  return false;
}

std::uint64_t Rings::begin_freeing(std::uint32_t stack) {
  ThreadSlot* mine = slot_of_thread();
  if (mine == nullptr) mine = borrow_slot(true);
  const std::uint64_t ticks = read_ticks(ticks_are_ns_);
  if (mine != nullptr && enter(*mine)) {
    mine->stack = stack;
    std::atomic_ref(mine->ring->freeing_since).store(ticks, std::memory_order_seq_cst);
    leave(*mine);
  }
  return ticks;
}

std::uint32_t Rings::freeing_stack() const {
  const auto* mine = reinterpret_cast<const ThreadSlot*>(thread_word & ~thread_flags);
  return mine != nullptr && mine->session == session_ ? mine->stack : 0;
}

void Rings::end_freeing() {
  auto* mine = reinterpret_cast<ThreadSlot*>(thread_word & ~thread_flags);
  if (mine == nullptr) return;
  end_freeing_in(*mine);
  if (is_lent_slot(*mine)) return_slot(*mine);
}

// A job that goes on without its observer has no stacks to walk and no rows to write.
void Rings::look_for_observer() {
  if (observer_ == 0 || is_sandboxed()) return;
  const int errno_of_job = errno;
  if (kill(observer_, 0) != 0 && errno == ESRCH) __atomic_store_n(&is_open_, false, __ATOMIC_SEQ_CST);
  errno = errno_of_job;
}

std::uint8_t* Rings::begin_event(ThreadSlot& slot, std::uint64_t bytes, bool may_wait) {
  wire::RingHeader& mine = *slot.ring;
  if (mine.head / looked_for_after_bytes != (mine.head + bytes) / looked_for_after_bytes) look_for_observer();
  if (__builtin_expect(mine.lost != mine.reported_lost, 0)) {
    wire::LossRecord loss;
    loss.count = mine.lost;
    loss.since_ns = mine.lost_since;
    if (std::uint8_t* row = find_room(mine, row_bytes(sizeof(loss)))) {
      publish(mine, put_row(row, read_ticks(ticks_are_ns_), loss));
      mine.reported_lost = mine.lost;
    }
  }
  if (std::uint8_t* row = find_room(mine, bytes)) return row;
  if (may_wait)
    if (std::uint8_t* row = wait_for_room(slot, bytes)) return row;
  if (mine.lost == mine.reported_lost) mine.lost_since = read_ticks(ticks_are_ns_);
  std::atomic_ref(mine.lost).store(mine.lost + 1, std::memory_order_release);
  return nullptr;
}

// Waits while rows are taken out, up to a part of each second. After a wait in which none was, waits again only once
// one was; never if the observer has died.
std::uint8_t* Rings::wait_for_room(ThreadSlot& slot, std::uint64_t bytes) {
  wire::RingHeader& mine = *slot.ring;
  if (mine.gave_up_at == mine.tail_seen + 1) return nullptr;
  const std::uint64_t tail = mine.tail_seen, begun = read_ticks(true);
  if (begun - slot.waiting_second >= second_ns) {
    slot.waiting_second = begun;
    slot.waited_ns = 0;
  }
  const int errno_of_job = errno;
  const std::uint64_t waited_before = slot.waited_ns;
  std::uint8_t* row = nullptr;
  while (row == nullptr && slot.waited_ns < waiting_ns_a_second) {
    look_for_observer();
    if (!is_open()) break;
    sleep_a_step();
    row = find_room(mine, bytes);
    slot.waited_ns = waited_before + (read_ticks(true) - begun);
  }
  if (row == nullptr && slot.waited_ns != waited_before && mine.tail_seen == tail) mine.gave_up_at = tail + 1;
  errno = errno_of_job;
  return row;
}

std::uint8_t* Rings::find_room(wire::RingHeader& mine, std::uint64_t bytes) {
  const std::uint64_t at = mine.head & (ring_bytes_ - 1);
  const std::uint64_t padding = at + bytes > ring_bytes_ ? ring_bytes_ - at : 0;
  if (mine.head + padding + bytes - mine.tail_seen > ring_bytes_) {
    mine.tail_seen = std::atomic_ref(mine.tail).load(std::memory_order_acquire);
    if (mine.head + padding + bytes - mine.tail_seen > ring_bytes_) return nullptr;
  }
  auto* rows = reinterpret_cast<std::uint8_t*>(&mine + 1);
  if (padding == 0) return rows + at;
  wire::RowHeader rest;
  rest.words = static_cast<std::uint16_t>(padding / 8);
  std::memcpy(rows + at, &rest, 8);  // There may be no room for its time.
  std::atomic_ref(mine.head).store(mine.head + padding, std::memory_order_release);
  return rows;
}

// Room for the row that announces a listing, and for that of a loss before it. Without it, the listing would be written
// for nothing, and its row counted as a lost event.
bool Rings::has_room_for_listing() {
  constexpr std::uint64_t row_bytes_of_both = 256;
  ThreadSlot* mine = slot_of_thread();
  if (mine == nullptr || !enter(*mine)) return false;
  const bool has_room = find_room(*mine->ring, row_bytes_of_both) != nullptr;
  leave(*mine);
  return has_room;
}

bool Rings::begin_listing() {
  if (!has_room_for_listing() || !listing_lock_.try_lock()) return false;
  if (!is_open() || std::atomic_ref(header_->listing_end).load(std::memory_order_acquire) != 0) {
    listing_lock_.unlock();
    return false;
  }
  listed_bytes_ = 0;
  is_listing_cut_ = false;
  return true;
}

std::uint8_t* Rings::begin_listed(std::uint64_t bytes) {
  if (listed_bytes_ + bytes > header_->listing_bytes) {
    is_listing_cut_ = true;
    return nullptr;
  }
  std::uint8_t* row = bytes_ + header_->listing_offset + listed_bytes_;
  listed_bytes_ += bytes;
  return row;
}

bool Rings::end_listing(std::uint32_t heap) {
  bool is_reported = false;
  if (!is_listing_cut_) {
    // One byte more than the listing has, so that an empty listing waits to be read, too.
    std::atomic_ref(header_->listing_end).store(listed_bytes_ + 1, std::memory_order_release);
    wire::ListingRecord record;
    record.heap = heap;
    record.phase = 1;
    is_reported = add(record);
    if (!is_reported) std::atomic_ref(header_->listing_end).store(0, std::memory_order_release);
  }
  listing_lock_.unlock();
  return is_reported || is_listing_cut_;
}

}  // namespace hbmscope::inject
