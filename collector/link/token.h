// What a viewer that comes by TCP must know: random bytes that the observer made and showed once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope::link {

using Token = std::array<std::uint8_t, 32>;

std::optional<Token> make_token();  // Nothing: the system has no random bytes.
std::string text_from_token(const Token& token);
std::optional<Token> token_from_text(std::string_view text);  // Blanks around it are passed over.
// Takes as long wherever they differ.
bool is_same(const Token& a, const Token& b);

// A new file of this user's alone (mode 0600); a regular file that lay there is replaced, nothing else is. Nothing, or
// why not.
std::optional<std::string> write_token(const std::string& path, const Token& token);

constexpr const char* token_variable = "HBMSCOPE_TOKEN";            // The token itself.
constexpr const char* token_file_variable = "HBMSCOPE_TOKEN_FILE";  // A file that has it, which others can't read.
// From one of the two. Nothing, and why and what to do in `wrong`.
std::optional<Token> find_token(std::string& wrong);

}  // namespace hbmscope::link
