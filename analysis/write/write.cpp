#include "analysis/write/write.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/top.h"
#include "analysis/document/json.h"
#include "analysis/write/json.h"

namespace hbmscope {
namespace {

struct Name {
  std::string_view text;
  ExportFormat format;
};
constexpr std::array<Name, 6> names = {{{"pprof", ExportFormat::pprof},
                                        {"folded", ExportFormat::folded},
                                        {"svg", ExportFormat::svg},
                                        {"csv", ExportFormat::csv},
                                        {"json", ExportFormat::json},
                                        {"html", ExportFormat::html}}};

}  // namespace

std::string write_json(const ProfileView& view, const nlohmann::ordered_json& more) {
  nlohmann::ordered_json json = json_from_view(view);
  json.update(more);
  json["rows"] = json_from_table(describe_top(view, shared(compute_top(view)), whole_of(view)));
  return text_from_json(json);
}

Result<ExportFormat> parse_export_format(std::string_view name) {
  for (const Name& known : names)
    if (known.text == name) return known.format;
  return Failure(refusal(fmt::format("unknown export format '{}'", name),
                         "Known: pprof, folded, svg, csv, json, html; of a trace also perfetto, parquet, prometheus and otlp."));
}

std::string write_profile(const ProfileView& view, ExportFormat format) {
  switch (format) {
    case ExportFormat::pprof: return write_pprof(view);
    case ExportFormat::folded: return write_folded(view);
    case ExportFormat::svg: return write_svg(view);
    case ExportFormat::csv: return write_csv(view);
    case ExportFormat::json: return write_json(view, nlohmann::ordered_json::object());
    case ExportFormat::html: return write_html(view);
  }
  return {};
}

}  // namespace hbmscope
