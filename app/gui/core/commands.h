// Commands that views push and that App applies in order, between two frames. The argument of a command has the type
// named in its row of the table. Text is parsed only where a user typed it: in the palette, in a dialog and on the
// command line.
//
//   commands.push(CommandId::next_failure);
//   commands.push(command::size_address_time, {800, 400});
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/block_list.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/moment_comparison.h"
#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "app/gui/core/command_table.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/palette.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/core/view_lists.h"
#include "app/gui/core/view_position.h"
#include "app/gui/sources/demo.h"
#include "app/gui/sources/moment_name.h"
#include "app/gui/sources/source_id.h"

namespace hbmscope::gui {

struct ProcessNumber {
  std::int64_t value = 0;
};

struct PixelSize {
  int width = 0, height = 0;
};

struct FileWithChanges {
  std::string path;
  std::vector<WorkloadChange> changes;  // For workload files; otherwise empty.
};

struct PlaceToSelect {
  std::uint64_t address = 0;
  FrameKey frame = {};                    // The code that allocated the block at the address. Empty if unknown.
  std::optional<HeapKey> heap = {};       // Nothing: the current heap.
  std::optional<AddressRange> cell = {};  // The addresses of the clicked pixel, if several blocks share it.
};

// marks()[mark] of a stream.
struct MarkPlace {
  std::size_t stream = 0, mark = 0;
};

struct BookmarkNote {
  std::uint64_t bookmark = 0;  // By its id.
  std::string note;
};

struct BlockSorting {
  BlockOrder order = BlockOrder::size;
  bool is_ascending = false;
};

using Argument = std::variant<std::monostate, std::string, std::vector<std::string>, double, std::uint64_t, SourceId,
                              ProcessNumber, DemoSettings, std::vector<WorkloadChange>, FileWithChanges,
                              std::optional<SameMoment>, ViewKind, FrameBy, TopBy, Theme, FrameKey,
                              std::vector<FrameKey>, MomentName, TimeRange, AddressRange, TimelineSpan, PixelSize,
                              HeapKey, HeapColoring, MapLayout, PlaceToSelect, MarkPlace, BookmarkNote, BlockSorting>;

// The id of a command whose argument has type T.
template <class T>
struct CommandWith {
  CommandId id;
};
namespace command {
#define X(name, type, help) inline constexpr CommandWith<type> name{CommandId::name};
HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, X, X)
#undef X
}  // namespace command
constexpr bool takes_argument(CommandId id) {
  switch (id) {
#define X(name, ...) \
  case CommandId::name: return true;
    HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, X, X)
#undef X
    default: return false;
  }
}

struct Command {
  Command(CommandId given) : id(given) { assert(!takes_argument(given)); }
  template <class T>
  Command(CommandWith<T> given, std::type_identity_t<T> with) : id(given.id), argument(std::move(with)) {}

  // The argument. T must be the type in the command's row.
  template <class T>
  const T& as() const {
    return std::get<T>(argument);
  }

  CommandId id;
  Argument argument;
  std::size_t context = active;  // The target context.

  static constexpr std::size_t active = ~std::size_t{0};  // The context that is active when the command is applied.
};

class CommandQueue {
 public:
  void push(Command command) {
    if (command.context == Command::active) command.context = bound_;
    commands_.push_back(std::move(command));
  }
  template <class T>
  void push(CommandWith<T> id, std::type_identity_t<T> argument) {
    push(Command(id, std::move(argument)));
  }
  void select(FrameKey frame) { push(command::select_frame, std::move(frame)); }

  // A visible view asks its questions in every frame. A question that is not repeated is not computed.
  void ask(Question question) { frames_requested_[bound_ == Command::active ? front_ : bound_].add(question); }
  bool asks(Question question, std::size_t context) const { return frames_requested_[context].has(question); }

  // Clears all questions. Questions that are asked without a bound context count for the active context.
  void begin_frame(std::size_t active_context) {
    frames_requested_ = {};
    front_ = active_context;
  }
  // Until unbind(), commands and questions are meant for this context.
  void bind(std::size_t context) { bound_ = context; }
  void unbind() { bound_ = Command::active; }

  std::vector<Command> take_commands() { return std::exchange(commands_, {}); }
  std::array<QuestionSet, 2> frames_requested() const { return frames_requested_; }
  bool empty() const { return commands_.empty(); }

 private:
  std::vector<Command> commands_;
  std::array<QuestionSet, 2> frames_requested_{};  // Per context.
  std::size_t bound_ = Command::active, front_ = 0;
};

}  // namespace hbmscope::gui
