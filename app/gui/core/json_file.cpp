#include "app/gui/core/json_file.h"

#include <chrono>
#include <fstream>
#include <iterator>

namespace hbmscope::gui {

namespace fs = std::filesystem;

nlohmann::json read_json(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return nullptr;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Writes to a temporary file first, so that a full disk or a killed program never leaves half a file. Its name is
// unique, since another window or this one's worker may be writing too.
bool write_whole(const fs::path& file, std::string_view text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  const fs::path draft = file.string() + "." + std::to_string(ticks) + ".new";
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << text;
    if (!out.flush()) return false;
  }
  fs::rename(draft, file, error);
  return !error;
}

bool write_json(const fs::path& file, const nlohmann::json& value) {
  return write_whole(file, value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

}  // namespace hbmscope::gui
