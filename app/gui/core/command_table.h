// All commands of the user, in one table. Menus, palette, help window and keys are made from it, so that they always
// agree. Below it are the commands that only come from a view, the command line or a dialog.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "app/gui/core/host.h"
#include "app/gui/core/view_lists.h"

namespace hbmscope::gui {

struct AppState;

struct AppParts;
struct Command;

// X(name, title, keys, menu, needs, help). `needs` names the function in command_table.cpp that says what is missing;
// apply::NAME (apply_commands.h) applies the command. Single letters act only while no text is being typed. V(name) is
// the command show_NAME of a view; view_row.h describes it.
//
// S(...) is a row like X(...) of a command that changes the position: a step that Back undoes. R(...) is a row of a
// command that views push by themselves, to report something: it neither activates their side nor clears the notice.
#define HBMSCOPE_MENU_COMMANDS(X, S, V)                                                                                \
  X(open_file, "Open file...", "Ctrl+O", "File", nothing, "Opens a file next to those that are open.")                 \
  X(open_folder, "Open folder...", "", "File", nothing, "Opens all profiles of a folder: ranks, or a series.")         \
  X(join_files, "Show the open files as one job", "", "File", two_files,                                               \
    "Joins ranks, or what one process left behind: a log, a memory dump, a recording, a memory profile.")              \
  X(show_jobs, "Attach to a running job...", "Ctrl+Shift+O", "File", nothing,                                          \
    "Lists the jobs of this machine, or of one that you can reach by ssh, and says what attaching does.")              \
  X(paste, "Paste error text", "Ctrl+V", "File", nothing,                                                              \
    "Opens what was copied: the text of an error, or a part of a job's log.")                                          \
  X(open_sample, "Open the sample profile", "", "File", sample, "A small profile of a JAX training loop.")             \
  X(open_failing_sample, "Open the sample that runs out of memory", "", "File", failing_sample,                        \
    "A recording in which a request for 3 GiB fails although 12 GiB is free.")                                         \
  X(close_file, "Close file", "Ctrl+W", "File", any_file, "Closes the file in front.")                                 \
  X(reload_file, "Reload the file", "F5", "File", any_file, "Reads the file again, for one that was rewritten.")       \
  X(export_picture, "Export picture...", "Ctrl+E", "File", file, "The whole window as a PNG.")                         \
  X(export_view_picture, "Export picture of the view...", "", "File", file, "The view in front as a PNG.")             \
  X(save_picture, "Save picture", "Ctrl+Shift+E", "File", file,                                                        \
    "The whole window as a PNG in the current folder; the status line says where.")                                    \
  X(save_view_picture, "Save picture of the view", "", "File", file,                                                   \
    "The view in front as a PNG in the current folder.")                                                               \
  X(export_figures, "Export figures as CSV...", "", "File", file, "What the view in front shows, as exact numbers.")   \
  X(export_blocks, "Export all blocks as CSV...", "", "File", trace,                                                   \
    "Every block with the time of its allocation and its release: export --what.")                                     \
  X(export_events, "Export all events as CSV...", "", "File", trace,                                                   \
    "One row per event, up to the current time: export --what.")                                                       \
  X(export_svg, "Export flame graph as SVG...", "", "File", file, "A picture with titles, no script.")                 \
  X(export_html, "Export report as HTML...", "", "File", file, "Summary, top and flame graph in one page.")            \
  X(export_csv, "Export top table as CSV...", "", "File", file, "All frames, exact figures.")                          \
  X(export_folded, "Export folded stacks...", "", "File", file, "One stack a line, for other flame graph tools.")      \
  X(export_pprof, "Export filtered profile as pprof...", "", "File", file, "What the filter keeps, as a profile.")     \
  X(copy, "Copy table", "Ctrl+C", "Edit", file, "The view in front as text with tabs and exact numbers.")              \
  X(copy_as_text, "Copy as text", "", "Edit", file, "The view in front as aligned text, as it is shown.")              \
  X(copy_as_command, "Copy as command", "Ctrl+Shift+C", "Edit", file,                                                  \
    "A command line that opens the window in this state.")                                                             \
  X(copy_link, "Copy link", "", "Edit", file, "An address that opens this page in this state.")                        \
  X(copy_report_command, "Copy as report command", "", "Edit", file, "A command line that prints this view.")          \
  X(copy_workload_command, "Copy as tpu run command", "", "Edit", workload,                                            \
    "A command line that emulates the workload with the same changes and prints the result.")                          \
  X(reset_workload, "Undo all changes of the TPU workload", "", "Edit", workload,                                      \
    "Emulates the workload unmodified, as its file says.")                                                             \
  X(stop_emulating, "Stop emulating", "", "Edit", workload,                                                            \
    "Keeps what the TPU panel shows and cancels the emulation that is running.")                                       \
  S(find, "Find", "Ctrl+F", "Edit", file, "Highlights frames by function or file and shows their share.")              \
  S(find_next, "Find next", "F3", "Edit", file, "Selects the next hit in the flame graph.")                            \
  S(find_previous, "Find previous", "Shift+F3", "Edit", file, "Selects the previous hit.")                             \
  X(edit_filter, "Filter...", "Ctrl+L", "Edit", file, "Edits the filter: size>1GiB device:0 -file:site-packages.")     \
  S(filter_to_selection, "Filter to the selected function", "", "Edit", selection,                                     \
    "Keeps only stacks that pass through it.")                                                                         \
  S(clear_filter, "Clear filter", "", "Edit", file, "Shows the whole profile again.")                                  \
  S(escape, "Clear selection or filter", "Escape", "Edit", nothing,                                                    \
    "Closes what is open first, then clears one after the other.")                                                     \
  X(settings, "Settings...", "Ctrl+,", "Edit", nothing, "Theme, text size, editor.")                                   \
  X(back, "Back", "Alt+Left", "Go", earlier_position, "Undoes the last change of view, selection or filter.")          \
  X(forward, "Forward", "Alt+Right", "Go", later_position, "Redoes what Back undid.")                                  \
  HBMSCOPE_VIEWS(V)                                                                                                    \
  S(go_to, "Go to...", "Ctrl+P", "Go", trace, "An address, a size, code, a tag or a time, typed in the palette.")      \
  X(set_bookmark, "Bookmark this state", "M", "Go", file,                                                              \
    "Keeps view, time, selection and filter with a note, for the next time that this file is opened.")                 \
  S(go_to_largest_free, "Largest free block", "L", "Go", trace, "Selects it; press again for the next smaller one.")   \
  S(go_to_peak, "Go to the peak", "P", "Go", trace, "The time at which the most memory was in use.")                   \
  S(go_to_end, "Go to the end", "End", "Go", trace, "The time after the last event.")                                  \
  S(next_failure, "Next failure", "]", "Go", trace, "The next failed request.")                                        \
  S(previous_failure, "Previous failure", "[", "Go", trace, "The previous failed request.")                            \
  S(next_step, "Next step", "N", "Go", trace, "Where the program's next step begins, as its markers say.")             \
  S(previous_step, "Previous step", "Shift+N", "Go", trace, "Where the previous step begins.")                         \
  S(next_span, "Next span of the program's markers", "J", "Go", trace,                                                 \
    "Selects the next one of the same name (NVTX, annotations, steps), or the next outermost one.")                    \
  S(previous_span, "Previous span of the program's markers", "Shift+J", "Go", trace,                                   \
    "Selects the previous one of the same name, or the previous outermost one.")                                       \
  S(show_spans, "Table of spans", "", "Go", trace,                                                                     \
    "What the program's spans took: time, the most in use, what each left behind.")                                    \
  S(overlay_step, "Compare with the previous step", "O", "Go", trace,                                                  \
    "Shows the step of this time in the timeline, with the one before it as a line over it. Again: no longer.")        \
  S(next_event, "Next event", ".", "Go", trace, "One event later.")                                                    \
  S(previous_event, "Previous event", ",", "Go", trace, "One event earlier.")                                          \
  S(next_event_here, "Next event of this address", "Shift+.", "Go", trace,                                             \
    "The next time a block is allocated or released at the selected address.")                                         \
  S(previous_event_here, "Previous event of this address", "Shift+,", "Go", trace,                                     \
    "The previous time a block was allocated or released there.")                                                      \
  S(play, "Play or pause", "Space", "Go", trace,                                                                       \
    "Plays the trace in real time: in 10 s where it took longer, in 3 s where it took less. For a running job: holds " \
    "the picture, or follows the job again.")                                                                          \
  S(toggle_all_devices, "All devices", "", "View", nothing,                                                            \
    "Tables, graphs and the timeline are about all devices, or again about that of the shown heap.")                   \
  S(toggle_regions, "Rows by region", "R", "View", trace, "Starts a new row of the heap map at each region.")          \
  S(toggle_strip, "Heap map as a strip", "U", "View", trace,                                                           \
    "One axis of addresses, not wrapped into rows, that zooms as the timeline does. Again: rows.")                     \
  S(by_function, "Group by function", "", "View", file, "Two lines of one function are one frame.")                    \
  S(by_line, "Group by line", "", "View", file, "Two lines of one function are two frames.")                           \
  S(by_file, "Group by file", "", "View", file, "A source file is one frame.")                                         \
  S(by_package, "Group by package", "", "View", file, "jax, flax, optax, your own files.")                             \
  S(toggle_value, "Bytes or count", "C", "View", file,                                                                 \
    "Weighs frames by bytes, or by the number of things they hold.")                                                   \
  S(toggle_fold, "Fold library frames", "F", "View", file, "Joins runs of library frames in the flame graph.")         \
  S(toggle_dropped, "Show dropped frames", "", "View", file,                                                           \
    "Shows the frames that the profile drops, and those of the Python interpreter.")                                   \
  S(toggle_flame_direction, "Invert the flame graph", "I", "View", file,                                               \
    "From callers to callees, or from callees to callers.")                                                            \
  S(toggle_tree_direction, "Invert the call tree", "", "View", file, "Top-down, or bottom-up.")                        \
  S(zoom_to_selection, "Zoom to the selection", "Z", "View", selection,                                                \
    "Fills the flame graph with the selected frame.")                                                                  \
  S(zoom_out, "Zoom out", "0", "View", file, "The whole flame graph.")                                                 \
  S(next_view, "Next view", "F6", "View", file, "Moves to the next tab.")                                              \
  X(maximise, "Maximise the view", "F11", "View", file, "Shows only the view in front, or all again.")                 \
  X(toggle_theme, "Toggle theme", "", "View", nothing, "Dark or light.")                                               \
  X(follow_system_theme, "Theme of the system", "", "View", nothing, "Dark or light, as the desktop is set.")          \
  X(text_larger, "Larger text", "Ctrl+=", "View", nothing, "Up to 200 %.")                                             \
  X(text_smaller, "Smaller text", "Ctrl+-", "View", nothing, "Down to 75 %.")                                          \
  X(text_normal, "Normal text", "Ctrl+0", "View", nothing, "100 %.")                                                   \
  X(reset_layout, "Reset layout", "", "View", nothing,                                                                 \
    "Puts the views for this kind of file back in their first places.")                                                \
  S(pin_moment, "Pin this time", "B", "Compare", trace,                                                                \
    "Colours the heap map by the changes since this time, and opens Compare. Press again to unpin.")                   \
  S(swap_pin, "Swap this time and the pinned one", "", "Compare", pinned, "Reverses the sign of the change.")          \
  S(unpin_moment, "Unpin", "", "Compare", pinned, "Stops comparing with the pinned time.")                             \
  X(compare_with_file, "Compare with a file...", "", "Compare", file, "Opens a file as the baseline.")                 \
  S(set_baseline_here, "Use this file as the baseline", "Shift+B", "Compare", file,                                    \
    "Then choose the file to compare.")                                                                                \
  S(swap_baseline, "Swap baseline and now", "", "Compare", baseline, "Reverses the sign of the diff.")                 \
  S(toggle_match_line, "Match stacks by line", "", "Compare", baseline, "Strict: a moved line is a new stack.")        \
  S(stop_comparing, "Stop comparing", "", "Compare", baseline, "Forgets the baseline.")                                \
  X(split, "Two side by side", "Ctrl+B", "Compare", file,                                                              \
    "Shows the other open file, or this one twice, side by side. Press again for one side only.")                      \
  X(other_side, "Go to the other side", "F7", "Compare", two_sides,                                                    \
    "Sources, Inspector, filter and the tabs below show one side.")                                                    \
  X(swap_sides, "Swap the sides", "", "Compare", two_sides, "A to the right, B to the left.")                          \
  X(lock_time, "Lock sides by time", "", "Compare", two_sides,                                                         \
    "Both sides show the same time since their first event.")                                                          \
  X(lock_requests, "Lock sides by requests", "", "Compare", two_sides,                                                 \
    "Both sides show the same number of requests: the same point of one program.")                                     \
  X(lock_nothing, "Unlock sides", "", "Compare", two_sides, "Each side has its own time.")                             \
  X(palette, "Command palette", "Ctrl+Shift+P", "Help", nothing, "Finds any command by a few letters.")                \
  X(stop_recording, "Stop recording", "", "File", live, "Ends the recording; the job goes on and is still shown.")     \
  X(skip_to_now, "Skip to now", "", "Go", behind,                                                                      \
    "Jumps to live. What was skipped stays in the observer's recording.")                                              \
  X(detach, "Detach", "", "File", attached, "The job keeps running without hbmscope; what was recorded stays.")        \
  X(stop_work, "Stop background work", "", "View", nothing,                                                            \
    "Keeps what is shown and cancels what is still being computed.")                                                   \
  X(go_on_working, "Resume background work", "", "View", nothing, "Computes what was cancelled.")                      \
  X(help, "Keys and commands", "F1", "Help", nothing, "All commands with their keys.")                                 \
  X(terms, "Terms", "", "Help", nothing, "What pool, region, external fragmentation and other words mean.")            \
  X(report_problem, "Copy a problem report", "", "Help", nothing,                                                      \
    "Copies versions, graphics and the kind of what is open, without names and contents.")                             \
  X(about, "About hbmscope", "", "Help", nothing, "The version, and what this installation has.")                      \
  X(start_demo, "Start the demo", "", "File", nothing, "A training step on an emulated device, live.")                 \
  X(pause_demo, "Pause or resume the demo", "", "File", demo, "Holds its program.")                                    \
  X(step_demo, "Step demo", "", "File", demo, "One allocation, while it is paused.")                                   \
  X(split_demo, "Compare another configuration with the demo", "", "File", demo,                                       \
    "Runs the same workload twice, side by side, each with its own settings. Press again for one.")                    \
  X(end_demo, "End the demo", "", "File", demo, "What was seen of it stays.")                                          \
  X(quit, "Quit", "Ctrl+Q", "File", nothing, "Closes the window.")

// The same for hidden commands. X(name, help)
#define HBMSCOPE_COMMANDS_OF_VIEWS(X, S, R)                                                 \
  X(copy_to_host, "Copies what is needed to the machine whose jobs are listed.")            \
  X(leave_cupti, "Leaves CUPTI to the profilers of the jobs when attaching, or no longer.") \
  X(close_this_side, "Closes the side that the command is meant for.")                      \
  X(activate_side, "Makes the side that the command is meant for the active one.")          \
  S(clear_selection, "Selects nothing.")                                                    \
  S(show_remedies, "Shows Why it failed, at what would help.")                              \
  R(draw_again, "Changes nothing; one more frame is drawn.")                                \
  X(close_dialog, "Closes the file dialog without a choice.")

// The same for hidden commands with an argument. X(name, type of the argument, help). The types are declared in
// commands.h.
#define HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, S, R)                                                                      \
  X(set_job_filter, std::string, "Lists only jobs that contain these words.")                                         \
  X(list_host, std::string, "Lists the jobs of this machine, by ssh. Empty: those of the local machine.")             \
  X(choose_job, ProcessNumber, "Chooses the process in the list of jobs.")                                            \
  X(ask_to_attach, ProcessNumber, "Says what attaching to the process does.")                                         \
  X(attach_to, ProcessNumber, "Attaches to the process.")                                                             \
  X(attach_to_all, ProcessNumber, "Attaches to all processes with the command of this one.")                          \
  X(attach_totals, ProcessNumber, "Records what the driver reports about the process.")                               \
  X(set_demo, DemoSettings, "Restarts the demo with these settings.")                                                 \
  X(set_second_demo, DemoSettings, "Restarts the demo with a second program that has these settings.")                \
  X(set_demo_speed, double, "Sets the speed of the demo. 1 is some hundred allocations a second.")                    \
  X(set_workload, std::vector<WorkloadChange>, "Emulates the workload in front with these changes, and no others.")   \
  X(open_workload_path, FileWithChanges, "Opens a workload with changes.")                                            \
  X(show_tiles, std::string, "Shows the tiles of a layout in the whole window. Empty: no longer.")                    \
  X(open_paths, std::vector<std::string>, "Opens files; the last one comes to the front.")                            \
  X(open_as_one_job, std::vector<std::string>, "Opens files and shows them as one job.")                              \
  X(open_text, std::string, "Opens a text that is no file, from the clipboard.")                                      \
  X(open_baseline_path, std::string, "Opens a file and compares with it.")                                            \
  X(open_folder_path, std::string, "Opens all profiles of a folder.")                                                 \
  X(open_side_by_side, FileWithChanges, "Opens a file side by side with what is in front.")                           \
  X(remove_recent, std::string, "Removes a path from the list of recent files.")                                      \
  X(cancel_loading, SourceId, "Cancels reading.")                                                                     \
  X(stop_reading, SourceId, "Stops reading and keeps what was read.")                                                 \
  S(show_source_file, SourceId, "Brings the source to the front.")                                                    \
  X(close_source, SourceId, "Closes the source.")                                                                     \
  X(split_with, SourceId, "Shows the source side by side with what is in front.")                                     \
  S(compare_with, SourceId, "Makes the source the baseline.")                                                         \
  X(set_lock, std::optional<SameMoment>, "Locks both sides by time or by requests, or unlocks them.")                 \
  S(set_filter, std::string, "Replaces the filter.")                                                                  \
  S(add_filter, std::string, "Adds a term to the filter, or removes it where it is there.")                           \
  S(set_focus, std::string, "Keeps samples with a frame that matches the regular expression.")                        \
  S(set_find, std::string, "Replaces the text that Find looks for.")                                                  \
  S(set_table, std::string, "Chooses the answer that Tables shows, by its name.")                                     \
  S(set_what_if, std::string, "Replaces the setting that What if tries besides the usual ones.")                      \
  S(set_view, ViewKind, "Brings the view to the front.")                                                              \
  S(set_view_named, std::string, "Brings the view with this name to the front, as --view gives it.")                  \
  R(note_view, ViewKind, "Remembers that the person went to this view; nothing moves.")                               \
  S(set_top_by, TopBy, "Chooses the rows of Top.")                                                                    \
  S(set_by, FrameBy, "Groups frames.")                                                                                \
  X(set_text_scale, double, "Sets the size of the text. 1 is 100 %.")                                                 \
  X(set_editor, std::string, "Sets the command of the editor.")                                                       \
  R(note_graphics, std::string, "Remembers the graphics driver, for a problem report.")                               \
  R(note_system_theme, Theme, "Follows the desktop's theme, if the settings say so.")                                 \
  X(set_theme, Theme, "Sets the colours.")                                                                            \
  S(select_frame, FrameKey, "Selects the frame in all views.")                                                        \
  S(select_function, std::string, "Selects the function with this name.")                                             \
  X(look_for_code, FrameKey, "Looks for the file of the frame on this machine.")                                      \
  X(open_in_editor, FrameKey, "Opens the line of the frame in the editor of the settings.")                           \
  S(show_log_line, std::uint64_t, "Shows the log around this line in Source.")                                        \
  S(zoom_flame, std::vector<FrameKey>, "Shows what lies below this path in the flame graph.")                         \
  S(set_moment, MomentName, "Shows this time of the trace.")                                                          \
  S(set_pin, MomentName, "Pins this time. Empty: unpins.")                                                            \
  X(move_moment, MomentName, "Like set_moment, as the next step of one drag: Back goes to the time before the drag.") \
  X(show_addresses, AddressRange, "Shows these addresses in Address x time and in the strip. Empty: all.")            \
  X(show_span, TimelineSpan, "Shows this span in the timeline. Empty: all of it. Back does not undo it.")             \
  R(size_address_time, PixelSize, "Sets the size of the picture of addresses and time.")                              \
  R(size_timeline, PixelSize, "Sets the size of the timeline's lane of memory.")                                      \
  S(show_marked_span, MarkPlace, "Selects the span that a marker begins.")                                            \
  S(set_range, TimeRange, "Selects the range between two times.")                                                     \
  X(move_range, TimeRange, "Like set_range, as the next step of one drag.")                                           \
  S(choose_heap, HeapKey, "Shows this heap in the heap map and the timeline.")                                        \
  S(choose_row, HeapKey, "The same in the timeline of all devices, which stays as it is.")                            \
  S(choose_heap_named, std::string, "Shows the heap with this name, as --heap gives it.")                             \
  S(set_coloring, HeapColoring, "Colours the heap map.")                                                              \
  S(set_map_layout, MapLayout, "Wraps the heap map into rows, gives each region its own, or makes it a strip.")       \
  S(set_lit, std::string, "Highlights one entry of the legend. Again: none.")                                         \
  S(select_address, PlaceToSelect, "Selects what lies at an address.")                                                \
  S(select_also, PlaceToSelect, "Adds a block to the selected ones, or takes it out again.")                          \
  S(go_to_release, PlaceToSelect, "Selects what lies at an address, and shows the time at which it is freed.")        \
  S(go_to_address, std::uint64_t, "Selects what lies at an address, in whichever heap it is.")                        \
  S(set_block_order, BlockSorting, "Sorts the blocks.")                                                               \
  X(go_to_bookmark, std::uint64_t, "Shows the state of the bookmark, by its id.")                                     \
  X(edit_bookmark, std::uint64_t, "Lets the person type the note of the bookmark.")                                   \
  X(note_bookmark, BookmarkNote, "Gives the bookmark this note.")                                                     \
  X(copy_bookmark, std::uint64_t, "Copies the command that opens the file in this state, with the note.")             \
  X(delete_bookmark, std::uint64_t, "Deletes the bookmark.")                                                          \
  X(set_clipboard, std::string, "Copies the text.")                                                                   \
  X(write_figures, std::string, "Writes the figures of a view to the file of the export.")                            \
  X(say, std::string, "Shows the text in the status line.")                                                           \
  X(write_export, std::string, "Writes the export to this file.")                                                     \
  X(list_folder, std::string, "Shows the folder in the file dialog.")

enum class CommandId : std::uint8_t {
#define X(name, ...) name,
#define V(name) show_##name,
  HBMSCOPE_MENU_COMMANDS(X, X, V) HBMSCOPE_COMMANDS_OF_VIEWS(X, X, X) HBMSCOPE_COMMANDS_WITH_ARGUMENT(X, X, X)
#undef V
#undef X
};

struct CommandInfo {
  std::string_view name;      // "open_file"
  std::string_view title;     // "Open file..."
  std::string_view shortcut;  // "Ctrl+Shift+P". Empty if there is none.
  std::string_view menu;      // "File"; empty for hidden commands.
  std::string_view help;
  CommandId id;
  bool is_step = false, is_report = false, is_hidden = false;  // Hidden: neither in the menus nor in the palette.
  std::string_view (*why_not)(const AppState&) = nullptr;  // What it needs, as a sentence. Null if it needs nothing.
  void (*apply)(AppParts&, const Command&) = nullptr;
};
inline constexpr std::array menus = {"File", "Edit", "View", "Go", "Compare", "Help"};  // In the order of the menu bar.

std::span<const CommandInfo> command_table();
const CommandInfo& info_of(CommandId id);
std::optional<ViewKind> view_of(CommandId id);  // The view that the command shows.

// False: the host can't do it, so no menu shows it.
bool is_offered(Host host, CommandId id);
// Its keys; empty where the host keeps them to itself.
std::string_view shortcut_on(Host host, const CommandInfo& info);
// Empty if the command is available; otherwise the reason, as a sentence: "Open a file first."
std::string_view why_not(const AppState& state, CommandId id);
// For toggles and choices: whether the command's state is on (fold, theme, by function).
bool is_checked(const AppState& state, CommandId id);

}  // namespace hbmscope::gui
