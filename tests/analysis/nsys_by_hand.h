// Databases as `nsys export --type sqlite` writes them, by its published schema.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace hbmscope::tests {

inline constexpr const char* nsys_schema = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
  (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'), (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
  (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'), (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
  (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
  (6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'), (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');
CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES (0, 'CUDA_DEV_MEM_EVENT_OPR_ALLOCATION', 'Allocation'),
  (1, 'CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION', 'Deallocation');
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL,
  bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT,
  correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER,
  localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER,
  importedMemoryPoolProcessId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL,
  callchainId INTEGER);
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL,
  unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
  domainId INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER NOT NULL, uuid TEXT,
  numMultiprocessors INTEGER);
)";

// Runs the statements on a new database, and returns its file.
inline std::string database_of(const std::string& statements) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("hbmscope_nsys_" + std::to_string(reinterpret_cast<std::uintptr_t>(&statements)) + ".sqlite");
  std::filesystem::remove(path);
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(handle);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

// As in globalPid and globalTid: hardware and virtual machine in the upper bits.
inline std::int64_t global_of(std::int64_t pid, std::int64_t thread = 0) {
  return std::int64_t{0x0101} << 48 | pid << 24 | thread;
}

struct NsysRow {
  std::int64_t start = 0, pid = 7, device = 0, address = 0, bytes = 0, kind = 2;
  bool is_free = false;
  std::int64_t correlation = 0;
  std::string name{};
  std::int64_t pool = 0, pool_bytes = 0;

  std::string insert() const {
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    return "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (" + number(start) + "," + number(global_of(pid)) + "," +
           number(device) + ",1," + number(address) + ",0," + number(bytes) + "," + number(kind) + "," +
           (is_free ? "1" : "0") + "," + (name.empty() ? "NULL" : "'" + name + "'") + "," + number(correlation) +
           ",0," +
           (pool == 0 ? "NULL,NULL,NULL,NULL"
                      : number(pool) + ",0," + number(pool_bytes) + "," + number(pool_bytes / 2)) +
           ",NULL,NULL);";
  }
};

}  // namespace hbmscope::tests
