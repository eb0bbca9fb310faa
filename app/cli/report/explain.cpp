#include "app/cli/report/explain.h"

#include <charconv>

#include <fmt/format.h>

#include "analysis/answers/failure.h"
#include "analysis/document/html.h"
#include "analysis/document/json.h"
#include "analysis/judge/gate.h"
#include "analysis/write/json.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report/source_verdict.h"

namespace hbmscope::cli {
namespace {

Result<std::string> json_of_source(const Source& source, const ExplainOptions& options, std::size_t shown,
                                   const std::vector<Error>& unread) {
  const bool is_brief = options.brief > 0;
  nlohmann::ordered_json json = {{"schema", json_schema}};
  for (const Error& error : unread) json["unread"].push_back({{"file", error.file}, {"error", error.text()}});
  json.update(json_from_document(describe_failures(*source.trace, {shown, !is_brief}),
                                 is_brief ? Keys::current : Keys::with_old_ones));
  return text_from_answer(with_verdict(std::move(json), source), options.brief);
}

// Error: no request failed.
Result<std::string> html_of_trace(const Trace& trace, std::size_t shown) {
  if (find_failed_requests(trace).empty())
    return Failure(
        refusal("no request failed, so there is nothing to explain", "Remove --html for what held the memory."));
  std::string files;
  for (const std::string& file : trace.files) files += (files.empty() ? "" : ", ") + file;
  Document document = describe_failures(trace, {shown});
  document.note = files;
  return html_head("Out of memory: " + files) + html_from_document(document) + "</body></html>\n";
}

// "first", "last", or a number from 1.
Result<std::size_t> parse_failure(const std::string& text, std::size_t count) {
  if (text == "first") return std::size_t{0};
  if (text == "last") return count == 0 ? 0 : count - 1;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    return Failure(refusal(fmt::format("'{}' is no failure", text), "Use first, last, or a number from 1."));
  if (number > count && count > 0)
    return Failure(refusal(fmt::format("there is no failure {}", number), fmt::format("The file has {}.", count)));
  return number - 1;
}

}  // namespace

std::string text_from_failures(const Trace& trace, const Terminal& terminal, std::size_t shown) {
  return text_from_document(describe_failures(trace, {shown}), terminal.style());
}

int run_explain(const ExplainOptions& options) {
  std::vector<Error> unread;
  const auto source = load_merged(options.files, {.max_size = options.max_size, .unread = &unread});
  if (!source) {
    for (const Error& error : unread) print_error(error);
    return fail(source.error());
  }
  if (!source->trace)
    return fail(refusal("a profile does not say whether a request failed: it has sizes and stacks at one time",
                        "Use the log of the job, a memory dump, a snapshot or a recording; or hbmscope report."));
  const Trace& trace = *source->trace;
  const auto shown = parse_failure(options.failure, find_failed_requests(trace).size());
  if (!shown) return fail(shown.error());
  const auto print = [&]() -> Result<std::string> {
    if (options.html) return html_of_trace(trace, *shown);
    if (options.json || options.brief > 0) return json_of_source(*source, options, *shown, unread);
    return verdict_text(*source, Terminal::of_stdout()) + text_from_failures(trace, Terminal::of_stdout(), *shown);
  };
  const Result<std::string> text = print();
  if (!text) return fail(text.error());
  auto gate = find_gate_failure(options.gate.condition, trace);
  if (unread.empty()) return print_with_gate(*text, options.gate, gate);
  for (std::size_t i = 1; i < unread.size(); ++i) print_error(unread[i]);
  // What could be read doesn't show that a condition holds for all.
  if (gate && !*gate)
    gate = Failure(unread.front());
  else
    print_error(unread.front());
  return print_to_stdout(*text) ? exit_code_of_gate(options.gate, gate) : exit_unreadable;
}

}  // namespace hbmscope::cli
