// Finds the caller of a frame of native code, using the unwind tables that every library contains (.eh_frame, indexed
// by .eh_frame_hdr; System V ABI x86-64 3.7, DWARF 5 6.4, Linux Standard Base Core 10.6).
//
// Only what compilers generate for ordinary functions is understood: the caller's stack pointer (the CFA) is this
// frame's stack pointer or frame pointer plus a number, or it was saved next to the frame pointer when the stack was
// aligned. Everything else is `unknown` and left to a full unwinder: signal frames, code without tables, tables in
// another order.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

struct FrameRule {
  enum class Kind : std::uint8_t {
    unknown,
    from_stack_pointer,  // CFA = stack pointer + cfa_offset.
    from_frame_pointer,  // CFA = frame pointer + cfa_offset.
    realigned,  // CFA = the word at frame pointer + cfa_offset; the caller's frame pointer is the word at this one's.
    outermost,  // A thread begins here: there is no caller.
  };
  Kind kind = Kind::unknown;
  std::int32_t cfa_offset = 0;  // Bytes.
  // The saved frame pointer of the caller, relative to the CFA, in bytes, or 0 if it is unchanged.
  std::int32_t frame_pointer_offset = 0;
};

// The rule for the instruction at `code`. Takes the loader's lock. x86-64 only; elsewhere everything is unknown.
FrameRule find_frame_rule(std::uint64_t code);

}  // namespace hbmscope::inject
