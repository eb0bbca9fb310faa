// A text as people paste it, and what the answer must say and must not say.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/answers/failure.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/document/text.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope::tests {

// As the window reads what is pasted.
inline std::shared_ptr<const Trace> trace_of_text(const std::string& text) {
  auto source = read_text_source(text, "error.txt");
  EXPECT_TRUE(source && source->trace) << text;
  return source && source->trace ? source->trace : std::make_shared<Trace>();
}

inline std::string explained(const std::string& text) {
  return text_from_document(describe_failures(*trace_of_text(text), {0, false}), {.shows_all = true});
}

inline std::string_view cause_of_first(const std::string& text) {
  const auto trace = trace_of_text(text);
  const auto failures = find_failed_requests(*trace);
  return failures.empty() ? "none" : text_from_cause(diagnose(*trace, failures[0], Depth::brief).cause.cause);
}

struct WildText {
  const char* name;
  std::string text;
  std::string_view cause;
  std::vector<std::string_view> says, never_says;
};

inline void PrintTo(const WildText& one, std::ostream* out) {
  *out << one.name;
}

inline void expect_answered(const WildText& one) {
  const std::string answer = explained(one.text);
  EXPECT_EQ(one.cause, cause_of_first(one.text)) << answer;
  for (const std::string_view words : one.says)
    EXPECT_NE(std::string::npos, answer.find(words)) << "missing: " << words << "\n" << answer;
  for (const std::string_view words : one.never_says)
    EXPECT_EQ(std::string::npos, answer.find(words)) << "wrong: " << words << "\n" << answer;
}

}  // namespace hbmscope::tests
