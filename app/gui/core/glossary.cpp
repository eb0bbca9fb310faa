#include "app/gui/core/glossary.h"

#include <algorithm>
#include <array>

namespace hbmscope::gui {
namespace {

constexpr std::array<Term, 28> terms{{
    {"baseline", "The file that another one is compared with. Changes are counted from it."},
    {"block", "A range of addresses in a pool, in use or free. XLA's allocator calls it a chunk."},
    {"category", "What a block is for: parameters, gradients, optimizer state, activations, temporaries, and so on."},
    {"cursor", "The time that all views show. Click on the timeline to move it."},
    {"driver refusal",
     "The driver refused memory to an allocator. The allocator may have found another way, so it is not yet a "
     "failure."},
    {"dry run", "A run of the program on an emulated device: the requests are real, the device is not."},
    {"event",
     "One allocation, release, failure or change of a pool. Events are numbered in the order in which they happened."},
    {"external fragmentation",
     "1 - largest free block / all free bytes. 0 % means one free block; the closer to 100 %, the smaller the blocks."},
    {"failure", "A request that the allocator could not serve: out of memory."},
    {"fragmented", "Enough memory is free in total, but no free block is large enough for the request."},
    {"growth per step", "What was allocated in a step of the program and not released in it."},
    {"heap",
     "Memory with its own blocks: the pool of a framework, or what the driver gave to the process. One can lie inside "
     "another."},
    {"in use", "The bytes of all allocated blocks, rounding included."},
    {"inner line",
     "In the timeline, the line inside the area of what is in use: the bytes that the program requested, without "
     "rounding."},
    {"largest free block", "The largest request that fits without growing the pool."},
    {"layer",
     "Who manages a heap: the driver, a pool, a framework or a program. A block of one layer can be a whole heap of "
     "the next."},
    {"lower end",
     "Newer XLA allocators fill a pool from both ends of its addresses. The lower end has the low addresses; its "
     "largest free "
     "block is what a request at that end can get."},
    {"marker", "A step or a range that the program reported, for example with NVTX or jax.profiler."},
    {"peak", "The time at which the most memory was in use."},
    {"pin", "Remembers a time. The heap map and Compare then show what changed since."},
    {"pool",
     "Memory that an allocator reserved from the driver and divides into blocks, such as JAX's BFC pool or PyTorch's "
     "caching allocator."},
    {"region",
     "Memory that a pool reserved with one call of the driver. PyTorch calls it a segment. Blocks of two regions never "
     "join."},
    {"requested", "The bytes that the program requested, before rounding."},
    {"rounding",
     "The part of a block that nobody requested, because allocators hand out multiples of a size (internal "
     "fragmentation)."},
    {"step", "One iteration of the training loop, as the program's markers say or as its requests repeat."},
    {"survivors",
     "Blocks that were allocated in the selected range and are still in use at its end. In a leak they are the "
     "culprits."},
    {"unknown", "The file does not say it. Unknown is never shown as zero."},
    {"upper end", "The high addresses of a pool that is filled from both ends. Collective memory is usually there."},
}};

}  // namespace

std::span<const Term> glossary() {
  return terms;
}

std::string_view meaning_of(std::string_view term) {
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const Term& one) { return one.term == term; });
  return found == terms.end() ? std::string_view() : found->meaning;
}

}  // namespace hbmscope::gui
