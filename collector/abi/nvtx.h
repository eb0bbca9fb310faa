// The part of NVTX's interface that is used, declared here because no toolkit may be required. nvtx_check.cpp
// compares it with NVIDIA's headers if they are available. NVTX is compiled into the program. At its first call it
// loads the library that NVTX_INJECTION64_PATH names and passes it tables of pointers, which the library sets to its
// own functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::nvtx {

using Function = void (*)();
enum class Module : int { core = 1, core2 = 5 };  // NvtxCallbackModule
struct Callbacks {                                // NvtxExportTableCallbacks
  std::size_t struct_bytes;
  int (*get_table)(Module module, Function*** table, unsigned* size);
};
using GetExportTable = const void* (*)(std::uint32_t id);
constexpr std::uint32_t callbacks_table = 1;

// Positions in the tables.
namespace core {
constexpr unsigned mark_ex = 1, mark_a = 2, mark_w = 3, start_ex = 4, start_a = 5, start_w = 6, end = 7, push_ex = 8,
                   push_a = 9, push_w = 10, pop = 11;
}
namespace core2 {
constexpr unsigned mark_ex = 1, start_ex = 2, end = 3, push_ex = 4, pop = 5, register_a = 10, register_w = 11,
                   create_a = 12, create_w = 13;
}

enum class MessageType : int { none = 0, ascii = 1, wide = 2, registered = 3 };
struct EventAttributes {  // nvtxEventAttributes_t
  std::uint16_t version, bytes;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  MessageType message_type;
  union {
    const char* ascii;
    const wchar_t* wide;
    const void* registered;
  } message;
};
constexpr int is_not_tracked = -2;  // NVTX_NO_PUSH_POP_TRACKING

}  // namespace hbmscope::nvtx
