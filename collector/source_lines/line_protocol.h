// What the observer (serve/line_finder.h) and the program that reads debugging information (lines_program.cpp) send
// each other: packets (SOCK_SEQPACKET) on the program's standard input.
//
//   LineRequest, with a descriptor (SCM_RIGHTS)   from now on `file` is this one; no reply
//   LineRequest, without                          the line of `address` in `file`; the reply is a LineReply, followed
//   by
//                                                 the path of the source file, not terminated
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::source_lines {

constexpr const char* program_name = "hbmscope_source_lines";

struct LineRequest {
  std::uint64_t address = 0;  // The file's own, without the base at which it is loaded.
  std::uint32_t file = 0;
  std::uint32_t unused = 0;
};

struct LineReply {
  std::uint32_t line = 0;     // 0: unknown, and there is no path.
  std::uint32_t is_last = 0;  // 1: the program ends now, because it holds much memory. It can be started again.
};

constexpr std::size_t path_bytes_max = 4096;

}  // namespace hbmscope::source_lines
