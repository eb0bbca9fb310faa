#include "analysis/read/nsys/database.h"

#include <utility>

#include <fmt/format.h>

namespace hbmscope::nsys {
namespace {

// Longer texts are an error, not memory. Names of kernels have some thousand bytes at most.
constexpr int text_bytes_max = 1 << 20;
constexpr int steps_between_looks = 20'000;  // Steps of SQLite's virtual machine: some hundred microseconds.

// A file name as the path of a URI.
std::string uri_from(std::string_view path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                          c == '.' || c == '_' || c == '-' || c == '~';
    is_plain ? uri.push_back(c) : static_cast<void>(uri += fmt::format("%{:02X}", static_cast<unsigned char>(c)));
  }
  return uri + "?mode=ro&immutable=1";
}

}  // namespace

std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

Result<Database> Database::open(const std::string& uri, int flags, const std::string& name, ReadControl* control) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &opened,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE | flags, nullptr);
  Database database(std::unique_ptr<sqlite3, Close>(opened), name, control);
  if (opened == nullptr) return Failure(refusal("there is not enough memory to open this database", {}, name));
  if (code != SQLITE_OK) return Failure(database.problem());
  return database;
}

Result<Database> Database::open_file(const std::string& path, ReadControl* control) {
  auto database = open(uri_from(path), 0, path, control);
  if (!database) return database;
  if (auto restricted = database->restrict(); !restricted) return Failure(std::move(restricted.error()));
  return database;
}

Result<Database> Database::open_bytes(std::span<const std::uint8_t> bytes, const std::string& name,
                                      ReadControl* control) {
  auto database = open(":memory:", SQLITE_OPEN_MEMORY, name, control);
  if (!database) return database;
  // SQLite does not write to bytes that it may only read.
  auto* begin = const_cast<unsigned char*>(bytes.data());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(database->handle_.get(), "main", begin, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return Failure(database->problem());
  if (auto restricted = database->restrict(); !restricted) return Failure(std::move(restricted.error()));
  return database;
}

Result<void> Database::restrict() {
  sqlite3* const handle = handle_.get();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, text_bytes_max);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, text_bytes_max);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
  if (control_ != nullptr)
    sqlite3_progress_handler(
        handle, steps_between_looks,
        [](void* control) { return static_cast<ReadControl*>(control)->cancelled ? 1 : 0; }, control_);
  for (const char* pragma : {"PRAGMA query_only=ON", "PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0"})
    if (auto done = read(pragma, [](const Row&) {}); !done) return done;
  // Reads the first page.
  return read("SELECT count(*) FROM sqlite_schema", [](const Row&) {});
}

Result<Database::Statement> Database::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return Failure(problem());
  return Statement(statement);
}

Error Database::problem() const {
  if (control_ != nullptr && control_->cancelled) return refusal("reading was cancelled", {}, name_);
  return refusal(fmt::format("the SQLite database can't be read: {}", sqlite3_errmsg(handle_.get())),
                 "It may have been cut off, or is still being written; export it again.", name_);
}

bool Database::has_row(std::string_view sql, std::string_view first, std::string_view second) const {
  const auto statement = prepare(std::string(sql));
  if (!statement) return false;
  sqlite3_bind_text(statement->get(), 1, first.data(), static_cast<int>(first.size()), SQLITE_STATIC);
  if (!second.empty())
    sqlite3_bind_text(statement->get(), 2, second.data(), static_cast<int>(second.size()), SQLITE_STATIC);
  return sqlite3_step(statement->get()) == SQLITE_ROW;
}

bool Database::has_table(std::string_view name) const {
  // A virtual table is none: it has no first page.
  return has_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1", name, {});
}

bool Database::has_column(std::string_view table, std::string_view column) const {
  return has_row("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}

}  // namespace hbmscope::nsys
