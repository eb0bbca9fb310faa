#include "collector/link/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hbmscope::link {
namespace {

int digit_from(char sign) {
  if (sign >= '0' && sign <= '9') return sign - '0';
  if (sign >= 'a' && sign <= 'f') return sign - 'a' + 10;
  return sign >= 'A' && sign <= 'F' ? sign - 'A' + 10 : -1;
}

std::optional<Token> read_token(const std::string& path, std::string& wrong) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat found {};
  char text[256] = "";
  std::optional<Token> token;
  if (file < 0 || fstat(file, &found) != 0) {
    wrong = path + ": " + std::strerror(errno);
  } else if (!S_ISREG(found.st_mode)) {
    wrong = path + " is not a regular file, so its token is not used";
  } else if (found.st_uid != geteuid()) {
    wrong = path + " belongs to another user, so its token is not used; copy it to a file of your own";
  } else if ((found.st_mode & 077) != 0) {
    wrong = path + " can be read or written by others, so its token is not used; run chmod 600 " + path;
  } else {
    const ssize_t bytes = read(file, text, sizeof(text));
    token = token_from_text({text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0});
    if (!token) wrong = path + " has no token (64 digits of 0 to 9 and a to f)";
  }
  if (file >= 0) close(file);
  return token;
}

}  // namespace

std::optional<Token> make_token() {
  Token token;
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) return std::nullopt;
  return token;
}

std::string text_from_token(const Token& token) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : token) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<Token> token_from_text(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
  Token token;
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const int high = digit_from(text[2 * i]), low = digit_from(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    token[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return token;
}

bool is_same(const Token& a, const Token& b) {
  volatile std::uint8_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing = static_cast<std::uint8_t>(differing | (a[i] ^ b[i]));
  return differing == 0;
}

std::optional<std::string> write_token(const std::string& path, const Token& token) {
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0) {
    if (!S_ISREG(found.st_mode)) return "it is not a regular file, so it is not replaced";
    unlink(path.c_str());  // It may be readable by others.
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const std::string text = text_from_token(token) + "\n";
  const bool is_written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  std::optional<std::string> wrong;
  if (!is_written) wrong = std::strerror(errno);
  if (file >= 0) close(file);
  return wrong;
}

std::optional<Token> find_token(std::string& wrong) {
  if (const char* text = std::getenv(token_variable); text != nullptr && *text != 0) {
    const auto token = token_from_text(text);
    if (!token) wrong = std::string(token_variable) + " is not a token (64 digits of 0 to 9 and a to f)";
    return token;
  }
  if (const char* path = std::getenv(token_file_variable); path != nullptr && *path != 0)
    return read_token(path, wrong);
  wrong = std::string("a token is needed: set ") + token_variable +
          " to the one that hbmscope run --listen printed, or " + token_file_variable +
          " to a file that has it (mode 0600)";
  return std::nullopt;
}

}  // namespace hbmscope::link
