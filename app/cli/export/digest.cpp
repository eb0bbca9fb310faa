// hbmscope digest: reads the files of a run one by one, and adds what they say to a store of Parquet files, which
// DuckDB or Spark query. The rows go through CSV, and the user's own Python with DuckDB writes Parquet: Arrow is a
// large library that few users need.
#include <strings.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_set>

#include <fmt/format.h>
#include <xxhash.h>

#include "analysis/digest/digest_tables.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/python_programs.h"
#include "app/cli/temporary_folder.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

// How ranks are numbered: the first part changes fastest.
struct Layout {
  struct Part {
    std::string name;
    std::uint32_t size = 1;
  };
  std::vector<Part> parts;

  RankCoordinates of(std::optional<std::uint32_t> rank) const {
    RankCoordinates at;
    if (!rank) return at;
    std::uint32_t rest = *rank;
    for (const Part& part : parts) {
      const std::uint32_t here = rest % part.size;
      rest /= part.size;
      if (part.name == "pp") at.pp = here;
      if (part.name == "tp") at.tp = here;
      if (part.name == "dp") at.dp = here;
      if (part.name == "ep") at.ep = here;
    }
    return at;
  }
};

Result<Layout> parse_layout(std::string_view text) {
  Layout layout;
  const std::string whole(text);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals), number = word.substr(std::min(word.size(), equals + 1));
    Layout::Part part{std::string(name), 0};
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), part.size);
    const bool is_number = error == std::errc() && end == number.data() + number.size() && part.size > 0;
    const bool is_known = name == "pp" || name == "tp" || name == "dp" || name == "ep";
    const bool is_again = std::any_of(layout.parts.begin(), layout.parts.end(),
                                      [&](const Layout::Part& earlier) { return earlier.name == name; });
    if (!is_known || !is_number || is_again)
      return Failure(
          refusal(fmt::format("--layout {} is not understood at '{}'", printable(whole), printable(word)),
                  "Write the parts from the one that changes fastest: tp=8,dp=16,pp=8. Parts: tp, dp, pp, ep."));
    layout.parts.push_back(std::move(part));
  }
  return layout;
}

// Hashes what was read, not what a job has added since: `bytes` at most.
std::optional<std::uint64_t> hash_of_file(const std::string& path, std::uint64_t bytes) {
  std::ifstream in(path, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> part(std::size_t{1} << 20);
  while (bytes > 0 && in.good()) {
    in.read(part.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, part.size())));
    const auto got = static_cast<std::size_t>(in.gcount());
    XXH3_64bits_update(state.get(), part.data(), got);
    bytes -= got;
  }
  return bytes > 0 && !in.eof() ? std::nullopt : std::optional(XXH3_64bits_digest(state.get()));
}

// The tables, each a CSV file that grows.
class TableFiles {
 public:
  explicit TableFiles(const fs::path& folder) {
    for (std::size_t i = 0; i < digest_tables.size(); ++i) {
      files_[i].open(folder / (std::string(digest_tables[i]) + ".csv"), std::ios::binary);
      files_[i] << digest_columns(static_cast<DigestTable>(i));
    }
  }

  void add(const std::vector<RankDigest>& digests, const Layout& layout, const DigestedFile& file) {
    const std::lock_guard lock(mutex_);
    // A copy's rows are written, too: under its name it is read, and the store counts each content once.
    const bool is_copy = !contents_.insert(file.content).second;
    for (std::size_t i = 0; i < digests.size(); ++i) rows_.add(digests[i], layout.of(digests[i].rank), file, i);
    if (is_copy)
      ++copies_;
    else
      ranks_ += digests.size();
    write();
  }
  void add_unread(const std::string& file, const std::string& error) {
    const std::lock_guard lock(mutex_);
    rows_.add_unread(file, error);
    if (unread_++ == 0) first_unread_ = fmt::format("{}: {}", file, error);
    write();
  }

  const std::string& first_unread() const { return first_unread_; }

  bool close() {
    bool is_written = true;
    for (std::ofstream& file : files_) {
      file.close();
      is_written = is_written && file.good();
    }
    return is_written;
  }
  std::size_t ranks() const { return ranks_; }
  std::size_t unread() const { return unread_; }
  std::size_t copies() const { return copies_; }  // Files with the same content as another one.

 private:
  void write() {
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i] << rows_.take(static_cast<DigestTable>(i));
  }

  std::mutex mutex_;
  DigestRows rows_;
  std::array<std::ofstream, digest_tables.size()> files_;
  std::unordered_set<std::uint64_t> contents_;
  std::size_t ranks_ = 0, unread_ = 0, copies_ = 0;
  std::string first_unread_;
};

void digest_file(const std::string& file, const SourceOptions& options, const Layout& layout, TableFiles& tables) {
  const auto source = read_source(file, options);
  if (!source) return tables.add_unread(file, source.error().text());
  if (!source->trace) return tables.add_unread(file, "It has sizes and stacks, but neither addresses nor times.");
  // A packed file has fewer bytes than were read from it: all of them are hashed.
  const std::uint64_t bytes_read = source->trace->file_bytes;
  const auto content = hash_of_file(file, bytes_read != 0 ? bytes_read : std::numeric_limits<std::uint64_t>::max());
  if (!content) return tables.add_unread(file, "It could not be read again.");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  tables.add(
      digest_of(*source->trace), layout,
      {*content, static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count())});
}

// One file must not end the digest of thousands.
void try_to_digest(const std::string& file, const SourceOptions& options, const Layout& layout, TableFiles& tables) {
  try {
    digest_file(file, options, layout, tables);
  } catch (const std::exception& error) {
    tables.add_unread(file, fmt::format("It could not be digested: {}.", error.what()));
  }
}

void digest_files(const std::vector<NamedFile>& files, unsigned jobs, const SourceOptions& options,
                  const Layout& layout, TableFiles& tables) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) try_to_digest(files[i].path, options, layout, tables);
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < jobs; ++i) workers.emplace_back(work);
  work();
}

std::string name_of_run(const DigestOptions& options) {
  if (!options.run.empty()) return options.run;
  std::error_code error;
  const fs::path first = fs::absolute(options.files.front(), error).lexically_normal();
  return (fs::is_directory(first, error) ? first / "." : first).lexically_normal().parent_path().filename().string();
}

// Names that Hive's partitions have for no name, or that are no text.
bool is_name(const std::string& run) {
  return !run.empty() && strcasecmp(run.c_str(), "null") != 0 && run != "__HIVE_DEFAULT_PARTITION__" &&
         valid_utf8(run) == run;
}

int write_store(const DigestOptions& options, const std::string& tables, const std::string& run) {
  const auto program = find_python_program("fleet/store.py");
  if (!program) return fail(python_program_is_missing("fleet/store.py"));
  const auto done = run_and_read({options.python, *program, tables, options.store, run});
  if (!done) return fail(done.error());
  if (done->exit_code == python_without_duckdb) return exit_usage;
  return done->exit_code == 0 ? exit_ok : exit_unreadable;  // It has said why.
}

}  // namespace

int run_digest(const DigestOptions& options) {
  const auto layout = parse_layout(options.layout);
  if (!layout) return fail(layout.error());
  const auto files = expand_files(options.files);
  if (!files) return fail(files.error());
  const auto reading = source_options({options.max_size, {}, {}});
  if (!reading) return fail(reading.error());
  const std::string run = name_of_run(options);
  if (!is_name(run))
    return fail(refusal(fmt::format("a run can't be named '{}'", printable(run)), "Name it otherwise with --run."));
  const auto folder = TemporaryFolder::make("digest");
  if (!folder) return fail(folder.error());
  TableFiles tables((*folder)->path());
  constexpr unsigned jobs_max = 8;  // Each may need the memory of a large file.
  const unsigned jobs =
      options.jobs != 0 ? options.jobs : std::clamp(std::thread::hardware_concurrency(), 1U, jobs_max);
  digest_files(*files, jobs, *reading, *layout, tables);
  if (!tables.close())
    return fail(refusal("cannot write the tables", "Is there room for temporary files?", (*folder)->path()));
  if (const int code = write_store(options, (*folder)->path(), run); code != exit_ok) return code;
  std::string copies;
  if (tables.copies() > 0)
    copies = tables.copies() == 1 ? " (1 is a copy)" : fmt::format(" ({} are copies)", tables.copies());
  fmt::print(stderr, "hbmscope: {} of {}{} added to run {} of {}\n",
             text_from_count_of(tables.ranks(), "process", "processes"), text_from_count_of(files->size(), "file"),
             copies, printable(run), printable(options.store));
  if (tables.unread() > 0)
    fmt::print(stderr, "hbmscope: {} could not be read; hbmscope fleet lists them. The first: {}\n",
               text_from_count_of(tables.unread(), "file"), printable(tables.first_unread()));
  return tables.ranks() > 0 ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
