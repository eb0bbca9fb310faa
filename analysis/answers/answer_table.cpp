#include "analysis/answers/answer_table.h"

#include <array>

#include <fmt/format.h>

#include "analysis/document/json.h"

namespace hbmscope {

std::span<const AnswerRow* const> answer_table() {
  static constexpr std::array rows = {
#define X(name) &name##_answer,
      HBMSCOPE_ANSWER_TABLE(X)
#undef X
  };
  return rows;
}

Result<const AnswerRow*> find_answer_row(std::string_view name) {
  std::string known;
  for (const AnswerRow* row : answer_table()) {
    if (row->name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row->name);
  }
  return Failure(refusal(fmt::format("there is no answer '{}'", name), fmt::format("Answers: {}.", known)));
}

std::vector<std::string_view> answer_flags() {
  std::vector<std::string_view> flags;
  for (const AnswerRow* row : answer_table())
    if (!row->flag.empty()) flags.push_back(row->flag);
  return flags;
}

bool can_answer(const AnswerRow& row, const AnswerInput& input) {
  if (row.needs_trace && input.trace == nullptr) return false;
  return row.value_name.empty() || input.has(row.flag);
}

bool is_wanted(const AnswerRow& row, const AnswerInput& input) {
  if (!row.flag.empty()) return input.has(row.flag);
  return !row.needs_trace || input.trace != nullptr;
}

Result<void> add_trace_answers(nlohmann::ordered_json& json, const AnswerInput& input) {
  for (const AnswerRow* row : answer_table()) {
    if (!row->needs_trace || !row->flag.empty()) continue;
    const auto document = row->describe(input);
    if (!document) return Failure(document.error());
    merge_json(json, json_from_document(*document));
  }
  return {};
}

}  // namespace hbmscope
