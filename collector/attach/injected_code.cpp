#include "collector/attach/injected_code.h"

#include <cstring>

#include "collector/wire/attach_layout.h"

// Position independent, and never run here: its bytes are copied. The numbers are those of AttachControl and of the
// system calls of x86-64 (mmap 9, munmap 11, rt_sigprocmask 14). Everything it reads comes before it, as InjectedCall.
//
// On entry the stack pointer is 136 bytes below where the thread was: the red zone of the System V ABI, and the address
// where it continues, which is on its own stack because another attach may have replaced the code by the time it
// returns. The flags and all other registers are the thread's. `ret $128` restores the stack pointer in one
// instruction, so that a signal in between finds nothing that it could overwrite.
__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    ".globl hbmscope_injected_begin, hbmscope_injected_entry, hbmscope_injected_end\n"
    ".hidden hbmscope_injected_begin, hbmscope_injected_entry, hbmscope_injected_end\n"
    "hbmscope_injected_begin:\n"
    "call_region: .quad 0\n"
    "call_vectors: .quad 0\n"
    "call_errno: .quad 0\n"
    "call_create: .quad 0\n"
    "call_dlopen: .quad 0\n"
    "call_dlsym: .quad 0\n"
    "call_dlerror: .quad 0\n"
    "call_library: .quad 0\n"
    "call_function: .quad 0\n"
    "call_observer: .quad 0\n"
    "hbmscope_injected_entry:\n"
    "  pushfq\n"
    "  cld\n"
    "  push %rax\n"
    "  push %rbx\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rdi\n"
    "  push %rbp\n"
    "  push %r8\n"
    "  push %r9\n"
    "  push %r10\n"
    "  push %r11\n"
    "  push %r12\n"
    "  push %r13\n"
    "  push %r14\n"
    "  push %r15\n"
    "  mov %rsp, %rbp\n"
    // Maps its memory: at exactly that address, or not at all (MAP_PRIVATE, ANONYMOUS, NORESERVE, FIXED_NOREPLACE).
    "  mov $9, %eax\n"
    "  mov call_region(%rip), %rdi\n"
    "  mov $0x20000, %esi\n"
    "  mov $3, %edx\n"
    "  mov $0x104022, %r10d\n"
    "  mov $-1, %r8\n"
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  cmp call_region(%rip), %rax\n"
    "  je 1f\n"
    "  cmp $-4096, %rax\n"  // Kernels before 4.17 may map another address, which is unmapped again.
    "  ja 3f\n"
    "  mov %rax, %rdi\n"
    "  mov $0x20000, %esi\n"
    "  mov $11, %eax\n"
    "  syscall\n"
    "  jmp 3f\n"
    "1:\n"
    "  mov %rax, %rbx\n"
    // No signal is handled on this stack, nor by the thread that inherits the mask.
    "  movq $-1, 8(%rbx)\n"
    "  mov $14, %eax\n"
    "  mov $2, %edi\n"
    "  lea 8(%rbx), %rsi\n"
    "  lea 16(%rbx), %rdx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"
    "  lea 0x20000(%rbx), %rsp\n"
    "  mov call_vectors(%rip), %eax\n"
    "  xor %edx, %edx\n"
    "  xsave 4096(%rbx)\n"
    "  call *call_errno(%rip)\n"
    "  mov %rax, %r12\n"
    "  mov (%r12), %r13d\n"
    "  mov %rbx, %rdi\n"
    "  xor %esi, %esi\n"
    "  lea hbmscope_injected_thread(%rip), %rdx\n"
    "  mov %rbx, %rcx\n"
    "  call *call_create(%rip)\n"
    "  mov %eax, 24(%rbx)\n"
    "  mov %r13d, (%r12)\n"
    "  mov call_vectors(%rip), %eax\n"
    "  xor %edx, %edx\n"
    "  xrstor 4096(%rbx)\n"
    "  mov $14, %eax\n"
    "  mov $2, %edi\n"
    "  lea 16(%rbx), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  mov %rbp, %rsp\n"
    "  syscall\n"
    "  movl $1, 28(%rbx)\n"
    "3:\n"
    "  pop %r15\n"
    "  pop %r14\n"
    "  pop %r13\n"
    "  pop %r12\n"
    "  pop %r11\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rbp\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "  pop %rbx\n"
    "  pop %rax\n"
    "  popfq\n"
    "  ret $128\n"
    // The new thread: dlopen, dlsym, and then the library's function, which runs until the observer hangs up. If
    // loading fails, the text of dlerror is kept.
    "hbmscope_injected_thread:\n"
    "  push %rbx\n"
    "  mov %rdi, %rbx\n"
    "  movl $1, 32(%rbx)\n"
    "  mov call_library(%rip), %rdi\n"
    "  mov $2, %esi\n"
    "  call *call_dlopen(%rip)\n"
    "  test %rax, %rax\n"
    "  jz 4f\n"
    "  mov %rax, %rdi\n"
    "  mov call_function(%rip), %rsi\n"
    "  call *call_dlsym(%rip)\n"
    "  test %rax, %rax\n"
    "  jz 4f\n"
    "  movl $2, 32(%rbx)\n"
    "  mov %rbx, %rdi\n"
    "  mov call_observer(%rip), %rsi\n"
    "  pop %rbx\n"
    "  jmp *%rax\n"
    "4:\n"
    "  call *call_dlerror(%rip)\n"
    "  test %rax, %rax\n"
    "  jz 6f\n"
    "  xor %ecx, %ecx\n"
    "5:\n"
    "  mov (%rax,%rcx), %dl\n"
    "  test %dl, %dl\n"
    "  jz 6f\n"
    "  mov %dl, 48(%rbx,%rcx)\n"
    "  inc %ecx\n"
    "  mov %ecx, 36(%rbx)\n"
    "  cmp $512, %ecx\n"
    "  jb 5b\n"
    "6:\n"
    "  movl $4, 32(%rbx)\n"
    "  pop %rbx\n"
    "  xor %eax, %eax\n"
    "  ret\n"
    "hbmscope_injected_end:\n"
    ".popsection\n");

extern "C" {
extern const std::uint8_t hbmscope_injected_begin[] __attribute__((visibility("hidden")));
extern const std::uint8_t hbmscope_injected_entry[] __attribute__((visibility("hidden")));
extern const std::uint8_t hbmscope_injected_end[] __attribute__((visibility("hidden")));
}

namespace hbmscope::attach {
namespace {

static_assert(sizeof(InjectedCall) == 10 * 8);
static_assert(wire::attach_region_bytes == 0x20000 && wire::attach_registers_offset == 4096);
static_assert(wire::attach_state::thread_runs == 1 && wire::attach_state::library_runs == 2 &&
              wire::attach_state::failed == 4);

}  // namespace

std::uint64_t injected_code_bytes() {
  return static_cast<std::uint64_t>(hbmscope_injected_end - hbmscope_injected_begin);
}

InjectedCode make_injected_code(const InjectedCall& call) {
  InjectedCode code;
  code.bytes.assign(hbmscope_injected_begin, hbmscope_injected_end);
  code.entry = static_cast<std::uint64_t>(hbmscope_injected_entry - hbmscope_injected_begin);
  std::memcpy(code.bytes.data(), &call, sizeof(call));
  return code;
}

}  // namespace hbmscope::attach
