// Any text into the filter language and into the parser of sizes: both take what people type and paste.
#include <cmath>
#include <string_view>

#include "analysis/query/where.h"
#include "analysis/units/format.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(fuzz_where, data, size) {
  using namespace hbmscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fields = profile_where_fields();
  if (const auto where = parse_where(text, fields)) {
    // Whatever was parsed can be evaluated; a term and its negation are never both true.
    const bool everything = holds(*where, [&](const WhereTerm& term) {
      require(term.field < fields.size());
      if (fields[term.field].kind == FieldKind::text) return term.matches_text("train_step");
      require(!std::isnan(term.number));
      return term.matches_number(1 << 20);
    });
    WhereNode negated;
    negated.kind = WhereNode::Kind::none_of;
    negated.children.push_back(*where);
    const bool nothing = holds(negated, [&](const WhereTerm& term) {
      return fields[term.field].kind == FieldKind::text ? term.matches_text("train_step")
                                                        : term.matches_number(1 << 20);
    });
    require(everything != nothing);
  } else {
    require(!where.error().what.empty());
    require(where.error().offset.value_or(0) <= size);
  }
  if (const auto bytes = parse_bytes(text)) {
    require(!text_from_bytes(*bytes).empty());
    // Sizes go through a double; up to 2^53 (8 PiB) that is exact.
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    if (*bytes<exact&& * bytes> - exact) require(parse_bytes(std::to_string(*bytes)).value_or(*bytes + 1) == *bytes);
  }
  return 0;
}
