// Everything a person can do, in one table: it makes the menu, the palette, the help window and the keys, so that none
// of them can differ from the others. Views push commands; App applies them, one after the other, between two frames.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// What must be there for a command to make sense; the reason stands where it can't be given.
enum class Needs {
  nothing,
  profile,
  trace,
  live,
  behind,
  attached,
  demo,
  workload,
  baseline,
  selection,
  two_files,
  two_sides,
  pinned,
  hidden
};

// X(name, title, keys, menu, needs, help). `hidden` commands need an argument that only a view can give; they are in
// neither menu nor palette. Single letters act only while no text is being typed.
#define HBMSCOPE_COMMANDS(X)                                                                                           \
  X(open_file, "Open file...", "Ctrl+O", "File", nothing, "Opens a profile beside those that are open.")               \
  X(open_folder, "Open folder...", "", "File", nothing, "Opens all profiles of a folder: ranks, or a series.")         \
  X(show_jobs, "Attach to a running job...", "Ctrl+Shift+O", "File", nothing,                                          \
    "The jobs of this machine, or of one that your ssh reaches, and what attaching to one does.")                      \
  X(open_sample, "Open the sample profile", "", "File", nothing, "A small profile of a JAX training loop.")            \
  X(close_file, "Close file", "Ctrl+W", "File", profile, "Closes the file in front.")                                  \
  X(reload_file, "Read the file again", "F5", "File", profile, "For a file that was written anew.")                    \
  X(export_picture, "Export picture...", "Ctrl+E", "File", profile, "The view in front as a PNG.")                     \
  X(export_figures, "Export figures as CSV...", "", "File", profile,                                                   \
    "What the view in front shows, as exact numbers.")                                                                 \
  X(export_blocks, "Export all blocks as CSV...", "", "File", trace,                                                   \
    "Each with when it came and went: export --what.")                                                                 \
  X(export_events, "Export all events as CSV...", "", "File", trace, "One a row, up to the moment: export --what.")    \
  X(export_svg, "Export flame graph as SVG...", "", "File", profile, "A picture with titles, no script.")              \
  X(export_html, "Export report as HTML...", "", "File", profile, "Summary, top and flame graph in one page.")         \
  X(export_csv, "Export top table as CSV...", "", "File", profile, "All frames, exact figures.")                       \
  X(export_folded, "Export folded stacks...", "", "File", profile, "One stack a line, for other flame graph tools.")   \
  X(export_pprof, "Export filtered profile as pprof...", "", "File", profile, "What the filter leaves, as a profile.") \
  X(quit, "Quit", "Ctrl+Q", "File", nothing, "Closes the window.")                                                     \
  X(copy, "Copy table", "Ctrl+C", "Edit", profile, "The view in front as text with tabs and exact numbers.")           \
  X(copy_as_text, "Copy as text", "", "Edit", profile, "The view in front as aligned text, as it is shown.")           \
  X(copy_as_command, "Copy as command", "Ctrl+Shift+C", "Edit", profile, "A command line that opens just this state.") \
  X(copy_report_command, "Copy as report command", "", "Edit", profile, "A command line that prints this view.")       \
  X(copy_workload_command, "Copy as tpu run command", "", "Edit", workload,                                            \
    "A command line that emulates the workload with the same changes and prints what came of it.")                     \
  X(reset_workload, "TPU workload as written", "", "Edit", workload, "Takes all changes of the TPU panel back.")       \
  X(stop_emulating, "Stop emulating", "", "Edit", workload,                                                            \
    "Keeps what the TPU panel shows, and forgets what is on its way.")                                                 \
  X(find, "Find", "Ctrl+F", "Edit", profile, "Marks frames by function or file and says their share.")                 \
  X(find_next, "Find next", "F3", "Edit", profile, "Selects the next hit in the flame graph.")                         \
  X(find_previous, "Find previous", "Shift+F3", "Edit", profile, "Selects the hit before.")                            \
  X(edit_filter, "Filter...", "Ctrl+L", "Edit", profile, "Types a filter: size>1GiB device:0 -file:site-packages.")    \
  X(filter_to_selection, "Filter to the selected function", "", "Edit", selection,                                     \
    "Only stacks that pass through it.")                                                                               \
  X(clear_filter, "Clear filter", "", "Edit", profile, "Shows the whole profile again.")                               \
  X(escape, "Clear selection, then filter", "Escape", "Edit", nothing, "Closes what is open first.")                   \
  X(back, "Back", "Alt+Left", "Go", nothing, "Undoes the last change of view, selection or filter.")                   \
  X(forward, "Forward", "Alt+Right", "Go", nothing, "Does again what Back undid.")                                     \
  X(show_summary, "Show summary", "Ctrl+1", "View", profile, "What this file is, and its totals.")                     \
  X(show_flame, "Show flame graph", "Ctrl+2", "View", profile, "Stacks from the outermost frame down.")                \
  X(show_top, "Show top", "Ctrl+3", "View", profile, "The frames that hold the most.")                                 \
  X(show_tree, "Show call tree", "Ctrl+4", "View", profile, "Stacks as a tree, from either end.")                      \
  X(show_diff, "Show diff", "Ctrl+5", "View", two_files, "What changed since the baseline.")                           \
  X(show_source, "Show source", "Ctrl+6", "View", profile, "The selected frame's lines.")                              \
  X(show_totals, "Show totals over files", "Ctrl+7", "View", two_files, "One point a file.")                           \
  X(show_import, "Show import statistics", "Ctrl+8", "View", profile, "What reading the file met.")                    \
  X(show_heap_map, "Show heap map", "Ctrl+9", "View", trace, "Every block and free piece by address.")                 \
  X(show_timeline, "Show timeline", "", "View", trace, "In use, pool size and largest free over time.")                \
  X(show_address_time, "Show address x time", "", "View", trace,                                                       \
    "Every block as a box of its addresses and its time.")                                                             \
  X(show_failure, "Show why it failed", "", "View", trace, "What was asked, what was free, what stood in the way.")    \
  X(show_fragmentation, "Show fragmentation", "", "View", trace, "What is free, in how many pieces.")                  \
  X(show_sizes, "Show sizes", "", "View", trace, "Sizes, gaps, ages and lifetimes as histograms.")                     \
  X(show_compare, "Show compare", "", "View", pinned, "What changed since the pinned moment.")                         \
  X(show_tpu, "Show TPU workload", "", "View", workload,                                                               \
    "Does it fit, and what would be other with another generation, mesh, buffers or blocks.")                          \
  X(go_to, "Go to...", "Ctrl+P", "Go", trace, "An address, a size, code, a tag or a moment, typed in the palette.")    \
  X(show_blocks, "Show blocks", "", "View", trace, "The live blocks one by one, sorted and filtered.")                 \
  X(show_events, "Show events", "", "View", trace, "What happened around the moment, one event a row.")                \
  X(go_to_largest_free, "Largest free block", "L", "Go", trace, "Selects it; again: the next smaller one.")            \
  X(go_to_peak, "Go to the peak", "P", "Go", trace, "The moment at which the most was in use.")                        \
  X(go_to_end, "Go to the end", "End", "Go", trace, "The moment after the last event.")                                \
  X(next_failure, "Next failure", "]", "Go", trace, "The moment of the next out-of-memory.")                           \
  X(previous_failure, "Previous failure", "[", "Go", trace, "The moment of the out-of-memory before.")                 \
  X(next_event, "Next event", ".", "Go", trace, "One event later.")                                                    \
  X(previous_event, "Previous event", ",", "Go", trace, "One event earlier.")                                          \
  X(next_event_here, "Next event of this address", "Shift+.", "Go", trace,                                             \
    "The next block that comes to or goes from the selected address.")                                                 \
  X(previous_event_here, "Previous event of this address", "Shift+,", "Go", trace, "The one before.")                  \
  X(play, "Play or pause", "Space", "Go", trace,                                                                       \
    "Moves the moment on in real time; more than 10 s in 10 s, less than 3 s in 3 s. Of a running job: holds, or "     \
    "follows.")                                                                                                        \
  X(toggle_regions, "Rows by region", "R", "View", trace, "Each region of the heap map begins a row.")                 \
  X(by_function, "Group by function", "", "View", profile, "Two lines of one function are one frame.")                 \
  X(by_line, "Group by line", "", "View", profile, "Two lines of one function are two frames.")                        \
  X(by_file, "Group by file", "", "View", profile, "A source file is one frame.")                                      \
  X(by_package, "Group by package", "", "View", profile, "jax, flax, optax, your own files.")                          \
  X(toggle_value, "Bytes or count", "C", "View", profile, "Weighs frames by bytes, or by how many things they hold.")  \
  X(toggle_fold, "Fold library frames", "F", "View", profile, "Joins runs of library frames in the flame graph.")      \
  X(toggle_dropped, "Show dropped frames", "", "View", profile,                                                        \
    "Those that the profile says to drop, and the Python interpreter's own.")                                          \
  X(toggle_flame_direction, "Turn the flame graph round", "I", "View", profile,                                        \
    "From callers down, or from leaves up.")                                                                           \
  X(toggle_tree_direction, "Turn the call tree round", "", "View", profile, "Top-down, or bottom-up.")                 \
  X(zoom_to_selection, "Zoom to the selection", "Z", "View", selection,                                                \
    "Fills the flame graph with the selected frame.")                                                                  \
  X(zoom_out, "Zoom out", "0", "View", profile, "The whole flame graph.")                                              \
  X(next_view, "Next view", "F6", "View", profile, "Moves to the next tab.")                                           \
  X(maximise, "Maximise the view", "F11", "View", profile, "Shows only the view in front, or all again.")              \
  X(toggle_theme, "Dark or light theme", "", "View", nothing, "Switches the colours.")                                 \
  X(text_larger, "Larger text", "Ctrl+=", "View", nothing, "Up to 200 %.")                                             \
  X(text_smaller, "Smaller text", "Ctrl+-", "View", nothing, "Down to 75 %.")                                          \
  X(text_normal, "Normal text", "Ctrl+0", "View", nothing, "100 %.")                                                   \
  X(reset_layout, "Reset layout", "", "View", nothing, "Puts all views where they were at first.")                     \
  X(pin_moment, "Pin the moment", "B", "Compare", trace,                                                               \
    "Colours the heap map by what changes against it, and opens Compare. Once more: no longer.")                       \
  X(swap_pin, "Swap the moment and the pinned one", "", "Compare", pinned, "Turns the sign of the change round.")      \
  X(unpin_moment, "Unpin the moment", "", "Compare", pinned, "Compares no longer.")                                    \
  X(compare_with_file, "Compare with a file...", "", "Compare", profile, "Opens a file as the baseline.")              \
  X(set_baseline_here, "Use this file as the baseline", "Shift+B", "Compare", profile,                                 \
    "Then choose the file to compare.")                                                                                \
  X(swap_baseline, "Swap baseline and now", "", "Compare", baseline, "Turns the sign of the diff round.")              \
  X(toggle_match_line, "Match stacks by line", "", "Compare", baseline, "Strict: a moved line is a new stack.")        \
  X(stop_comparing, "Stop comparing", "", "Compare", baseline, "Forgets the baseline.")                                \
  X(split, "Two side by side", "Ctrl+B", "Compare", profile,                                                           \
    "The other open file, or this one again, beside what is in front. Once more: one side only.")                      \
  X(show_beside, "Show what differs side by side", "", "Compare", two_sides,                                           \
    "Both heaps' figures, and why they differ.")                                                                       \
  X(other_side, "Go to the other side", "F7", "Compare", two_sides,                                                    \
    "Sources, Inspector, filter and the tabs below are about one side.")                                               \
  X(swap_sides, "Swap the sides", "", "Compare", two_sides, "A to the right, B to the left.")                          \
  X(lock_time, "Lock moments by time", "", "Compare", two_sides, "Both as long after their first event.")              \
  X(lock_requests, "Lock moments by requests", "", "Compare", two_sides,                                               \
    "Both after as many requests: the same point of one program.")                                                     \
  X(lock_nothing, "Unlock moments", "", "Compare", two_sides, "Each side has its own moment.")                         \
  X(palette, "Command palette", "Ctrl+Shift+P", "Help", nothing, "Finds any command by a few letters.")                \
  X(stop_recording, "Stop recording", "", "File", live,                                                                \
    "The recording ends here; the job goes on, and is still shown.")                                                   \
  X(skip_to_now, "Skip to now", "", "Go", behind,                                                                      \
    "Goes on with what is there now; what has not come yet stays in the recording of the job's observer.")             \
  X(detach, "Detach", "", "File", attached, "The job is let go, and runs on; what was seen of it stays.")              \
  X(stop_work, "Stop working out", "", "View", nothing, "Keeps what is shown, and gives up what is not there yet.")    \
  X(go_on_working, "Go on working out", "", "View", nothing, "Asks again for what was stopped.")                       \
  X(help, "Keys and commands", "F1", "Help", nothing, "All commands with their keys.")                                 \
  X(start_demo, "Start the demo", "", "File", nothing, "A training step on an emulated device, live.")                 \
  X(pause_demo, "Pause or go on with the demo", "", "File", demo, "Its program stands still.")                         \
  X(step_demo, "Step of the demo", "", "File", demo, "One allocation, while it is paused.")                            \
  X(split_demo, "Another configuration beside the demo", "", "File", demo,                                             \
    "The same workload twice, side by side, each under its own settings. Once more: one again.")                       \
  X(end_demo, "End the demo", "", "File", demo, "What was seen of it stays.")                                          \
  X(set_job_filter, "", "", "", hidden, "Only jobs with the words of `text` are listed.")                              \
  X(list_host, "", "", "", hidden, "Lists the jobs of the machine `text`, by ssh; empty: of this one.")                \
  X(copy_to_host, "", "", "", hidden, "Copies to the machine that is listed what is needed there.")                    \
  X(choose_job, "", "", "", hidden, "The process `text` is chosen in the list of jobs.")                               \
  X(ask_to_attach, "", "", "", hidden, "Says what attaching to the process `text` does.")                              \
  X(leave_cupti, "", "", "", hidden, "Attaching leaves CUPTI to the jobs' own profilers, or no longer.")               \
  X(attach_to, "", "", "", hidden, "Attaches to the process `text`.")                                                  \
  X(attach_to_all, "", "", "", hidden, "Attaches to all processes with the command of the process `text`.")            \
  X(attach_totals, "", "", "", hidden, "Records what the driver tells of the process `text`.")                         \
  X(set_demo, "", "", "", hidden, "Starts the demo anew with the settings in `texts`.")                                \
  X(set_demo_beside, "", "", "", hidden, "Starts it anew with a second program under the settings in `texts`.")        \
  X(set_demo_speed, "", "", "", hidden, "`text` times as fast as at first.")                                           \
  X(set_workload, "", "", "", hidden, "The workload in front is emulated with the changes in `texts`, and no others.") \
  X(open_workload_path, "", "", "", hidden, "Opens `text`, a workload, with the changes in `texts`.")                  \
  X(show_tiles, "", "", "", hidden, "The window shows the tiles of the layout `text`; empty: no longer.")              \
  X(open_paths, "", "", "", hidden, "Opens the files in `texts`; the last one comes to the front.")                    \
  X(open_baseline_path, "", "", "", hidden, "Opens `text` and compares with it.")                                      \
  X(open_folder_path, "", "", "", hidden, "Opens all profiles of the folder `text`.")                                  \
  X(remove_recent, "", "", "", hidden, "Takes `text` off the list of recent files.")                                   \
  X(cancel_loading, "", "", "", hidden, "Stops reading `source`.")                                                     \
  X(stop_reading, "", "", "", hidden, "Ends reading `source` where it is, and keeps what was read.")                   \
  X(show_source_file, "", "", "", hidden, "Brings `source` to the front.")                                             \
  X(close_source, "", "", "", hidden, "Closes `source`.")                                                              \
  X(put_beside, "", "", "", hidden, "Shows `source` beside what is in front.")                                         \
  X(open_beside_path, "", "", "", hidden, "Opens `text` beside what is in front, a workload with those changes.")      \
  X(set_lock, "", "", "", hidden, "Locks moments by `text`: time, requests or none.")                                  \
  X(close_this_side, "", "", "", hidden, "Only the side that it is not meant for is shown.")                           \
  X(activate_side, "", "", "", hidden, "The side that it is meant for becomes the active one.")                        \
  X(compare_with, "", "", "", hidden, "Makes `source` the baseline.")                                                  \
  X(set_filter, "", "", "", hidden, "The filter line becomes `text`.")                                                 \
  X(add_filter, "", "", "", hidden, "Adds the term `text` to the filter line, or takes it away where it is there.")    \
  X(set_focus, "", "", "", hidden, "Keeps samples with a frame that matches the regular expression `text`.")           \
  X(set_find, "", "", "", hidden, "What Find looks for becomes `text`.")                                               \
  X(set_view, "", "", "", hidden, "The view named `text` comes to the front.")                                         \
  X(note_view, "", "", "", hidden, "The person went to the view named `text`; nothing moves.")                         \
  X(set_by, "", "", "", hidden, "Groups by `text`: function, line, file, package or address.")                         \
  X(set_theme, "", "", "", hidden, "`text`: dark or light.")                                                           \
  X(select_frame, "", "", "", hidden, "Selects `frame` in all views.")                                                 \
  X(select_function, "", "", "", hidden, "Selects the function named `text`.")                                         \
  X(clear_selection, "", "", "", hidden, "Nothing is selected.")                                                       \
  X(zoom_flame, "", "", "", hidden, "The flame graph shows what lies below `path`.")                                   \
  X(set_moment, "", "", "", hidden, "The moment of the trace becomes `text`, as --at names it.")                       \
  X(set_pin, "", "", "", hidden, "The pinned moment becomes `text`, as --at names it; empty: none.")                   \
  X(move_moment, "", "", "", hidden, "The same as the next step of one drag: Alt+Left goes back to before it.")        \
  X(show_addresses, "", "", "", hidden, "Address x time shows the addresses of `texts` (begin, end); none: all.")      \
  X(show_span, "", "", "", hidden, "The timeline shows the span `text`; empty: all of it. Not a step of Alt+Left.")    \
  X(size_address_time, "", "", "", hidden, "The picture of addresses and time is `text` pixels: 800x300.")             \
  X(size_timeline, "", "", "", hidden, "The timeline is `text` pixels wide.")                                          \
  X(set_range, "", "", "", hidden, "Selects the time between the moments `texts`.")                                    \
  X(move_range, "", "", "", hidden, "The same as the next step of one drag.")                                          \
  X(choose_heap, "", "", "", hidden, "The heap map and the timeline show the heap `text`, 1:2 or its name.")           \
  X(set_coloring, "", "", "", hidden, "The heap map is coloured by `text`: code, size, age, ...")                      \
  X(set_rows, "", "", "", hidden, "The heap map's rows: `text` is address, or region.")                                \
  X(set_lit, "", "", "", hidden, "Only the legend's entry `text` keeps its colour; once more: all do.")                \
  X(select_address, "", "", "", hidden, "Selects what lies at the address `text`, and `frame`, its line of code.")     \
  X(go_to_address, "", "", "", hidden, "Selects what lies at the address `text`, in whichever heap it is.")            \
  X(set_block_filter, "", "", "", hidden, "Looks for blocks that hold `text`, in the filter language.")                \
  X(set_block_order, "", "", "", hidden, "Sorts blocks by `text`: size, age, ...; with \" up\": ascending.")           \
  X(set_clipboard, "", "", "", hidden, "Copies `text`.")                                                               \
  X(write_figures, "", "", "", hidden, "Writes `text`, the figures of a view, to the file that was asked for.")        \
  X(say, "", "", "", hidden, "The status line shows `text`.")                                                          \
  X(write_export, "", "", "", hidden, "Writes the export that was asked for to the file `text`.")                      \
  X(list_folder, "", "", "", hidden, "The file dialog shows the folder `text`.")                                       \
  X(close_dialog, "", "", "", hidden, "The file dialog was closed without a choice.")

enum class CommandId : std::uint8_t {
#define X(name, ...) name,
  HBMSCOPE_COMMANDS(X)
#undef X
};

struct CommandInfo {
  std::string_view name;      // "open_file"
  std::string_view title;     // "Open file..."
  std::string_view shortcut;  // "Ctrl+Shift+P"; empty: none.
  std::string_view menu;      // "File"; empty for hidden ones.
  std::string_view help;
  CommandId id;
  Needs needs;
};
inline constexpr std::array menus = {"File", "Edit", "View", "Go", "Compare", "Help"};  // In their order.

std::span<const CommandInfo> command_table();
const CommandInfo& info_of(CommandId id);

// Empty where the command can be given now; else the reason, a sentence: "Open a profile first."
std::string_view why_not(const AppState& state, CommandId id);
// Of toggles and choices: does the command's state hold now (fold, theme, by function)?
bool is_checked(const AppState& state, CommandId id);

struct Command {
  CommandId id;
  std::string text;
  std::vector<std::string> texts;
  SourceId source = SourceId::none;
  FrameKey frame;
  std::vector<FrameKey> path;
  std::size_t context = active;  // That it is meant for.

  static constexpr std::size_t active = ~std::size_t{0};  // The one that is active when it is applied.
};

// The questions that the views on screen ask; App looks for what is missing and works out no more than that.
enum class Question : std::uint8_t {
  summary,
  top,
  flame,
  search,
  tree,
  detail,
  diff,
  listing,
  series,
  heap_map,
  timeline,
  range,
  free,
  free_history,
  failure,
  sizes,
  address_time,
  blocks,
  lifetimes,  // Of the blocks: when each will be gone.
  address,
  events,
  compare,
  beside,
  count_
};

class CommandQueue {
 public:
  void push(Command command) {
    if (command.context == Command::active) command.context = bound_;
    commands_.push_back(std::move(command));
  }
  void push(CommandId id) { push({id, {}, {}, SourceId::none, {}, {}}); }
  void push(CommandId id, std::string text) { push({id, std::move(text), {}, SourceId::none, {}, {}}); }
  void push(CommandId id, SourceId source) { push({id, {}, {}, source, {}, {}}); }
  void select(FrameKey frame) { push({CommandId::select_frame, {}, {}, SourceId::none, std::move(frame), {}}); }

  // A view that is drawn says each frame what it shows. A question not repeated is not worked out.
  void ask(Question question) { asked_[bound_ == Command::active ? front_ : bound_] |= bit_of(question); }
  bool asks(Question question, std::size_t context) const { return (asked_[context] & bit_of(question)) != 0; }

  // Nothing is asked yet; what no side asks is asked for the active context.
  void begin_frame(std::size_t active_context) {
    asked_ = {};
    front_ = active_context;
  }
  // Until unbind(), what is pushed and asked is meant for this context.
  void bind(std::size_t context) { bound_ = context; }
  void unbind() { bound_ = Command::active; }

  std::vector<Command> take_commands() { return std::exchange(commands_, {}); }
  std::array<std::uint32_t, 2> asked() const { return asked_; }
  bool empty() const { return commands_.empty(); }

 private:
  static std::uint32_t bit_of(Question question) { return 1u << static_cast<unsigned>(question); }

  std::vector<Command> commands_;
  std::array<std::uint32_t, 2> asked_{};  // By context.
  std::size_t bound_ = Command::active, front_ = 0;
};

}  // namespace hbmscope::gui
