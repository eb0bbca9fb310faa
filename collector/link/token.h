// The secret of viewers that come by TCP: random bytes that the observer made and showed once.
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
std::optional<Token> token_from_text(std::string_view text);  // Blanks around it are ignored.
// Takes the same time wherever they differ.
bool is_same(const Token& a, const Token& b);

// Writes a new file for this user alone (mode 0600). It replaces a regular file of that name, and nothing else. Nothing
// on success, else the reason.
std::optional<std::string> write_token(const std::string& path, const Token& token);

constexpr const char* token_variable = "HBMSCOPE_TOKEN";            // The token itself.
constexpr const char* token_file_variable = "HBMSCOPE_TOKEN_FILE";  // A file with the token, which others can't read.
// Reads one of the two. Nothing, and the reason and remedy in `wrong`.
std::optional<Token> find_token(std::string& wrong);

}  // namespace hbmscope::link
