// The filter of all views. Of a trace it is about blocks (block_where_fields), or just an address, an offset or a size;
// of a profile it is about samples (profile_where_fields).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/where.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/core/view_position.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

std::vector<WhereField> filter_fields(const Source& source);
// Why the text is no filter for the source, with the character; empty if it is one.
std::string why_no_filter(const Source& source, std::string_view where);

// `where` and what `find` finds: an address, an offset, a size, or a filter; either may be empty.
std::string filter_with_find(const std::string& where, const std::string& find);
// The blocks that were allocated through the frame: "frame=...", "function=... file=...". Empty if none is selected, or
// if frames are neither functions nor lines.
std::string filter_of_frame(const FrameKey& frame, FrameBy by);
// Whether a frame is selected that stands for blocks: a function or a line, and no single block.
bool selects_blocks(const ViewPosition& position);
// The blocks that pictures of a trace bring out: those that pass the filter and, if a frame is selected, that were
// allocated through it.
std::string highlight_filter(const ViewPosition& position);

}  // namespace hbmscope::gui
