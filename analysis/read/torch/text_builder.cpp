#include "analysis/read/torch/text_builder.h"

#include <string>

#include <fmt/format.h>

namespace hbmscope::torch {
namespace {

std::string text_from_integer(const pickle::Integer& integer) {
  if (integer.is_too_wide) return "<a number of more than 64 bits>";
  return integer.is_negative ? fmt::format("{}", static_cast<std::int64_t>(integer.bits))
                             : fmt::format("{}", integer.bits);
}

}  // namespace

std::string python_text(const pickle::Document& document, pickle::Value value) {
  if (value.is_missing()) return {};
  if (value.is_none()) return "None";
  if (value.is_boolean()) return value.is_true() ? "True" : "False";
  if (const auto integer = document.integer(value)) return text_from_integer(*integer);
  if (const auto real = document.real(value)) {
    std::string text = fmt::format("{}", *real);
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
  if (const auto text = document.text(value)) return std::string(*text);
  if (const auto bytes = document.bytes(value)) return fmt::format("<{} bytes>", bytes->size());
  if (value.is(pickle::Value::Tag::list)) return fmt::format("<list of {}>", document.items(value).size());
  return fmt::format("<dict of {}>", document.values(value).size());
}

StringId TextBuilder::other(pickle::Value value) {
  using Tag = pickle::Value::Tag;
  has_met_containers_ = has_met_containers_ || value.is(Tag::list) || value.is(Tag::dict);
  return strings_.intern(python_text(document_, value));
}

}  // namespace hbmscope::torch
