// A program for pretend_libtpu, as JSON:
//
//   {"name": "jit_step", "arguments": 4096, "temporaries": 8192, "code": 512, "aliased": 4096, "output_bytes": 4096,
//    "outputs": [{"type": 11, "dimensions": [8, 128], "layout": "{1,0:T(8,128)}", "memory_kind": "device",
//                 "argument": 0}], "donors": [1], "refusal": "Ran out of memory ..."}
//
// `argument`: the one whose memory the output takes; absent: none. `refusal`: the compiler's answer instead of a
// program.
#pragma once

#include <string>

namespace hbmscope::pretend {

constexpr int f32 = 11;  // PJRT_Buffer_Type

// One array of f32[rows,128], whose memory is argument 0's if it is donated.
inline std::string program_text(const std::string& name, int rows, std::uint64_t temporaries, bool is_donated) {
  const std::string bytes = std::to_string(rows * 512);
  return R"({"name": ")" + name + R"(", "arguments": )" + bytes + R"(, "temporaries": )" + std::to_string(temporaries) +
         R"(, "code": 1000, "aliased": )" + (is_donated ? bytes : "0") + R"(, "output_bytes": )" + bytes +
         R"(, "outputs": [{"type": 11, "dimensions": [)" + std::to_string(rows) +
         R"(, 128], "layout": "{1,0:T(8,128)}", "memory_kind": "device")" + (is_donated ? R"(, "argument": 0)" : "") +
         "}]}";
}

}  // namespace hbmscope::pretend
