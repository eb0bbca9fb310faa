#include "app/gui/core/export_files.h"

#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/units/format.h"
#include "analysis/write/trace_table.h"
#include "analysis/write/write.h"
#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

std::string refusal(const std::string& path) {
  return "Can't write " + path + ". Is the folder there, and writable for you?";
}
std::string done(const std::string& path, std::uint64_t bytes) {
  return "Wrote " + path + " (" + text_from_bytes(static_cast<std::int64_t>(bytes)) + ").";
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

// The same rows as `hbmscope export --to csv --what ...`, up to the selected time.
void start_trace_export(AppState& state, WorkerPool& pool, const std::string& path, TraceTable table) {
  const auto moment = ready_moment(state);
  if (moment == nullptr) {
    state.window.notice = "Wait for the heap map: the current time is still being computed.";
    return;
  }
  state.window.notice = "Writing " + path + " ...";
  pool.post([&state, path, moment, table]() -> WorkerPool::Finish {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    std::uint64_t bytes = 0;
    const ExportEnd end = write_trace_csv(*moment->trace, moment->states, table, [&](std::string_view text) {
      bytes += text.size();
      return static_cast<bool>(out.write(text.data(), static_cast<std::streamsize>(text.size())));
    });
    out.close();
    const std::string notice = end == ExportEnd::whole && out ? done(path, bytes) : refusal(path);
    return [&state, notice] { state.window.notice = notice; };
  });
}

}  // namespace

std::string unused_path(const std::filesystem::path& wanted) {
  std::filesystem::path path = wanted;
  std::error_code ignored;
  for (int i = 2; std::filesystem::exists(path, ignored); ++i)
    path = wanted.parent_path() / (wanted.stem().string() + "-" + std::to_string(i) + wanted.extension().string());
  return path.string();
}

std::string suggested_export_name(const AppState& state) {
  const Source* source = state.source();
  std::string name = source == nullptr ? "profile" : source->name();
  name = name.substr(0, name.find('.'));
  const std::string& format = state.window.export_format;
  if (format == "view.png" || format == "figures.csv") name += "." + std::string(row_of(state.position().view).key);
  if (format == "view.png") return name + ".png";
  if (format == "figures.csv") return name + ".csv";
  return name + (format == "pprof" ? ".filtered.pprof.gz" : "." + format);
}

void start_picture(AppState& state, WorkerPool& pool, const std::string& format) {
  state.window.export_format = format;
  std::error_code ignored;
  start_export(state, pool, unused_path(std::filesystem::current_path(ignored) / suggested_export_name(state)));
}

void start_export(AppState& state, WorkerPool& pool, const std::string& path) {
  WindowState& window = state.window;
  window.dialog = WindowState::Dialog::none;
  if (path.empty()) return;
  for (const Source& source : state.sources)
    for (const std::string& file : source.files())
      if (is_same_file(file, path)) {
        window.notice = path + " is open here, and is not written over.";
        return;
      }
  if (window.export_format == "png" || window.export_format == "view.png") {
    window.picture_file = path;
    window.picture_is_of_view = window.export_format == "view.png";
    ++window.picture_serial;
    return;
  }
  if (window.export_format == "figures.csv") {
    window.figures_file = path;
    ++window.copy_serial;  // The view in front calls write_figures.
    return;
  }
  if (window.export_format == "blocks.csv") return start_trace_export(state, pool, path, TraceTable::blocks);
  if (window.export_format == "events.csv") return start_trace_export(state, pool, path, TraceTable::events);
  const auto format = parse_export_format(window.export_format);
  const auto view = state.answers().view.value;
  if (!format || !view) return;
  window.notice = "Writing " + path + " ...";
  pool.post([&state, path, view, moment = ready_moment(state), format = *format]() -> WorkerPool::Finish {
    std::string text;
    if (format == ExportFormat::json && moment != nullptr) {
      nlohmann::ordered_json of_trace;
      AnswerInput input{
          .view = *view, .trace = moment->trace.get(), .states = &moment->states, .moment = &moment->moment};
      input.audience = Audience::programs;
      // Only answers with flags can refuse.
      if (add_trace_answers(of_trace, input)) text = write_json(*view, of_trace);
    } else {
      text = write_profile(*view, format);
    }
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    const std::string notice = out ? done(path, text.size()) : refusal(path);
    return [&state, notice] { state.window.notice = notice; };
  });
}

void write_text(AppState& state, WorkerPool& pool, const std::string& path, std::string text) {
  if (path.empty()) return;
  pool.post([&state, path, text = std::move(text)]() -> WorkerPool::Finish {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    const std::string notice = out ? done(path, text.size()) : refusal(path);
    return [&state, notice] { state.window.notice = notice; };
  });
}

}  // namespace hbmscope::gui
