#include "collector/serve/framework_memory.h"

#include "collector/wire/reported_names.h"

namespace hbmscope::serve {

void FrameworkMemory::add_heap(std::uint32_t id, const wire::HeapRecord& heap, bool has_named_blocks) {
  const bool is_of_arrays = heap.layer == static_cast<std::uint8_t>(wire::Layer::framework) &&
                            (heap.flags & wire::heap_flag::has_addresses) == 0;
  const bool is_inside_of_driver = (heap.flags & wire::heap_flag::is_inside_of_driver) != 0;
  if (is_inside_of_driver && (heap.flags & wire::heap_flag::has_regions) != 0) regions_.add_heap(id);
  if (is_of_arrays) arrays_.insert(id);
  if (is_inside_of_driver || is_of_arrays || has_named_blocks) blocks_.add_heap(id);
}

void FrameworkMemory::alloc(wire::AllocRecord block, std::int64_t time_ns) {
  if (arrays_.contains(block.heap)) block.flags |= wire::block_flag::has_no_address;
  if (regions_.has(block.heap)) regions_.note_block(block.heap, block.address, block.size, time_ns);
  unidentified_.note_event(block.heap, block.address);
  blocks_.add(block, writer_.alloc(block, time_ns));
}

void FrameworkMemory::free(const wire::FreeAtRecord& block, std::int64_t time_ns) {
  blocks_.remove(block.heap, block.address);
  unidentified_.note_event(block.heap, block.address);
  // An array that was donated or deleted ends a second time when its owner lets it go.
  if (arrays_.contains(block.heap) && !writer_.is_live(block.heap, block.address)) return;
  if (!unidentified_.free(block, time_ns)) writer_.free(block.heap, block.address, block.size, block.stack, time_ns);
}

void FrameworkMemory::move(const wire::MoveAtRecord& block, std::int64_t time_ns) {
  blocks_.move(block.heap, block.from, block.address);
  writer_.move(block.heap, block.from, block.address, time_ns);
}

void FrameworkMemory::drop_heap(const wire::HeapGoneRecord& gone, std::int64_t time_ns) {
  regions_.note_heap_gone(gone.heap);
  unidentified_.note_heap_gone(gone.heap);
  blocks_.remove_heap(gone.heap);
  writer_.drop_heap(gone, time_ns);
}

void FrameworkMemory::list(const wire::LiveRecord& block, std::int64_t time_ns) {
  wire::AllocRecord record;
  record.address = block.address;
  record.size = block.size;
  record.requested = block.requested;
  record.heap = block.heap;
  if (arrays_.contains(block.heap)) record.flags = wire::block_flag::has_no_address;
  unidentified_.list(record, time_ns);
}

void FrameworkMemory::note_figure(const wire::CounterRecord& figure, std::string_view name, std::int64_t time_ns) {
  if (name == wire::in_use_before && figure.heap != 0)
    unidentified_.note_before(figure.heap, static_cast<std::uint64_t>(figure.value), time_ns);
  else if (name != wire::lists_blocks_from_before)
    writer_.add(figure, time_ns);
  else if (figure.value != 0)
    unidentified_.begin_list();
  else
    unidentified_.end_list(time_ns);
}

}  // namespace hbmscope::serve
