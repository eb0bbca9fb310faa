// What several files of one job say about the same memory.
#include "analysis/answers/answer_table.h"
#include "analysis/query/same_memory.h"

namespace hbmscope {
namespace {

Result<Document> describe_counted_once(const AnswerInput& input) {
  std::vector<std::vector<Value>> cells;
  for (const SharedHeap& shared : find_shared_heaps(*input.trace, *input.states))
    cells.push_back({text_from_shared_heap(shared) + ".", std::uint64_t{shared.stream}, std::uint64_t{shared.heap},
                     std::uint64_t{shared.other_stream}, std::uint64_t{shared.other_heap}, shared.blocks, shared.bytes,
                     shared.found, shared.found_bytes, shared.stacks_lent,
                     std::string(shared.is_by_size ? "size" : "address and size")});
  Document document;
  document.add(Table{.key = "counted_once",
                     .title = "Counted once, though several files have it",
                     .columns = {{.title = "Which"},
                                 {.key = "stream", .unit = Unit::count},
                                 {.key = "heap", .unit = Unit::count},
                                 {.key = "other_stream", .unit = Unit::count},
                                 {.key = "other_heap", .unit = Unit::count},
                                 {.key = "blocks", .unit = Unit::count},
                                 {.key = "bytes", .unit = Unit::bytes},
                                 {.key = "found", .unit = Unit::count},
                                 {.key = "found_bytes", .unit = Unit::bytes},
                                 {.key = "stacks_lent", .unit = Unit::count},
                                 {.key = "found_by"}},
                     .rows = std::move(cells),
                     .layout = Layout::lines,
                     .shown = 64});
  return document;
}

}  // namespace

constinit const AnswerRow counted_once_answer{
    .name = "counted_once",
    .title = "Counted once",
    .help = "Memory that several files of one job list",
    .needs_trace = true,
    .describe = describe_counted_once,
};

}  // namespace hbmscope
