// Exports of a profile as seen through a view. Each returns the whole file as text or bytes; writing it is the
// caller's business.
#pragma once

#include <string>
#include <string_view>

#include "analysis/query/profile_view.h"

namespace hbmscope {

enum class ExportFormat { pprof, folded, svg, csv, json, html };
Result<ExportFormat> parse_export_format(std::string_view name);

std::string write_pprof(const ProfileView& view);   // gzipped; hidden frames and left-out samples stay out
std::string write_folded(const ProfileView& view);  // "outer;inner bytes", one stack a line, for flamegraph.pl, speedscope
std::string write_svg(const ProfileView& view);     // a flame graph with titles, no script
std::string write_csv(const ProfileView& view);     // the top table, RFC 4180
std::string write_html(const ProfileView& view);    // summary, top and flame graph in one self-contained page

}  // namespace hbmscope
