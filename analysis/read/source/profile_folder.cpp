#include "analysis/read/source/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "analysis/read/decompress.h"
#include "analysis/read/source/dump_folder.h"
#include "analysis/read/source/formats.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

namespace fs = std::filesystem;

// "step_9" before "step_10": runs of digits are compared as numbers.
bool natural_before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [&](const std::string& text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(begin, at - begin);
      };
      const std::string x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "step_1" and "step_01": equal as numbers, and always in one order.
}

}  // namespace

Result<FolderProfiles> find_profiles_in_folder(const std::string& folder) {
  std::vector<std::string> all;
  std::error_code error;
  std::size_t folders = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) all.push_back(entry->path().string());
    if (entry->is_directory(ignored)) ++folders;
  }
  if (error)
    return Failure(refusal("cannot read the folder: " + error.message(), "Check its owner and permissions.", folder));
  std::sort(all.begin(), all.end(), natural_before);
  const DumpFolder dumps = take_dumps(all);
  FolderProfiles found{{}, dumps.text()};
  for (const DumpedProgram& program : dumps.programs) found.files.push_back(program.file);
  std::vector<std::string> texts;  // Any program writes .txt files.
  for (std::string& path : all) {
    const std::string name = fs::path(path).filename().string();
    const bool is_log = looks_like_log(name), is_text = is_log && without_compressed_endings(name).ends_with(".txt");
    if (looks_like_profile(name) || (is_log && !is_text))
      found.files.push_back(std::move(path));
    else if (is_text)
      texts.push_back(std::move(path));
  }
  if (found.files.empty()) found.files = std::move(texts);
  if (found.files.empty())
    return Failure(refusal(
        "this folder has no file that hbmscope opens" + (found.left_out.empty() ? "" : "; " + found.left_out),
        (folders == 0   ? ""
               : folders == 1 ? "It has a subfolder, which is not searched: name that one. "
                              : "It has subfolders, which are not searched: name one of them. ") +
            std::string("Files named ") + text_from_folder_endings() +
            ", and logs named *.log, *.out, *.err or *.txt, each also .gz, .zst, .xz or .bz2, are found in a folder. "
            "Name "
            "other files, such as FOLDER/*.json or FOLDER/*.csv.",
        folder));
  std::sort(found.files.begin(), found.files.end(), natural_before);
  return found;
}

}  // namespace hbmscope
