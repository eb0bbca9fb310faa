// An SQLite database from anywhere, opened only to read: it is never written, no code of it runs (no views, no
// triggers, no extensions, no functions of its schema with side effects), and no file beside it is looked at
// (immutable). https://www.sqlite.org/security.html
//
// A file on disk stays there; one that was compressed or came through a pipe is read from memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "analysis/model/result.h"
#include "analysis/read/read_control.h"

namespace hbmscope::nsys {

// A row of a result. Columns count from 0.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  // 0 for NULL, and for what is no number.
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string_view text(int column) const;  // Valid until the next row. Empty for NULL.

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // `control` must outlive the database. Errors: not readable, no database, damaged at its beginning.
  static Result<Database> open_file(const std::string& path, ReadControl* control);
  // `bytes` must outlive it too; `name` is for messages.
  static Result<Database> open_bytes(std::span<const std::uint8_t> bytes, const std::string& name,
                                     ReadControl* control);

  bool has_table(std::string_view name) const;
  bool has_column(std::string_view table, std::string_view column) const;

  // Calls use(row) for each row. Errors: damaged, cancelled, a column that is missing.
  template <class Use>
  Result<void> read(const std::string& sql, const Use& use) const {
    auto statement = prepare(sql);
    if (!statement) return Failure(std::move(statement.error()));
    while (true) {
      const int code = sqlite3_step(statement->get());
      if (code == SQLITE_DONE) return {};
      if (code != SQLITE_ROW) return Failure(problem());
      use(Row(statement->get()));
    }
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  Database(std::unique_ptr<sqlite3, Close> handle, std::string name, ReadControl* control)
      : handle_(std::move(handle)), name_(std::move(name)), control_(control) {}
  static Result<Database> open(const std::string& uri, int flags, const std::string& name, ReadControl* control);
  Result<Statement> prepare(const std::string& sql) const;
  Result<void> restrict();
  Error problem() const;  // Why the last call failed.
  bool has_row(std::string_view sql, std::string_view first, std::string_view second) const;

  std::unique_ptr<sqlite3, Close> handle_;
  std::string name_;
  ReadControl* control_ = nullptr;
};

}  // namespace hbmscope::nsys
