// Finds the parts of a line of HLO: brackets and quotes nest, and attributes are "key=value" after commas or blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hbmscope::hlo {

// The position after the bracket that closes the one at `at`, or after the quote that ends the one at `at`; the end of
// the text if it isn't closed. Brackets are (), {} and [], whichever closes; those in quotes don't count.
std::size_t skip_enclosed(std::string_view text, std::size_t at);

// "{%a, %b}" of ", index=1, branch_computations={%a, %b}", or empty without such an attribute. Looks at the outer level
// only.
std::string_view find_attribute(std::string_view attributes, std::string_view key);

// Takes the first of the parts between commas, without blanks and /* */ around it; brackets protect commas.
std::string_view take_part(std::string_view& text);

// The inside of "{...}" or "(...)" or "\"...\""; other text as it is.
std::string_view inside(std::string_view text);

// Resolves \" \' \\ and \n.
std::string unescaped(std::string_view text);

}  // namespace hbmscope::hlo
