// The filter language of --where, --fail-if, and the filter line of every view.
//
//   size>1GiB stack:adam device:0          all terms must hold
//   (kind:buffer or kind:executable)       `or`, parentheses
//   -file:site-packages   not tag:opt      negation
//   stack:/adam|sgd/   file:"my dir/a.py"  a regular expression (RE2), a text with spaces
//   adam                                   a bare word is stack:adam
//
// `:` means contains (ignoring case), and on `device:` a bare number is the device's id; `=` means equals. Numbers take
// = != < <= > >= and the units of their field: 1.5GiB, 12 %, 340us.
//
// Each query passes its own list of fields. A field that exists elsewhere in hbmscope but not in this kind of file
// (`age` in a profile) is an error that gives the reason; it is not silently true.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace re2 {
class RE2;
}

namespace hbmscope {

enum class FieldKind { text, bytes, count, percent, time };

struct WhereField {
  std::string_view name;
  FieldKind kind;
  std::string_view help;         // One line for --help and the window.
  std::string_view unavailable;  // Not empty: why this kind of file does not have it.
};

enum class WhereOp { contains, equals, differs, less, less_or_equal, greater, greater_or_equal };

struct WhereTerm {
  std::size_t field = 0;  // An index into the fields passed to parse_where.
  WhereOp op = WhereOp::contains;
  std::string text;                         // For text fields.
  std::shared_ptr<const re2::RE2> pattern;  // For text fields with /.../.
  double number = 0;                        // For the others: bytes, a count, per cent, nanoseconds.

  bool matches_text(std::string_view value) const;
  bool matches_number(double value) const;
  // As matches_text, except that a bare number is the device's id: device:1 is not device 10.
  bool matches_device(std::string_view name) const;
};

struct WhereNode {
  enum class Kind { term, all_of, any_of, none_of };
  Kind kind = Kind::all_of;
  WhereTerm term;                   // For Kind::term.
  std::vector<WhereNode> children;  // For the others; all_of without children is true.
};

// The error's offset is a column of `text`, counted from 0.
Result<WhereNode> parse_where(std::string_view text, std::span<const WhereField> fields);

// Evaluates against anything that can decide one term.
template <class TermHolds>
bool holds(const WhereNode& node, const TermHolds& term_holds) {
  switch (node.kind) {
    case WhereNode::Kind::term: return term_holds(node.term);
    case WhereNode::Kind::all_of:
      for (const WhereNode& child : node.children)
        if (!holds(child, term_holds)) return false;
      return true;
    case WhereNode::Kind::any_of:
      for (const WhereNode& child : node.children)
        if (holds(child, term_holds)) return true;
      return false;
    case WhereNode::Kind::none_of:
      for (const WhereNode& child : node.children)
        if (holds(child, term_holds)) return false;
      return true;
  }
  return false;
}

// In the order of the text.
template <class Visit>
void for_each_term(const WhereNode& node, const Visit& visit) {
  if (node.kind == WhereNode::Kind::term) visit(node.term);
  for (const WhereNode& child : node.children) for_each_term(child, visit);
}

// The fields of a profile's samples: size, count, stack, function, file, device, kind, label...; and, with the reason,
// those that profiles don't have (age, lifetime, address, ...).
std::span<const WhereField> profile_where_fields();

// A value as it is written in the language: unchanged if possible, otherwise in quotes.
std::string where_quote(std::string_view text);

// Whether one of its terms is about the field. `fields`: those that it was parsed with.
bool has_term_of(const WhereNode& node, std::span<const WhereField> fields, std::string_view field);

}  // namespace hbmscope
