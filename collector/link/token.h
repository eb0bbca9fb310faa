// The secret of viewers that connect over TCP: random bytes that the observer generates and shows once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope::link {

using Token = std::array<std::uint8_t, 32>;

std::optional<Token> make_token();  // No value: the system has no random bytes.
std::string text_from_token(const Token& token);
std::optional<Token> token_from_text(std::string_view text);  // Surrounding white space is ignored.
// Takes the same time wherever the tokens differ.
bool is_same(const Token& a, const Token& b);

// Writes a new file that only this user can read (mode 0600). It replaces a regular file of that name, but nothing
// else. Returns no value on success, otherwise the error.
std::optional<std::string> write_token(const std::string& path, const Token& token);

constexpr const char* token_variable = "HBMSCOPE_TOKEN";  // The token itself.
// A file that contains the token and that others can't read.
constexpr const char* token_file_variable = "HBMSCOPE_TOKEN_FILE";
// Reads one of the two. Returns no value on failure, with the reason and the remedy in `wrong`.
std::optional<Token> find_token(std::string& wrong);

}  // namespace hbmscope::link
