#include "collector/inject/native_frames.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstring>

#include "collector/inject/frame_rules.h"
#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject {
namespace {

using Walk = decltype(&_Unwind_Backtrace);
using GetAddress = decltype(&_Unwind_GetIPInfo);
std::atomic<void*> unwinder_walk{nullptr}, unwinder_get_address{nullptr};

// False: the stack ends here.
bool take_address(CodeStack& stack, std::uint64_t address) {
  if (stack.count == 0 && is_code_of_telling(address)) return true;
  if (stack.stop.has(address)) return false;
  if (stack.count == stack.max) {
    stack.is_cut = true;
    return false;
  }
  stack.frames[stack.count++] = {address, 0, 0};
  return true;
}

// Frames are stacked upwards, and none is longer than this.
constexpr std::uint64_t frame_bytes_max = 1 << 20;

struct Unwinding {
  CodeStack* stack;
  GetAddress get_address;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* data) {
  const auto& unwinding = *static_cast<Unwinding*>(data);
  int is_instruction_itself = 0;  // Set where a signal arrived; otherwise it is the return address, after the call.
  const std::uint64_t address = unwinding.get_address(context, &is_instruction_itself);
  if (address == 0) return _URC_END_OF_STACK;
  const bool goes_on = take_address(*unwinding.stack, is_instruction_itself != 0 ? address : address - 1);
  return goes_on ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// The kernel reads the signal set before it checks the operation, which is invalid: so this only tests the address.
bool is_readable(std::uint64_t address) {
  constexpr int no_such_action = -1;
  return syscall(SYS_rt_sigprocmask, no_such_action, address, nullptr, 8) != 0 && errno != EFAULT;
}

// Tested once for each page.
class ReadablePages {
 public:
  bool have(std::uint64_t address) {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t first = address & ~(page - 1), last = (address + 15) & ~(page - 1);
    if (first != known_ && !is_readable(first)) return false;
    known_ = first;
    if (last != first && !is_readable(last)) return false;
    known_ = last;
    return true;
  }

 private:
  std::uint64_t known_ = 1;
};

#if defined(__x86_64__)
// call rel32, or call through a register or memory.
bool is_behind_call(std::uint64_t address, ReadablePages& pages) {
  if (!pages.have(address - 8)) return false;
  const auto* code = reinterpret_cast<const std::uint8_t*>(address);
  if (code[-5] == 0xe8) return true;
  for (const int length : {2, 3, 4, 6, 7})
    if (code[-length] == 0xff && (code[-length + 1] >> 3 & 7) == 2) return true;
  return false;
}
#else
bool is_behind_call(std::uint64_t address, ReadablePages& pages) {
  return address % 4 == 0 && pages.have(address - 8);
}
#endif

__attribute__((noinline)) void walk_frame_pointers(CodeStack& stack) {
  ReadablePages pages, code_pages;
  auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  constexpr std::size_t frames_of_telling = 64;
  for (std::size_t steps = 0; steps < stack.max + frames_of_telling; ++steps) {
    if (frame % 8 != 0 || !pages.have(frame)) return;
    std::uint64_t words[2];  // The caller's frame pointer, and the return address.
    std::memcpy(words, reinterpret_cast<const void*>(frame), sizeof(words));
    if (words[1] < 4096 || !is_behind_call(words[1], code_pages) || !take_address(stack, words[1] - 1)) return;
    if (words[0] <= frame || words[0] - frame > frame_bytes_max) return;
    frame = words[0];
  }
}

std::uint64_t word_at(std::uint64_t address) {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof(word));
  return word;
}

struct Frame {
  std::uint64_t goes_on, stack_pointer, frame_pointer;
};

enum class Step { up, end, unusual };

// Moves to the frame that called this one.
Step step_up(Frame& frame, const FrameRules& rules) {
  const FrameRule rule = rules.of(frame.goes_on);
  std::uint64_t cfa = static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  switch (rule.kind) {
    case FrameRule::Kind::from_stack_pointer: cfa += frame.stack_pointer; break;
    case FrameRule::Kind::from_frame_pointer: cfa += frame.frame_pointer; break;
    case FrameRule::Kind::realigned: {
      const std::uint64_t kept = frame.frame_pointer + cfa;
      // Both addresses are in this frame.
      if (frame.frame_pointer % 8 != 0 || kept - frame.stack_pointer >= frame_bytes_max ||
          frame.frame_pointer - frame.stack_pointer >= frame_bytes_max)
        return Step::unusual;
      cfa = word_at(kept);
      break;
    }
    case FrameRule::Kind::outermost: return Step::end;
    default: return Step::unusual;
  }
  if (cfa % 8 != 0 || cfa <= frame.stack_pointer || cfa - frame.stack_pointer > frame_bytes_max) return Step::unusual;
  // Saved registers are in the frame that saved them.
  if (cfa + static_cast<std::uint64_t>(std::int64_t{rule.frame_pointer_offset}) < frame.stack_pointer)
    return Step::unusual;
  if (rule.kind == FrameRule::Kind::realigned)
    frame.frame_pointer = word_at(frame.frame_pointer);
  else if (rule.frame_pointer_offset != 0)
    frame.frame_pointer = word_at(cfa + static_cast<std::uint64_t>(std::int64_t{rule.frame_pointer_offset}));
  frame.goes_on = word_at(cfa - 8);
  frame.stack_pointer = cfa;
  return frame.goes_on != 0 ? Step::up : Step::end;
}

}  // namespace

void UnwinderSearch::look_into(const dl_phdr_info& object, const char* file) {
  if (walk_ != nullptr || std::strncmp(file, "libgcc_s.so", 11) != 0) return;
  get_address_ = find_function_of(object, "_Unwind_GetIPInfo");
  if (get_address_ != nullptr) walk_ = find_function_of(object, "_Unwind_Backtrace");
}

void UnwinderSearch::publish() const {
  if (walk_ == nullptr) unwinder_walk.store(nullptr, std::memory_order_release);
  unwinder_get_address.store(get_address_, std::memory_order_release);
  unwinder_walk.store(walk_, std::memory_order_release);
}

#if defined(__x86_64__)
__attribute__((noinline)) bool walk_by_rules(CodeStack& stack) {
  Frame frame;
  __asm__ volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rsp, %1\n\t"
      "movq %%rbp, %2"
      : "=&r"(frame.goes_on), "=&r"(frame.stack_pointer), "=&r"(frame.frame_pointer));
  ++frame.goes_on;  // As if that instruction had made the call.
  const FrameRules rules(stack.unloads);
  Step step = Step::up;
  while ((step = step_up(frame, rules)) == Step::up)
    if (!take_address(stack, frame.goes_on - 1)) return true;
  if (step == Step::end) return true;
  stack.count = 0;
  stack.is_cut = false;
  return false;
}
#else
bool walk_by_rules(CodeStack&) {
  return false;
}
#endif

void walk_code(CodeStack& stack) {
  if (walk_by_rules(stack)) return;
  const auto walk = reinterpret_cast<Walk>(unwinder_walk.load(std::memory_order_acquire));
  const auto get_address = reinterpret_cast<GetAddress>(unwinder_get_address.load(std::memory_order_acquire));
  if (walk == nullptr || get_address == nullptr) {
    walk_frame_pointers(stack);
    return;
  }
  Unwinding unwinding{&stack, get_address};
  walk(take_frame, &unwinding);
}

}  // namespace hbmscope::inject
