#include "app/gui/core/answer_bar.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/answers/dry_run.h"
#include "analysis/answers/failure.h"
#include "analysis/answers/series.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/exit_text.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/trace_tables.h"

namespace hbmscope::gui {
namespace {

std::string share_of(std::uint64_t bytes, std::uint64_t all) {
  return all == 0 ? "" : " (" + text_from_fraction(static_cast<double>(bytes) / static_cast<double>(all), 0) + ")";
}

AnswerChip chip(std::string words, std::string tooltip) {
  return {std::move(words), std::move(tooltip)};
}
AnswerChip chip(std::string words, std::string tooltip, Command command) {
  return {std::move(words), std::move(tooltip), std::move(command)};
}

// "top: update_nodes models.py:174 29.7 GiB (38 %)". What nobody can be named for, more or not, is in the tooltip.
void add_top(AnswerBar& bar, const Holders& holders, const std::string& when) {
  if (holders.rows.empty() || holders.bytes == 0) return;
  const auto is_named = [](const Holder& one) {
    return !one.name.starts_with('(') && one.name != text_from_category(Category::unknown);
  };
  const auto named = std::find_if(holders.rows.begin(), holders.rows.end(), is_named);
  const Holder& top = named == holders.rows.end() ? holders.rows.front() : *named;
  const std::string words =
      "top: " + text_from_holder(top) + " " + text_from_bytes(top.bytes) + share_of(top.bytes, holders.bytes);
  std::string tooltip = "Holds the most memory " + when + ". Click for what holds the rest.";
  for (const Holder& one : holders.rows)
    if (!is_named(one) && one.bytes > top.bytes)
      tooltip += "\n" + text_from_bytes(one.bytes) + " more: " + text_from_holder(one);
  bar.chips.push_back(chip(words, tooltip, Command(command::set_view, ViewKind::top)));
}

// "held by history[*] 344 MiB (19 %)"
void add_name(AnswerBar& bar, const HeadlineAnswer& answer, const std::string& when) {
  if (!answer.largest_name || answer.holders_bytes() == 0) return;
  const HolderRow& name = *answer.largest_name;
  AnswerChip held =
      chip("held by " + name.name + " " + text_from_bytes(name.bytes) + share_of(name.bytes, answer.holders_bytes()),
           (name.holder.empty() ? "" : "A " + name.holder + ". ") + "Holds the most of what has a name, " + when +
               ". Click for the other names.",
           Command(command::set_view, ViewKind::top));
  held.then.emplace_back(command::set_top_by, TopBy::name);
  bar.chips.push_back(std::move(held));
}

// `is_shown`: the pictures show that time of that heap. `wanted`: what the request that failed would have taken, else
// 0.
void add_free(AnswerBar& bar, std::optional<std::uint64_t> free, std::optional<std::uint64_t> largest, bool is_shown,
              std::uint64_t wanted = 0) {
  // Of what a compiler planned, or of a full pool in which nothing failed, it says nothing.
  if (!free || (*free == 0 && wanted == 0)) return;
  std::string words = "free " + text_from_bytes(*free);
  // "requested 8.25 GiB", "free 8.25 GiB" would contradict the failure. The difference is that of the sentence.
  if (wanted > *free && text_from_bytes(wanted) == text_from_bytes(*free))
    words += ", " + text_from_bytes(wanted - *free) + " too little";
  bar.chips.push_back(chip(std::move(words), "Free in the pool, all free blocks together."));
  if (!largest) return;
  AnswerChip one = chip("largest free block " + text_from_bytes(*largest),
                        "No request larger than this fits without growing the pool." +
                            std::string(is_shown ? " Click to select it." : ""));
  if (is_shown) one.command = Command(CommandId::go_to_largest_free);
  bar.chips.push_back(std::move(one));
}

// Shows the steps that were looked at, and in Range which lines keep memory of them.
void show_steps(const HeadlineAnswer& answer, const Growth& growth, AnswerChip& chip) {
  if (growth.first_event >= growth.last_event) return;
  const auto at = [&](std::uint64_t event) { return MomentName(*answer.trace, answer.heap.stream, event); };
  chip.command = Command(command::set_range, {at(growth.first_event), at(growth.last_event)});
  chip.then.emplace_back(command::set_view, ViewKind::range);
}

// The chip, and in the sentence what keeps it: "Leaks 49.1 MiB a step in history (leaky.py:23)".
void add_growth(AnswerBar& bar, const HeadlineAnswer& answer) {
  const Growth* growth = answer.growth();
  if (growth == nullptr) return;
  const std::string amount = text_from_bytes(growth->bytes_per_step) + " a " + std::string(growth->each);
  AnswerChip steps = chip("grows " + amount, "The median over the last " +
                                                 text_from_count_of(growth->steps, std::string(growth->each)) +
                                                 ". Click for what they left behind.");
  show_steps(answer, *growth, steps);
  if (!growth->survivors.empty()) {
    const Holder& line = growth->survivors.front();
    steps.words += ": " + text_from_holder(line);
    AnswerChip leak = steps;
    const std::string held_by = growth->held_by.substr(0, growth->held_by.find(" ("));
    leak.words = held_by.empty() ? "Leaks " + amount + ": " + text_from_holder(line) + "."
                                 : "Leaks " + amount + " in " + held_by + " (" + made_at(*growth) + ").";
    leak.tooltip = text_from_growth(*growth) + ". Click to select that line everywhere, and the steps.";
    // The range does not change the selection.
    if (!answer.grows_by.empty()) leak.then.emplace_back(command::select_frame, answer.grows_by);
    bar.links.push_back(std::move(leak));
    steps.tooltip += " It also filters all views to the line.";
    steps.then.emplace_back(command::add_filter, "own=" + where_quote(line.name));
  }
  bar.chips.push_back(std::move(steps));
}

// Settings that a replay proved, or refuted: "XLA_CLIENT_MEM_FRACTION=.90: fits, replayed".
void add_settings(const AppState& state, const HeadlineAnswer& answer, AnswerBar& bar) {
  const auto& failure = state.answers().failure;
  const bool is_of_it = failure.state == AnswerState::ready && failure.value->heap == answer.heap &&
                        failure.value->event == answer.failure->facts.event &&
                        failure.value->trace->files == answer.trace->files;
  if (!is_of_it) return;
  constexpr std::size_t shown_max = 2;
  for (const Advice& one : failure.value->advice) {
    if (!one.fits || !*one.fits || bar.links.size() == shown_max) continue;
    bar.links.push_back(chip(one.change + " " + mark_of(one), one.proof_text + " " + one.price + " Click to copy it.",
                             Command(command::set_clipboard, one.change)));
  }
}

bool is_at(const AppState& state, const HeadlineAnswer& answer, std::uint64_t position) {
  const auto moment = ready_moment(state);
  // The answer of a running job may be of an earlier version.
  return moment != nullptr && moment->trace->files == answer.trace->files &&
         moment->position(answer.heap) == position && choose_heap(*moment->trace, state.position().heap) == answer.heap;
}

void add_failure_buttons(const AppState& state, const HeadlineAnswer& answer, AnswerBar& bar) {
  const FailureFacts& facts = answer.failure->facts;
  const bool is_shown = choose_heap(*answer.trace, state.position().heap) == answer.heap;
  bar.shows = is_shown ? Command(command::set_moment, {*answer.trace, answer.heap.stream, facts.event})
                       : Command(command::choose_heap, answer.heap);
  if (!is_at(state, answer, facts.event))
    bar.buttons.push_back(
        chip("Go to failure",
             is_shown ? "Shows the heap when the request failed." : "Shows the heap in which the request failed.",
             *bar.shows));
  bar.buttons.push_back(chip("What would help", "Changes to paste, with their price and what a replay shows.",
                             Command(CommandId::show_remedies)));
  const bool is_fragmented = row_of(answer.failure->cause.cause).has_blockers;
  bar.buttons.push_back(
      is_fragmented
          ? chip("Show fragmentation", "How the free memory is divided, and what keeps it apart.",
                 Command(command::set_view, ViewKind::fragmentation))
          : chip("Show owners", "What was in use, by line of your code.", Command(command::set_view, ViewKind::top)));
}

AnswerBar bar_of_failure(const AppState& state, const HeadlineAnswer& answer) {
  const Diagnosis& failure = *answer.failure;
  const FailureFacts& facts = failure.facts;
  AnswerBar bar;
  bar.is_failure = true;
  bar.title = title_of_failure(*answer.trace, failure, {answer.number, answer.of});
  bar.sentence = failure.cause.sentence;
  if (facts.requested_bytes > 0)
    bar.chips.push_back(chip(
        "requested " + text_from_bytes(facts.requested_bytes),
        failure.row.own_line.empty() ? "By code without a known line of yours." : "By " + failure.row.own_line + "."));
  add_growth(bar, answer);
  add_settings(state, answer, bar);
  add_free(bar, failure.row.total_free_bytes, facts.largest_free_bytes, is_at(state, answer, facts.event),
           facts.needed_bytes);
  add_name(bar, answer, "just before the failure");
  add_top(bar, failure.holders, "just before the failure");
  add_failure_buttons(state, answer, bar);
  return bar;
}

// What is known of a job of which no failure is recorded.
std::string text_without_failure(const Source& source) {
  if (source.live) return "No failures.";
  if (source.ended && source.ended->exit_code) {
    const std::int32_t code = *source.ended->exit_code;
    if (code != 0) return "The job ended: " + text_from_exit(code) + ".";
  } else if (source.ended) {
    return source.ended->runs_on ? "No failures so far." : "No failure was seen; how the job ended is unknown.";
  }
  const std::string_view doubt = why_no_failure_is_seen(*source.trace);
  return doubt.empty() ? "No failures." : std::string(doubt);
}

AnswerBar bar_of_peak(const AppState& state, const HeadlineAnswer& answer) {
  AnswerBar bar;
  const Source& source = *state.source();
  // The answer about a running job is renewed now and then, but its peak is always that of the timeline.
  const auto& drawn = state.answers().timeline.value;
  const auto peak = source.live && drawn && drawn->heap == answer.heap ? drawn->peak : std::nullopt;
  const bool is_newer = peak && peak->position != answer.peak.position;
  bar.title = "Peak " +
              (is_newer                     ? text_from_bytes(peak->bytes)
               : answer.peak_pool_bytes > 0 ? text_from_part_of(answer.peak.in_use_bytes, answer.peak_pool_bytes)
                                            : text_from_bytes(answer.peak.in_use_bytes)) +
              " on " + answer.heap_name;
  if (answer.peak_since_start_ns && !is_newer) bar.title += " at " + text_from_moment_ns(*answer.peak_since_start_ns);
  bar.sentence = text_without_failure(source);
  if (answer.peak.is_inexact) bar.sentence += " Events were lost, so the peak is not exact.";
  if (answer.outlook) {
    add_growth(bar, answer);
    if (bar.links.empty()) bar.sentence += " Memory grows: " + text_from_growth(answer.outlook->growth) + ".";
    if (std::string left = text_from_steps_left(*answer.outlook); !left.empty())
      bar.links.push_back(chip(std::move(left), "If everything else stays as it was."));
  }
  add_name(bar, answer, "at the peak");
  add_top(bar, answer.holders, "at the peak");
  add_free(bar, answer.peak_free_bytes, answer.peak_largest_free_bytes, is_at(state, answer, answer.peak.position));
  if (!source.live) bar.shows = Command(CommandId::go_to_peak);
  if (!source.live && !is_at(state, answer, answer.peak.position))
    bar.buttons.push_back(
        chip("Go to the peak", "Shows the time at which the most memory was in use.", Command(CommandId::go_to_peak)));
  bar.buttons.push_back(
      chip("Show owners", "What is in use, by line of your code.", Command(command::set_view, ViewKind::top)));
  return bar;
}

AnswerBar bar_of_workload(const WorkloadAnswer& answer) {
  AnswerBar bar;
  bar.is_failure = !answer.verdict.fits;
  bar.title = answer.title;
  bar.sentence = answer.verdict.reasons.empty() ? answer.verdict.sentence
                                                : answer.verdict.headline + ": " + answer.verdict.reasons[0].sentence;
  for (const TierRow& tier : answer.tiers) {
    const std::string words = tier.name + " " +
                              (tier.capacity_bytes ? text_from_part_of(tier.peak_bytes, *tier.capacity_bytes)
                                                   : text_from_bytes(tier.peak_bytes));
    bar.chips.push_back(chip(words, "Peak of this memory. " + text_from_room(tier) + "."));
  }
  bar.buttons.push_back(chip("What would change this", "Mesh, batch, buffers and the other parameters of the workload.",
                             Command(command::set_view, ViewKind::tpu)));
  return bar;
}

// Without a heap: what the log says in words.
AnswerBar bar_of_log(const Trace& trace) {
  AnswerBar bar;
  bar.title = headline_of_log(trace);
  for (const NoteOfLog& note : notes_of_log(trace))
    bar.sentence += fmt::format("{}{}{}", bar.sentence.empty() ? "" : " ", note.lead, note.text);
  return bar;
}

// What changed over the open profiles. Empty if other files are open, too.
std::string series_headline(const AppState& state, const Source& source) {
  const auto& series = state.answers().series;
  const bool are_profiles =
      std::all_of(state.sources.begin(), state.sources.end(), [](const Source& one) { return !one.trace; });
  if (!are_profiles || series.state != AnswerState::ready) return {};
  return headline_of_series(series.value->points, series.value->growth, source.summary->unit);
}

AnswerBar bar_of_profile(const AppState& state, const Source& source) {
  AnswerBar bar;
  bar.title = source.summary->headline;
  if (const std::string series = series_headline(state, source); !series.empty()) {
    bar.sentence = std::exchange(bar.title, series);
    bar.buttons.push_back(
        chip("Show totals", "Each file, by line of your code.", Command(command::set_view, ViewKind::totals)));
  }
  const auto& summary = state.answers().summary.value;
  if (summary && !summary->user_code.empty() && !summary->user_code.front().has_no_user_code()) {
    const UserCodeRow& top = summary->user_code.front();
    bar.chips.push_back(
        chip("top: " + top.frame.function + " " + location_text(top.frame) + " " + text_from_bytes(top.weight.bytes) +
                 share_of(static_cast<std::uint64_t>(std::max<std::int64_t>(0, top.weight.bytes)),
                          static_cast<std::uint64_t>(std::max<std::int64_t>(0, source.summary->total.bytes))),
             "Holds the most memory of your code.", Command(command::set_view, ViewKind::top)));
  }
  return bar;
}

}  // namespace

AnswerBar find_answer_bar(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready) return {};
  if (source->workload && source->workload->answer) return bar_of_workload(*source->workload->answer);
  const auto& answer = state.answers().headline.value;
  if (source->trace && answer && !(answer->heap.empty())) {
    AnswerBar bar = answer->failure ? bar_of_failure(state, *answer) : bar_of_peak(state, *answer);
    if (const std::string verdict = headline_of_verdict(*source->trace); !verdict.empty())
      bar.sentence = verdict + (verdict.ends_with('.') ? " " : ". ") + bar.sentence;
    return bar;
  }
  if (source->trace && is_of_log(*source->trace)) return bar_of_log(*source->trace);
  if (source->summary && !source->trace) return bar_of_profile(state, *source);
  return {};
}

void ask_for_answer_bar(const AppState& state, CommandQueue& commands) {
  commands.ask(Question::headline);
  // Its replays may take a while; until then the sentence has no settings.
  const auto& answer = state.answers().headline.value;
  if (answer && answer->failure) commands.ask(Question::failure);
  const Source* source = state.source();
  if (source != nullptr && !source->trace && state.ready_sources() > 1) commands.ask(Question::series);
}

void push(const AnswerChip& chip, CommandQueue& commands) {
  if (!chip.command) return;
  commands.push(*chip.command);
  for (const Command& next : chip.then) commands.push(next);
}

}  // namespace hbmscope::gui
