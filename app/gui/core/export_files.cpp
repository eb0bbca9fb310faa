// What the window writes beside settings: a profile in another format, the rows of a trace, the figures of a view.
#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/units/format.h"
#include "analysis/write/json_trace.h"
#include "analysis/write/write.h"
#include "app/gui/core/app_impl.h"

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

}  // namespace

void App::Impl::start_export(const std::string& path) {
  WindowState& window = state.window;
  window.dialog = WindowState::Dialog::none;
  if (path.empty()) return;
  for (const Source& source : state.sources)
    if (is_same_file(source.path, path)) {
      window.notice = path + " is open here, and is not written over.";
      return;
    }
  if (window.export_format == "png") {
    window.picture_file = path;
    ++window.picture_serial;
    return;
  }
  if (window.export_format == "figures.csv") {
    window.figures_file = path;
    ++window.copy_serial;  // The view in front answers with write_figures.
    return;
  }
  if (window.export_format == "blocks.csv") return start_trace_export(path, TraceTable::blocks);
  if (window.export_format == "events.csv") return start_trace_export(path, TraceTable::events);
  const auto format = parse_export_format(window.export_format);
  const auto view = state.answers().view.value;
  if (!format || !view) return;
  window.notice = "Writing " + path + " ...";
  pool_.post([this, path, view, moment = ready_moment(), format = *format]() -> WorkerPool::Finish {
    std::string text;
    if (format == ExportFormat::json && moment != nullptr) {
      nlohmann::ordered_json of_trace;
      add_moment(of_trace, *moment->trace, moment->moment, moment->states);
      text = write_json(*view, of_trace);
    } else {
      text = write_profile(*view, format);
    }
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    const std::string notice = out ? done(path, text.size()) : refusal(path);
    return [this, notice] { state.window.notice = notice; };
  });
}

// The same rows as `hbmscope export --to csv --what ...`, up to the moment.
void App::Impl::start_trace_export(const std::string& path, TraceTable table) {
  const auto moment = ready_moment();
  if (moment == nullptr) {
    state.window.notice = "The moment is still being worked out.";
    return;
  }
  state.window.notice = "Writing " + path + " ...";
  pool_.post([this, path, moment, table]() -> WorkerPool::Finish {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    std::uint64_t bytes = 0;
    const ExportEnd end = write_trace_csv(*moment->trace, moment->states, table, [&](std::string_view text) {
      bytes += text.size();
      return static_cast<bool>(out.write(text.data(), static_cast<std::streamsize>(text.size())));
    });
    out.close();
    const std::string notice = end == ExportEnd::whole && out ? done(path, bytes) : refusal(path);
    return [this, notice] { state.window.notice = notice; };
  });
}

void App::Impl::write_text(const std::string& path, std::string text) {
  if (path.empty()) return;
  pool_.post([this, path, text = std::move(text)]() -> WorkerPool::Finish {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    const std::string notice = out ? done(path, text.size()) : refusal(path);
    return [this, notice] { state.window.notice = notice; };
  });
}

}  // namespace hbmscope::gui
