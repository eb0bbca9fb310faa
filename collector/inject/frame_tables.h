// How to get from a frame of native code to the one that called it, as the tables say that every library brings for
// that (.eh_frame, in the order of .eh_frame_hdr; System V ABI x86-64 3.7, DWARF 5 6.4, Linux Standard Base Core 10.6).
//
// Only what compilers make of ordinary functions is understood: the caller's stack pointer (the CFA) is this one's, or
// the frame pointer, plus a number; or it was kept beside the frame pointer where the stack was aligned. All else is
// `unknown`, and left to a whole unwinder: frames of signals, code without tables, tables in another order.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

struct FrameRule {
  enum class Kind : std::uint8_t {
    unknown,
    from_stack_pointer,  // CFA = stack pointer + cfa_offset.
    from_frame_pointer,  // CFA = frame pointer + cfa_offset.
    realigned,  // CFA = what lies at frame pointer + cfa_offset; the caller's frame pointer lies at this one's.
    outermost,  // Nobody called it: where a thread begins.
  };
  Kind kind = Kind::unknown;
  std::int32_t cfa_offset = 0;            // Bytes.
  std::int32_t frame_pointer_offset = 0;  // Of the caller's, from the CFA, in bytes; 0: as it is now.
};

// Of the instruction at `code`. Takes the loader's lock. x86-64; elsewhere all is unknown.
FrameRule find_frame_rule(std::uint64_t code);

}  // namespace hbmscope::inject
