// All answers about a file, one row each. From a row follow the flag of `report`, its text and JSON, what `report
// --only` and the agents' tool `table` can name, and an entry of the window's view Tables. A row stands beside the
// function that describes the answer, in a file of this folder (README.md has the recipe).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/document/document.h"
#include "analysis/model/result.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/program_memory.h"
#include "analysis/query/top.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope {

// In the order in which a report prints them.
#define HBMSCOPE_ANSWER_TABLE(X) \
  X(failures)                    \
  X(summary)                     \
  X(import)                      \
  X(ranks)                       \
  X(heaps)                       \
  X(device_accounts)             \
  X(events)                      \
  X(counted_once)                \
  X(bins)                        \
  X(categories)                  \
  X(holders)                     \
  X(executed_programs)           \
  X(program)                     \
  X(program_blocks)              \
  X(attached)                    \
  X(physical)                    \
  X(spans)                       \
  X(counters)                    \
  X(attributes)                  \
  X(modules)                     \
  X(job)                         \
  X(job_warnings)                \
  X(metrics)                     \
  X(pool_costs)                  \
  X(own_code)                    \
  X(rows)                        \
  X(tree)                        \
  X(bottom_up)                   \
  X(peek)

// What an answer is made from. All of it must live as long as the document, whose tables may compute their cells later.
struct AnswerInput {
  const ProfileView& view;
  // Null: of a profile, which has no events.
  const Trace* trace = nullptr;
  const std::vector<StreamState>* states = nullptr;
  const Moment* moment = nullptr;
  std::span<const NamedProgram> programs = {};  // If the source is one of a folder's compiled programs: all of them.

  std::string by = "function";  // How rows are grouped.
  std::string label = {};       // Of samples, by which rows are grouped; empty: by frames.
  TopOrder order = TopOrder::flat_bytes;
  std::size_t top = 20, own = 5;                               // So many rows, and lines of your code. 0: all.
  bool is_relative = false;                                    // Percentages are of what the filter leaves.
  bool wants_frames = true;                                    // For readers, also where lines of your code say it.
  std::map<std::string, std::string, std::less<>> flags = {};  // Of the table below, with their values: "--peek".

  // Who is going to read it: what costs much, and only others see, may be left out.
  Audience audience = Audience::everyone;
  PassControl* control = nullptr;

  bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }
  bool is_for(Audience readers_or_programs) const {
    return audience == Audience::everyone || audience == readers_or_programs;
  }
};

enum class Placement : std::uint8_t {
  before_the_rows,
  rows,
  instead_of_rows,  // Two of them can't be printed together as text.
};

struct AnswerRow {
  std::string_view name;   // Unique: for `--only`. Mostly the key of its JSON.
  std::string_view title;  // "Ranks", for the window's list.
  std::string_view help;   // A sentence without its period: for the help of the flag, and for agents.
  std::string_view flag = {}, value_name = {};  // "--peek", "REGEX". No flag: in every report.
  bool needs_trace = false;
  Placement placement = Placement::before_the_rows;
  std::string_view key = {};   // Of the JSON, if two answers share it; they can't be printed together.
  std::string_view view = {};  // The window's view that shows it; empty: Tables does.
  Result<Document> (*describe)(const AnswerInput& input) = nullptr;
};

#define X(name) extern const AnswerRow name##_answer;
HBMSCOPE_ANSWER_TABLE(X)
#undef X

std::span<const AnswerRow* const> answer_table();
// Error: no answer has that name; the message lists them.
Result<const AnswerRow*> find_answer_row(std::string_view name);

std::vector<std::string_view> answer_flags();

// Whether the input has what the answer needs: a trace, the value of its flag.
bool can_answer(const AnswerRow& row, const AnswerInput& input);
// Whether it is in a report: without a flag always, otherwise if the flag was used.
bool is_wanted(const AnswerRow& row, const AnswerInput& input);

// Adds the answers that every report on a trace has: its time, heaps, failures, program, job.
Result<void> add_trace_answers(nlohmann::ordered_json& json, const AnswerInput& input);

}  // namespace hbmscope
