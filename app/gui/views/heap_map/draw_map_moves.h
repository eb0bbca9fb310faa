// How the visible part of a heap map moves: by wheel, drag and keys, to a selection made elsewhere, and when the state
// of the heap changes.
#pragma once

#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

// The whole heap, on the scale of both sides.
HeapMapView fit_of(const HeapMapState& map, const HeapSpans& spans, int width);
// Keeps what is visible when the state of the heap, the size of the picture or the layout changes.
void follow_answer(const AppState& state, HeapMapState& map, const std::shared_ptr<const HeapMapAnswer>& answer,
                   int width, int height);
// Scrolls once to a selection made in another view.
void follow_selection(const AppState& state, HeapMapState& map);
// Over the item that was drawn last.
void zoom_with_pointer(HeapMapState& map, ImVec2 origin);
void zoom_with_keys(const AppState& state, HeapMapState& map);
// So that the piece takes 60 % of the width.
void zoom_to_span(HeapMapState& map, const HeapSpan& span);
// Puts the address into the middle of the picture.
void center(HeapMapState& map, std::uint64_t address);
// What a strip shows is part of the position: Back, a copied command and Address x time know it. `before` and `was_fit`
// are of the frame's begin.
void publish_strip(HeapMapState& map, const HeapMapView& before, bool was_fit, CommandQueue& commands);

}  // namespace hbmscope::gui
