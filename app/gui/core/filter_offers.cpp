#include "app/gui/core/filter_offers.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/units/contains.h"
#include "app/gui/core/copy_as_command.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t values_offered_max = 50, earlier_offered_max = 5;

bool is_of_name(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

std::size_t length_of_operator(std::string_view text) {
  constexpr std::array<std::string_view, 7> operators{"!=", "<=", ">=", ":", "=", "<", ">"};
  for (const std::string_view one : operators)
    if (text.starts_with(one)) return one.size();
  return 0;
}

// Where a value ends: at its closing quote, else at a space or at a bracket that it did not open.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const std::size_t close = text.find(text[at], at + 1);
    return close == std::string_view::npos ? text.size() : close + 1;
  }
  int brackets = 0;
  for (; at < text.size() && text[at] != ' '; ++at) {
    if (text[at] == '(') ++brackets;
    if (text[at] == ')' && brackets-- == 0) break;
  }
  return at;
}

struct Term {
  std::size_t begin = 0, name_end = 0;
  std::size_t value = 0;  // Where the value begins; name_end: there is no operator.
  std::size_t end = 0;

  bool has_value() const { return value > name_end; }
};

// The term that the cursor is in or at the end of; an empty one between terms.
Term term_at(std::string_view text, std::size_t cursor) {
  std::size_t at = 0;
  for (;;) {
    while (at < cursor && std::string_view(" ()-!").find(text[at]) != std::string_view::npos) ++at;
    Term term{at, at, at, at};
    if (at >= cursor) return term;
    while (term.name_end < text.size() && is_of_name(text[term.name_end])) ++term.name_end;
    const std::size_t sign = term.name_end > at ? length_of_operator(text.substr(term.name_end)) : 0;
    term.value = term.name_end + sign;
    // A word without an operator goes on as a value does: layer-norm is one.
    term.end = end_of_value(text, sign > 0 ? term.value : at);
    if (cursor <= term.end) return term;
    at = term.end;
  }
}

// `middle` in place of text[begin, end), with the cursor behind it.
FilterOffer replaced(std::string_view text, std::size_t begin, std::size_t end, std::string_view middle) {
  FilterOffer offer;
  offer.text = std::string(text.substr(0, begin)) + std::string(middle) + std::string(text.substr(end));
  offer.cursor = begin + middle.size();
  return offer;
}

void offer_fields(std::vector<FilterOffer>& offers, std::string_view text, const Term& term, std::size_t cursor,
                  std::span<const WhereField> fields) {
  const std::string_view typed = text.substr(term.begin, cursor - term.begin);
  for (const WhereField& field : fields) {
    if (!field.unavailable.empty() || !field.name.starts_with(typed)) continue;
    const bool has_sign = term.has_value();
    FilterOffer offer = replaced(text, term.begin, has_sign ? term.name_end : term.end,
                                 std::string(field.name) + (has_sign                        ? ""
                                                            : field.kind == FieldKind::text ? ":"
                                                                                            : ">"));
    if (has_sign) offer.cursor += term.value - term.name_end;
    offer.title = field.name;
    offer.help = field.help;
    offers.push_back(std::move(offer));
  }
}

void offer_values(std::vector<FilterOffer>& offers, std::string_view text, const Term& term, std::size_t cursor,
                  const FilterValues& values) {
  const auto of_field = values.find(text.substr(term.begin, term.name_end - term.begin));
  std::string_view typed = text.substr(term.value, cursor - term.value);
  if (of_field == values.end() || typed.starts_with('/')) return;
  if (typed.starts_with('"') || typed.starts_with('\'')) typed.remove_prefix(1);
  const auto begins = [&](const FilterValue& value) {
    return contains_ignoring_case(std::string_view(value.text).substr(0, typed.size()), typed);
  };
  // Those that begin so come before those that only contain it: there are thousands of C++ functions with "ad" in them.
  for (const bool at_begin : {true, false})
    for (const FilterValue& value : of_field->second) {
      if (value.text == typed || begins(value) != at_begin || !contains_ignoring_case(value.text, typed)) continue;
      FilterOffer offer = replaced(text, term.value, term.end, where_quote(value.text));
      if (offer.text == text) continue;
      offer.title = value.text;
      offer.bytes = value.bytes;
      offers.push_back(std::move(offer));
      if (offers.size() == values_offered_max) return;
    }
}

void offer_earlier(std::vector<FilterOffer>& offers, std::string_view text, std::span<const WhereField> fields,
                   const std::vector<std::string>& earlier) {
  std::size_t count = 0;
  for (const std::string& filter : earlier) {
    // Those of a profile mean nothing for a trace.
    if (filter == text || !filter.starts_with(text) || !parse_where(filter, fields)) continue;
    if (!text.empty() && ++count > earlier_offered_max) return;
    offers.push_back({filter, {}, {}, filter, filter.size(), true});
  }
}

}  // namespace

std::vector<FilterOffer> find_filter_offers(std::string_view text, std::size_t cursor,
                                            std::span<const WhereField> fields, const FilterValues& values,
                                            const std::vector<std::string>& earlier) {
  std::vector<FilterOffer> offers;
  cursor = std::min(cursor, text.size());
  const Term term = term_at(text, cursor);
  if (text.empty()) offer_earlier(offers, text, fields, earlier);
  if (term.has_value() && cursor >= term.value) {
    offer_values(offers, text, term, cursor, values);
  } else if (cursor <= term.name_end && (cursor > term.begin || text.empty())) {
    offer_fields(offers, text, term, cursor, fields);
  }
  if (!text.empty() && cursor == text.size()) offer_earlier(offers, text, fields, earlier);
  return offers;
}

}  // namespace hbmscope::gui
