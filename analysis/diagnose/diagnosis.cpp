#include "analysis/diagnose/diagnosis.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/diagnose/proof.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

// "340 MiB by put model.py:36 and 12.0 MiB by step model.py:90"
std::string top_text(const std::vector<Holder>& rows) {
  constexpr std::size_t shown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i)
    text += fmt::format("{}{} by {}", i == 0 ? "" : " and ", text_from_bytes(rows[i].bytes), text_from_holder(rows[i]));
  return text;
}

void note_what_took_the_room(Diagnosis& found) {
  const Holders& since = found.holders_since_fit;
  if (since.rows.empty() || since.by != Holders::By::code || !found.facts.last_fit) return;
  const Evidence evidence{fmt::format("What was allocated since then and is still in use: {}.", top_text(since.rows)),
                          std::nullopt, found.facts.event};
  auto& all = found.cause.evidence;
  const auto fit =
      std::find_if(all.begin(), all.end(), [&](const Evidence& one) { return one.event == found.facts.last_fit; });
  all.insert(fit == all.end() ? fit : fit + 1, evidence);
}

// How many steps an advice buys: the one that failed, and those that the room is enough for.
void count_steps(Advice& advice, const Growth& growth) {
  if (!advice.room_bytes) {
    if (!advice.words.empty()) advice.why = "How many more steps this is enough for is unknown. " + advice.why;
    return;
  }
  advice.steps_at_most = *advice.room_bytes / static_cast<std::uint64_t>(growth.bytes_per_step) + 1;
  const std::string each = fmt::format("more {}", growth.each);
  advice.why = fmt::format(
      "{}: it leaves {}, and each {} keeps {} more. {}",
      *advice.steps_at_most == 1 ? fmt::format("One {} at most", each)
                                 : fmt::format("At most {}", text_from_count_of(*advice.steps_at_most, each)),
      text_from_bytes(*advice.room_bytes), growth.each, text_from_bytes(growth.bytes_per_step), advice.why);
}

void note_growth(Diagnosis& found, const Stream& stream, CauseFacts facts) {
  const Growth& growth = *found.growth;
  if (!growth.is_steady) return;
  facts.growth = &growth;
  facts.held_bytes = found.holders.bytes;
  auto& evidence = found.cause.evidence;
  if (const Cause cause = cause_of(facts); cause != found.cause.immediate) {
    evidence.insert(evidence.begin(), {found.cause.sentence, std::nullopt, found.facts.event});
    found.cause.cause = cause;
    found.cause.sentence = row_of(cause).sentence(facts);
    for (Advice& one : found.advice) count_steps(one, growth);
    const auto against_it = find_advice({stream, facts, cause, found.holders});
    found.advice.insert(found.advice.begin(), against_it.begin(), against_it.end());
  }
  const std::string grew = fmt::format("by about {} {} {}, over the last {} (\"{}\")",
                                       text_from_bytes(growth.bytes_per_step), growth.each == "iteration" ? "an" : "a",
                                       growth.each, text_from_count_of(growth.steps, growth.each), growth.step);
  evidence.insert(evidence.begin(), {fmt::format("The memory in use grew {}.", grew), std::nullopt, found.facts.event});
}

// Where the blocks in the way of one place are more than those of some segments, which the driver could use again.
void find_segments(Diagnosis& found, const HeapState& heap) {
  if (found.cause.framework != Framework::pytorch || found.facts.requested_bytes == 0 || found.facts.is_inexact) return;
  bool is_expandable = false;
  heap.space.for_each_region(
      [&](AddressRange, Joining joining) { is_expandable = is_expandable || joining == Joining::with_neighbours; });
  const std::uint64_t wanted = segment_bytes_of_torch(found.facts.needed_bytes),
                      there = found.facts.driver_bytes.value_or(0);
  if (is_expandable || wanted <= there) return;
  found.segments = find_whole_segments(heap, wanted - there);
}

std::vector<ListedMemory> find_listed_memory(const Trace& trace, const std::vector<StreamState>& states,
                                             std::size_t stream, std::uint64_t position) {
  std::vector<ListedMemory> listed;
  for (const HeapInfo& heap : trace.streams[stream].definitions().heaps()) {
    if (heap.id == 0 || heap.layer != wire::Layer::program) continue;
    Holders holders = HolderFinder(trace, states, {static_cast<std::uint32_t>(stream), heap.id}).find();
    if (holders.bytes > 0)
      listed.push_back(
          {find_engine_account(trace.streams[stream], heap, states[stream], position), std::move(holders)});
  }
  return listed;
}

}  // namespace

namespace {

void describe(const Trace& trace, Diagnosis& found, const StreamState& state) {
  const Stream& stream = trace.streams[found.stream];
  found.row = row_from_failure(stream, stream.failures()[found.index], &state);
  found.facts = compute_failure_facts(stream, found.index, state);
  found.cause = find_cause(cause_facts_of(trace, found.stream, found.row, found.facts));
  // A job that hbmscope recorded is what it would advise.
  if (!stream.definitions().job_fact(wire::command_fact).empty()) found.cause.how_to_know.clear();
}

// Of a program that the compiler of an emulated TPU refused: what its plan says. The request is larger than all of the
// memory, so nothing else helps.
std::vector<Advice> advice_of_plan(const Trace& trace, const Diagnosis& found) {
  std::vector<Advice> advice;
  if (found.cause.cause != Cause::too_big || found.row.line) return advice;
  for (const Stream& stream : trace.streams) {
    std::string_view rest = stream.definitions().job_fact(dry_run_advice_fact);
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      advice.push_back({std::string(line), "By the plan of the program.", {}, AdviceProof::compiler, "plan"});
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
  }
  return advice;
}

void advise(const Trace& trace, Diagnosis& found) {
  found.advice = advice_of_plan(trace, found);
  if (!found.advice.empty()) return;
  found.advice = find_advice({trace.streams[found.stream], cause_facts_of(trace, found.stream, found.row, found.facts),
                              found.cause.cause, found.holders});
}

// Of a text that doesn't say what most of the memory was, this is the first thing to find out.
void note_what_is_not_listed(const Trace& trace, Diagnosis& found) {
  if (!found.row.line || !found.cause.how_to_know.empty()) return;
  std::uint64_t listed = 0;
  for (const Holder& holder : found.holders.rows)
    if (!holder.name.ends_with(not_listed)) listed += holder.bytes;
  const bool says_something = found.holders.bytes > 0 || found.cause.framework == Framework::tpu;
  if (says_something && listed <= found.holders.bytes / 2)
    found.cause.how_to_know = how_to_know(cause_facts_of(trace, found.stream, found.row, found.facts));
}

HeapKey heap_of(const Trace& trace, const Diagnosis& found) {
  return {static_cast<std::uint32_t>(found.stream), trace.streams[found.stream].failures()[found.index].heap};
}

}  // namespace

Diagnosis diagnose(const Trace& trace, const FailedRequest& request, Depth depth, PassControl* control) {
  if (depth != Depth::brief) return conclude(trace, gather_facts(trace, request), depth, control);
  Diagnosis found;
  found.stream = request.stream;
  found.index = request.index;
  const Stream& stream = trace.streams[request.stream];
  describe(trace, found, stream.state_at(stream.failures()[request.index].event));
  advise(trace, found);
  return found;
}

GatheredFacts gather_facts(const Trace& trace, const FailedRequest& request) {
  const Stream& stream = trace.streams[request.stream];
  const FailureEvent& failure = stream.failures()[request.index];
  GatheredFacts facts;
  Diagnosis& found = facts.diagnosis;
  found.stream = request.stream;
  found.index = request.index;
  const HeapKey heap = heap_of(trace, found);
  const auto states = compute_states(trace, *find_moment(trace, request.stream, failure.event));
  describe(trace, found, states[request.stream]);
  const HolderFinder holders(trace, states, heap);
  found.holders = holders.find();
  note_what_is_not_listed(trace, found);
  if (found.facts.last_fit && *found.facts.last_fit > 0) found.holders_since_fit = holders.find(*found.facts.last_fit);
  find_segments(found, states[request.stream].heap(failure.heap));
  if (found.row.line && found.cause.framework != Framework::tpu)
    found.listed = find_listed_memory(trace, states, request.stream, failure.event);
  if (found.facts.driver_bytes)
    found.budget = find_device_budget(
        trace, states,
        {request.stream, found.facts.heap, found.facts.event, found.facts.driver_bytes,
         find_named_processes(found.row, find_device_bytes(stream, found.facts.heap, found.facts.event))});
  found.growth = find_growth(trace, heap, states[request.stream], LoopEnd::still_runs, found.facts.stack);
  advise(trace, found);
  return facts;
}

Diagnosis conclude(const Trace& trace, const GatheredFacts& facts, Depth depth, PassControl* control) {
  Diagnosis found = facts.diagnosis;
  if (depth == Depth::full) {
    PassControl own_control;
    PassControl& shared_control = control != nullptr ? *control : own_control;
    prove_advice(trace, found, shared_control);
    const std::uint64_t after_failure = found.facts.event + 1;
    if (const auto costs =
            compute_pool_costs(trace, heap_of(trace, found), std::span(&after_failure, 1), shared_control);
        costs && !costs->empty() && costs->front().pool_bytes > 0)
      found.pool_costs = costs->front();
  }
  note_what_took_the_room(found);
  if (found.growth)
    note_growth(found, trace.streams[found.stream], cause_facts_of(trace, found.stream, found.row, found.facts));
  return found;
}

Depth depth_of_other(const Diagnosis& first, std::size_t number) {
  constexpr std::size_t looked_at_max = 32;
  return first.cause.cause == Cause::leak && number < looked_at_max ? Depth::without_replays : Depth::brief;
}

}  // namespace hbmscope
