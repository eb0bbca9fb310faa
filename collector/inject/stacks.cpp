#include "collector/inject/stacks.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cstring>

#include "collector/inject/code_modules.h"
#include "collector/inject/frame_rules.h"
#include "collector/inject/native_frames.h"
#include "collector/inject/python_frames.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"
#include "collector/inject/stack_frame.h"

namespace hbmscope::inject {
namespace {

enum class StackKind : std::uint32_t { none, code, python };
std::atomic<StackKind> kind{StackKind::none};
std::atomic<std::size_t> depth{wire::stack_depth_wanted};  // An attach may change it.

constexpr std::uint64_t cut_off = ~std::uint64_t{0} - 1;  // The key of the frame that represents the frames cut off.

struct Hash {
  std::uint64_t one, other;
};

// The number of threads that are taking a stack, and whether one of this process is about to fork.
std::atomic<std::uint32_t> takers{0};
std::atomic<bool> is_forking{false};

class Taking {
 public:
  Taking() {
    takers.fetch_add(1);
    if (!is_forking.load()) return;
    takers.fetch_sub(1);
    may_ = false;
  }
  ~Taking() {
    if (may_) takers.fetch_sub(1);
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;
  bool may() const { return may_; }

 private:
  bool may_ = true;
};

// Maps two keys to an id. Only the thread that holds `interning` writes; all threads may read.
struct Entry {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> rest_and_id;  // The upper half of the other key, and the id.
};
template <std::size_t size>
struct Table {
  static constexpr std::size_t tries_max = 64;
  Entry entries[size];

  std::uint32_t find(Hash hash) const {
    hash.one |= 1;  // 0 is an empty place.
    for (std::size_t i = 0; i < tries_max; ++i) {
      const Entry& entry = entries[(hash.one / 2 + i) % size];
      const std::uint64_t key = entry.key.load(std::memory_order_acquire);
      if (key == 0) return 0;
      const std::uint64_t found = entry.rest_and_id.load(std::memory_order_relaxed);
      if (key == hash.one && (found ^ hash.other) >> 32 == 0) return static_cast<std::uint32_t>(found);
    }
    return 0;
  }
  // False: the table is full at this place.
  bool add(Hash hash, std::uint32_t id) {
    hash.one |= 1;
    for (std::size_t i = 0; i < tries_max; ++i) {
      Entry& entry = entries[(hash.one / 2 + i) % size];
      if (entry.key.load(std::memory_order_relaxed) != 0) continue;
      entry.rest_and_id.store((hash.other >> 32 << 32) | id, std::memory_order_relaxed);
      entry.key.store(hash.one, std::memory_order_release);
      return true;
    }
    return false;
  }
};
// Only written pages need memory.
struct Tables {
  Table<std::size_t{1} << 17> stacks;
  Table<std::size_t{1} << 19> links;  // A frame and the stack of its caller.
  Table<std::size_t{1} << 17> frames;
};
std::atomic<Tables*> tables{nullptr};
SpinLock interning;

// Only used while `interning` is held.
std::uint64_t tables_session = 0;
PythonPosition position;

struct Walked {
  StackFrame* frames;
  std::size_t count = 0;
  std::uint64_t unloads = 0;  // The result of the last look_at_loaded_code().
};

Hash hash_of(const Walked& stack, std::uint64_t session) {
  // Another library may be mapped at the addresses of an unloaded one.
  Hash hash{session ^ stack.unloads << 32, stack.count};
  for (std::size_t i = 0; i < stack.count; ++i) {
    const StackFrame& frame = stack.frames[i];
    const std::uint64_t place = frame.key != 0 ? frame.key : frame.place;
    hash.one = hash_pair(hash.one, place);
    hash.other = (hash.other ^ place) * 0xff51afd7ed558ccdU;
    hash.other ^= hash.other >> 29;
  }
  hash.other *= 0xc4ceb9fe1a85ec53U;
  return hash;
}

Hash hash_of(std::uint64_t one, std::uint64_t other, std::uint64_t session) {
  return {hash_pair(hash_pair(session, one), other), (one * 0xff51afd7ed558ccdU + other) * 0xc4ceb9fe1a85ec53U};
}

std::uint32_t intern_frame(Tables& in, const StackFrame& frame) {
  const std::uint32_t module = frame.key == 0 ? module_of_code(frame.place) : 0;
  const Hash hash = frame.key == 0 ? hash_of(frame.place, module, tables_session)
                                   : hash_of(frame.key, ~std::uint64_t{0}, tables_session);
  if (const std::uint32_t known = in.frames.find(hash)) return known;
  std::uint32_t id = 0;
  if (frame.key == 0) {
    id = rings.define_code_frame(frame.place, module);
  } else if (frame.key == cut_off) {
    id = rings.define_frame("[callers cut off]", nullptr, 0);
  } else {
    describe(frame, position);
    id = rings.define_frame(position.function, position.file, position.line);
  }
  return id != 0 && in.frames.add(hash, id) ? id : 0;
}

// 0: there was no room for the whole stack.
std::uint32_t define(Tables& in, const StackFrame* frames, std::size_t count) {
  if (!rings.has_room_for_stacks()) return 0;
  std::uint32_t stack = 0;
  for (std::size_t i = count; i-- > 0;) {
    const std::uint32_t frame = intern_frame(in, frames[i]);
    if (frame == 0) return 0;
    const Hash hash = hash_of(stack, frame, tables_session);
    std::uint32_t next = in.links.find(hash);
    if (next == 0) {
      next = rings.define_stack(stack, frame);
      if (next == 0 || !in.links.add(hash, next)) return 0;
    }
    stack = next;
  }
  return stack;
}

Tables* make_tables() {
  void* memory =
      mmap(nullptr, sizeof(Tables), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, sizeof(Tables), MADV_DONTDUMP);
  auto* made = static_cast<Tables*>(memory);  // All zeros is an empty table.
  tables.store(made, std::memory_order_release);
  return made;
}

std::uint32_t intern(const Walked& stack) {
  const std::uint64_t session = rings.session();
  const Hash hash = hash_of(stack, session);
  Tables* in = tables.load(std::memory_order_acquire);
  if (in != nullptr)
    if (const std::uint32_t known = in->stacks.find(hash)) return known;
  interning.lock();
  in = tables.load(std::memory_order_relaxed);
  if (in == nullptr) in = make_tables();
  if (in != nullptr && tables_session != session) {
    madvise(in, sizeof(Tables), MADV_DONTNEED);  // Its ids belong to rings that are gone.
    tables_session = session;
  }
  std::uint32_t id = in != nullptr ? in->stacks.find(hash) : 0;
  if (in != nullptr && id == 0) {
    id = define(*in, stack.frames, stack.count);
    if (id != 0) in->stacks.add(hash, id);  // If it is full, the links find the stack again.
  }
  interning.unlock();
  return id;
}

// `into` needs room for two more frames than the depth.
std::size_t collect(const Walked& into, std::size_t most) {
  StackFrame* const frames = into.frames;
  CodeStack code{frames, most, into.unloads};
  const bool has_python = takes_python_frames() && has_python_frames();
  if (has_python) {
    code.max = (most + 1) / 2;
    code.stop = python_code();
  }
  walk_code(code);
  std::size_t count = code.count;
  if (code.is_cut) frames[count++] = {0, cut_off, 0};
  if (!has_python) return count;
  bool is_cut = false;
  count += walk_python(frames + count, most > count ? most - count : 0, is_cut);
  if (is_cut) frames[count++] = {0, cut_off, 0};
  return count;
}

std::size_t number_behind(const char* colon) {
  std::size_t number = 0;
  while (*++colon >= '0' && *colon <= '9' && number < 1'000'000)
    number = number * 10 + static_cast<unsigned>(*colon - '0');
  return number;
}

}  // namespace

void choose_stacks(const char* words) {
  const char* colon = words != nullptr ? std::strchr(words, ':') : nullptr;
  if (colon == nullptr) return;
  const auto length = static_cast<std::size_t>(colon - words);
  const auto is = [&](const char* name) {
    return std::strlen(name) == length && std::strncmp(words, name, length) == 0;
  };
  const std::size_t wanted = number_behind(colon);
  if (wanted == 0 || wanted > wire::stack_depth_max) return;
  depth.store(wanted, std::memory_order_relaxed);
  if (is(wire::stacks_of_python)) kind.store(StackKind::python, std::memory_order_release);
  if (is(wire::stacks_of_code)) kind.store(StackKind::code, std::memory_order_release);
}

bool takes_python_frames() {
  return kind.load(std::memory_order_relaxed) == StackKind::python;
}

bool is_in_python() {
  return takes_python_frames() && has_python_frames();
}

std::uint32_t take_stack() {
  if (__builtin_expect(kind.load(std::memory_order_acquire) == StackKind::none, 0) || !rings.is_open()) return 0;
  const Taking taking;
  if (!taking.may()) {
    rings.note_stack_lost();
    return 0;
  }
  const int errno_of_job = errno;
  Walked stack;
  stack.unloads = look_at_loaded_code();
  const std::size_t most = depth.load(std::memory_order_relaxed);
  stack.frames = static_cast<StackFrame*>(__builtin_alloca((most + 2) * sizeof(StackFrame)));
  stack.count = collect(stack, most);
  const std::uint32_t id = stack.count != 0 ? intern(stack) : 0;
  if (stack.count != 0 && id == 0) rings.note_stack_lost();
  errno = errno_of_job;
  return id;
}

void hold_stacks() {
  is_forking.store(true);
  constexpr timespec pause{0, 100'000};
  constexpr int pauses_max =
      500;  // 50 ms: a signal handler that forks may have interrupted a thread that takes a stack.
  for (int i = 0; i < pauses_max && takers.load() != 0; ++i) nanosleep(&pause, nullptr);
}

void release_stacks() {
  is_forking.store(false);
}

void forget_stacks() {
  takers.store(0);
  is_forking.store(false);
  interning.unlock();
  forget_code_modules();
  forget_frame_rules();
  forget_python();
  tables_session = 0;
  Tables* in = tables.load(std::memory_order_relaxed);
  if (in != nullptr && !is_sandboxed()) madvise(in, sizeof(Tables), MADV_DONTNEED);  // In a sandbox nothing follows.
}

}  // namespace hbmscope::inject
