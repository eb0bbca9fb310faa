// What is known of one piece of a heap, in lines: the tooltip of the heap map, and what Copy gives of it.
#pragma once

#include <string>
#include <vector>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

struct PieceText {
  std::string title;               // The own line of code, "Free", "Not identified".
  std::vector<std::string> lines;  // Size, requested, state, address, age, the stack's own frames.
};
PieceText text_from_piece(const HeapMapAnswer& answer, const HeapPiece& piece);

// "7.54 GiB of 7.96 GiB in use, 426 MiB free in 231 blocks, the largest 162 MiB."
std::string heap_sentence(const HeapMapAnswer& answer);

FrameKey frame_of_stack(const Definitions& definitions, std::uint32_t stack);
// The own line of a block's stack, as all views select it; empty for a free piece, and where no code is the person's.
FrameKey frame_of_piece(const HeapMapAnswer& answer, const HeapPiece& piece);

// "+12.3 GiB" since the lowest address of the heap.
std::string offset_text(const HeapPieces& map, std::uint64_t address);
std::string address_text(std::uint64_t address);  // "0x7f3a14000000"

// "1.204 s" since the first event of the stream; 3 to 6 digits, as it is long.
std::string text_from_moment_ns(std::int64_t since_start_ns);

}  // namespace hbmscope::gui
