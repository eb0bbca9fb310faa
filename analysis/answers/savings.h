// What would lower the peak of a heap, as a document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/diagnose/savings_pool.h"
#include "analysis/document/document.h"

namespace hbmscope {

// How a kind of site is called, and what the rest lacks.
struct SiteWords {
  std::string_view option, many, title, rest;
  SiteBy by;
};
const SiteWords* find_site_words(std::string_view option);  // "line", "function", "category", "tag"

std::string text_from_site(const Site& site);  // "train_step  train.py:48"

struct SavingsReport {
  const Trace& trace;
  HeapKey key;
  std::string heap;  // Its name.
  const SiteWords& words;
  const Savings& savings;
  const std::optional<PoolSavings>& pool;  // Of the shown rows.
  std::size_t top;                         // 0: all.

  std::size_t shown() const { return top == 0 ? savings.sites.size() : std::min(top, savings.sites.size()); }
};
Document describe_savings(const SavingsReport& report);

}  // namespace hbmscope
