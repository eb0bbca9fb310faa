// A document as a part of a page, and the head of all pages: one style, dark or light as the reader prefers, and
// nothing from the network.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/document/document.h"

namespace hbmscope {

inline constexpr std::string_view html_style = R"(<style>
:root{color-scheme:light dark;--bg:#F6F7F9;--panel:#FFFFFF;--text:#1B2027;--dim:#56616D;--bar:#4C84DB;--line:#DDE2E7}
@media(prefers-color-scheme:dark){
 :root{--bg:#0F1318;--panel:#1B2027;--text:#E6EAEE;--dim:#9AA5B1;--bar:#7397E8;--line:#2B333D}}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--bg);color:var(--text);
 font:14px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:28px 0 8px}.dim{color:var(--dim)}
table{border-collapse:collapse;width:100%;background:var(--panel)}
th,td{padding:4px 8px;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{cursor:pointer;position:sticky;top:0;background:var(--panel);white-space:nowrap}
td.b{width:15%}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.share{display:inline-block;height:9px;background:var(--bar);vertical-align:middle}
code{font-size:12px;word-break:break-all}
input{font:inherit;padding:4px 8px;width:320px;background:var(--panel);color:inherit;border:1px solid var(--line)}
.bar{display:flex;height:22px;background:var(--panel);border:1px solid var(--line)}
.bar div{height:100%}.bar .free{background:transparent}.key{display:inline-block;width:10px;height:10px;margin-right:6px}
.cause{font-size:17px;margin:8px 0 16px}ol li{margin:8px 0}
.flame{width:100%;height:auto;background:var(--panel)}.flame .box{cursor:pointer}
.flame text{pointer-events:none;fill:#101418}.flame .dimmed{opacity:.25}
</style>)";

std::string xml_escaped(std::string_view text);

// The title is a heading of the page, those of its parts are smaller. Bars are drawn behind shares.
std::string html_from_document(const Document& document);
// The table with its title. `id`: of the table, for a script that sorts it by the data-v of its cells.
std::string html_from_table(const Table& table, std::string_view id = {});

// Up to and including <body>.
inline std::string html_head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><title>{} - hbmscope</title>{}</head><body>",
      xml_escaped(title), html_style);
}

}  // namespace hbmscope
