// Copies the texts that a snapshot keeps from the pickle to its string table, each once.
#pragma once

#include <vector>

#include "analysis/model/string_table.h"
#include "analysis/read/pickle/document.h"

namespace hbmscope::torch {

class TextBuilder {
 public:
  TextBuilder(const pickle::Document& document, StringTable& strings) : document_(document), strings_(strings) {}

  // StringId::empty for anything that is not text. Numbers and booleans, which some programs use as metadata, become
  // text as Python prints them.
  StringId text(pickle::Value value) {
    if (!value.is(pickle::Value::Tag::text))
      return value.is_missing() || value.is_none() ? StringId::empty : other(value);
    if (value.number() >= known_.size()) known_.resize(document_.text_count());
    std::uint32_t& known = known_[value.number()];
    if (known == 0) known = static_cast<std::uint32_t>(strings_.intern(*document_.text(value))) + 1;
    return static_cast<StringId>(known - 1);
  }
  bool has_met_containers() const { return has_met_containers_; }  // Their text contains their size.
  StringId intern(std::string_view text) { return strings_.intern(text); }

 private:
  StringId other(pickle::Value value);

  const pickle::Document& document_;
  StringTable& strings_;
  bool has_met_containers_ = false;
  std::vector<std::uint32_t> known_;  // By text: StringId + 1, or 0 before it is looked up.
};

// "None", "True", "12", "0.5"; "<list of 3>", "<dict of 3>", "<3 bytes>" for values without a short text.
std::string python_text(const pickle::Document& document, pickle::Value value);

}  // namespace hbmscope::torch
