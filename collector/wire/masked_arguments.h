// Hides secrets in command lines before they are recorded: "--wandb-token=abc123" becomes "--wandb-token=***". The
// library inside the job uses this too, so it needs no C++ library. Everything happens in place: a text never grows.
#pragma once

#include <cstddef>
#include <cstring>

namespace hbmscope::wire {

// The value of an option is a secret if a part of its name ends with one of these, in upper or lower case:
// "--hf-token", "--apikey", "WANDB_API_KEY", "Authorization: Bearer", but not "--tokenizer" or "--max-tokens".
inline constexpr const char* secret_words[] = {"password", "passwords", "passwd",  "token",        "key",
                                               "keys",     "secret",    "secrets", "authorization"};

// Short options whose value is a secret behind that program or command: "sshpass -p", "docker login -p".
struct SecretOption {
  const char* command;
  const char* option;
};
inline constexpr SecretOption secret_options[] = {{"sshpass", "-p"}, {"mysql", "-p"},   {"mysqldump", "-p"},
                                                  {"mariadb", "-p"}, {"login", "-p"},   {"redis-cli", "-a"},
                                                  {"curl", "-u"},    {"curl", "--user"}};

namespace masking {

inline char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
inline bool has_space(const char* begin, const char* end) {
  for (; begin != end; ++begin)
    if (is_space(*begin)) return true;
  return false;
}
inline bool is_in_name(char c) {
  return (c >= '0' && c <= '9') || (lower_case(c) >= 'a' && lower_case(c) <= 'z') || c == '-' || c == '_' || c == '.';
}

inline bool ends_with(const char* begin, const char* end, const char* word) {
  const std::size_t length = std::strlen(word);
  if (static_cast<std::size_t>(end - begin) < length) return false;
  std::size_t same = 0;
  const char* at = end - length;
  while (same < length && lower_case(at[same]) == word[same]) ++same;
  return same == length;
}

inline bool is_separator(char c) {
  return c == '-' || c == '_' || c == '.';
}

inline bool is_secret_name(const char* begin, const char* end) {
  for (const char* at = begin; at != end;) {
    const char* part = at;
    while (at != end && !is_separator(*at)) ++at;
    for (const char* word : secret_words)
      if (ends_with(part, at, word)) return true;
    if (at != end) ++at;
  }
  return false;
}

inline bool is_same(const char* begin, const char* end, const char* word) {
  return static_cast<std::size_t>(end - begin) == std::strlen(word) && std::memcmp(begin, word, std::strlen(word)) == 0;
}

// The secret of "https://user:secret@host/path", or of "https://secret@host". Empty if there is none.
struct Part {
  const char* begin;
  const char* end;
};
inline Part secret_of_address(const char* begin, const char* end) {
  const char* at = begin;
  while (end - at >= 3 && !(at[0] == ':' && at[1] == '/' && at[2] == '/')) ++at;
  if (end - at < 3) return {end, end};
  const char* const user = at += 3;
  const char* colon = nullptr;
  for (; at != end && *at != '/' && *at != '@' && !is_space(*at); ++at)
    if (*at == ':' && colon == nullptr) colon = at;
  if (at == end || *at != '@' || is_same(user, at, "git")) return {end, end};
  return {colon != nullptr ? colon + 1 : user, at};
}

// Copies what was read behind what was written.
class Masker {
 public:
  explicit Masker(char* out) : out_(out) {}
  char* end() const { return out_; }

  void copy(const char* begin, const char* end) {
    std::memmove(out_, begin, static_cast<std::size_t>(end - begin));
    out_ += end - begin;
  }
  void hide(const char* begin, const char* end) {
    for (int i = 0; i < 3 && begin != end; ++i, ++begin) *out_++ = '*';
  }

  // One argument. If it is an option without its value, the next one is that value. `is_word`: it is not split again.
  void mask(const char* begin, const char* end, bool is_word = false) {
    const bool begins_option = end - begin >= 2 && begin[0] == '-' && begin[1] == '-';
    const bool is_value = is_value_next_ && !begins_option;
    is_value_next_ = false;
    if (is_value) return hide(begin, end);
    if (note_command(begin, end)) {
      is_value_next_ = true;
      command_ = nullptr;
      return copy(begin, end);
    }
    const char* name_end = begin;
    while (name_end != end && is_in_name(*name_end)) ++name_end;
    const bool is_secret = is_secret_name(begin, name_end);
    if (is_secret && name_end != end && *name_end == '=') {
      copy(begin, name_end + 1);
      return hide(name_end + 1, end);
    }
    if (is_secret && name_end != end && *name_end == ':' && end - name_end > 1 && is_space(name_end[1])) {
      copy(begin, name_end + 2);  // A header.
      return hide(name_end + 2, end);
    }
    is_value_next_ = is_secret && name_end == end && begins_option;
    const Part inside = secret_of_address(begin, end);
    if (inside.begin != inside.end && (is_word || !has_space(begin, end))) {
      copy(begin, inside.begin);
      hide(inside.begin, inside.end);
      copy(inside.end, end);
    } else if (is_word || !has_space(begin, end))
      copy(begin, end);
    else  // A command in one argument, as of sh -c.
      mask_words(begin, end);
  }

  // Words between white space; a value in quotes may contain some.
  void mask_words(const char* begin, const char* end) {
    while (begin != end) {
      const char* word = begin;
      while (word != end && is_space(*word)) ++word;
      copy(begin, word);
      begin = word;
      char quote = 0;
      for (; word != end && (quote != 0 || !is_space(*word)); ++word) {
        if (quote == 0 && (word == begin || word[-1] == '=') && (*word == '"' || *word == '\''))
          quote = *word;
        else if (*word == quote)
          quote = 0;
      }
      if (quote != 0)  // It is not closed: an apostrophe.
        for (word = begin; word != end && !is_space(*word);) ++word;
      const bool is_quoted = word - begin >= 2 && (*begin == '"' || *begin == '\'') && word[-1] == *begin;
      if (is_quoted) copy(begin, begin + 1);
      mask(begin + is_quoted, word - is_quoted, true);
      if (is_quoted) copy(word - 1, word);
      begin = word;
    }
    is_value_next_ = false;
  }

 private:
  // Whether it is an option of the last command that has one, so that a secret follows.
  bool note_command(const char* begin, const char* end) {
    const char* name = end;
    while (name != begin && name[-1] != '/') --name;
    for (const SecretOption& one : secret_options)
      if (is_same(name, end, one.command)) {
        command_ = one.command;
        return false;
      }
    for (const SecretOption& one : secret_options)
      if (command_ != nullptr && std::strcmp(command_, one.command) == 0 && is_same(begin, end, one.option))
        return true;
    return false;
  }

  char* out_;
  bool is_value_next_ = false;
  const char* command_ = nullptr;  // Of the table, the last one.
};

}  // namespace masking

// Masks zero-separated arguments, as in /proc/PID/cmdline. Returns their new end.
inline char* mask_arguments(char* begin, char* end) {
  masking::Masker masker(begin);
  for (char* at = begin; at != end;) {
    auto* const zero = static_cast<char*>(std::memchr(at, 0, static_cast<std::size_t>(end - at)));
    char* const argument_end = zero == nullptr ? end : zero;
    char* const next = zero == nullptr ? end : zero + 1;
    masker.mask(at, argument_end);
    masker.copy(argument_end, next);
    at = next;
  }
  return masker.end();
}

// Masks a text of options, such as XLA_FLAGS. Returns its new end.
inline char* mask_words(char* begin, char* end) {
  masking::Masker masker(begin);
  masker.mask_words(begin, end);
  return masker.end();
}

}  // namespace hbmscope::wire
