#include "analysis/write/html_diagnosis.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "analysis/write/flame_svg.h"
#include "analysis/write/html_page.h"

namespace hbmscope {
namespace {

constexpr std::size_t holders_max = 20, blockers_max = 20;

std::string bytes_cell(std::uint64_t bytes) {
  return fmt::format("<td class=n title=\"{}\">{}</td>", exact_text_from_bytes(signed_from(bytes)),
                     text_from_bytes(bytes));
}
std::string bytes_cell(std::int64_t bytes) {
  return fmt::format("<td class=n title=\"{}\">{}</td>", exact_text_from_bytes(bytes), text_from_bytes(bytes));
}
double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
std::string share_cells(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("<td class=n>{0:.1f} %</td><td><span class=share style=\"width:{0:.1f}%\"></span></td>",
                     percent_of(part, whole));
}

std::string why_html(const Diagnosis& diagnosis) {
  std::string html = "<h2>Why</h2><ul>";
  for (const Evidence& one : diagnosis.cause.evidence) html += "<li>" + xml_escaped(one.text) + "</li>";
  if (!diagnosis.row.own_line.empty())
    html += "<li>Requested by <code>" + xml_escaped(diagnosis.row.own_line) + "</code></li>";
  html += "</ul>";
  if (!diagnosis.row.reason.empty()) html += "<p class=dim>" + xml_escaped(diagnosis.row.reason) + "</p>";
  return html;
}

std::string advice_html(const std::vector<Advice>& advice) {
  if (advice.empty()) return {};
  std::string html = "<h2>What would help</h2><ol>";
  for (const Advice& one : advice) {
    html += fmt::format("<li><b>{}</b>{}<br>{}", xml_escaped(one.change),
                        mark_of(one).empty() ? "" : fmt::format(" <span class=dim>({})</span>", mark_of(one)),
                        xml_escaped(one.why));
    if (!one.price.empty()) html += " Price: " + xml_escaped(one.price);
    if (!one.proof_text.empty()) html += "<br><span class=dim>" + xml_escaped(one.proof_text) + "</span>";
    html += "</li>";
  }
  return html + "</ol>";
}

std::string holders_html(const Holders& holders) {
  if (holders.rows.empty()) return {};
  std::string html = fmt::format(
      "<h2>What held the memory: {} in use</h2><table><thead><tr><th class=n>bytes</th><th class=n>share</th><th "
      "style=\"width:25%\"></th><th class=n>blocks</th><th>what</th></tr></thead><tbody>",
      text_from_bytes(holders.bytes));
  for (std::size_t i = 0; i < std::min(holders_max, holders.rows.size()); ++i) {
    const Holder& one = holders.rows[i];
    html += "<tr>" + bytes_cell(one.bytes) + share_cells(one.bytes, holders.bytes) +
            fmt::format("<td class=n>{}</td><td><code>{}</code></td></tr>", text_from_count(one.blocks),
                        xml_escaped(one.name));
  }
  html += "</tbody></table>";
  if (holders.rows.size() > holders_max)
    html += fmt::format("<p class=dim>and {} more</p>", text_from_count(holders.rows.size() - holders_max));
  return html;
}

std::string budget_html(const std::optional<DeviceBudget>& budget) {
  if (!budget) return {};
  constexpr std::string_view colors[] = {"#7397E8", "#C8A98A", "#56616D", "#B07AD8", "#8A8F98", "#D87A7A"};
  std::string html = fmt::format("<h2>The device's {} at that time</h2><div class=bar>",
                                 text_from_bytes(budget->total_bytes)),
              rows;
  std::size_t color = 0;
  for (const BudgetRow& row : budget->rows) {
    const bool is_free = row.part == BudgetPart::free;
    const std::string fill = is_free ? "transparent" : std::string(colors[color++ % std::size(colors)]);
    html += fmt::format("<div style=\"width:{:.2f}%;background:{}\" title=\"{}\"></div>",
                        percent_of(row.bytes, budget->total_bytes + budget->over_bytes), fill, xml_escaped(row.name));
    rows += "<tr>" + bytes_cell(row.bytes) +
            fmt::format(
                "<td class=n>{:.1f} %</td><td><span class=key style=\"background:{};border:1px solid "
                "var(--line)\"></span>{}{}</td></tr>",
                percent_of(row.bytes, budget->total_bytes), fill, xml_escaped(row.name),
                row.is_derived ? " <span class=dim>(the rest)</span>" : "");
  }
  html += "</div><table><thead><tr><th class=n>bytes</th><th class=n>share</th><th>what</th></tr></thead><tbody>" +
          rows + "</tbody></table>";
  if (budget->over_bytes > 0)
    html += fmt::format("<p>over by {}: the sources contradict each other</p>", text_from_bytes(budget->over_bytes));
  return html;
}

std::string costs_html(const std::optional<PoolCosts>& costs) {
  if (!costs) return {};
  std::string html = fmt::format(
      "<h2>Why the pool has {}, and {} was requested{}</h2><table><thead><tr><th class=n>bytes</th><th "
      "class=n>alone</th>"
      "<th>what</th><th></th></tr></thead><tbody>",
      text_from_bytes(costs->pool_bytes), text_from_bytes(costs->requested_bytes),
      costs->confidence == Confidence::checked ? "" : " (approximate)");
  for (const PoolCostPart& part : costs->parts)
    html +=
        "<tr>" + bytes_cell(part.bytes) +
        (part.cost == PoolCost::fragmentation ? "<td></td>" : bytes_cell(part.alone_bytes)) +
        fmt::format("<td>{}</td><td class=dim>{}</td></tr>", text_from_pool_cost(part.cost), explanation_of(part.cost));
  return html +
         "</tbody></table><p class=dim>bytes: by how much the pool shrinks in a replay when these rules are lifted one "
         "after another; alone: when only this one is</p>";
}

std::string blockers_html(const Trace& trace, const Diagnosis& diagnosis) {
  const auto& place = diagnosis.facts.place;
  if (!place || place->blocks.empty()) return {};
  const Definitions& definitions = trace.streams[diagnosis.stream].definitions();
  std::string html = fmt::format(
      "<h2>Blocking allocations: {}, {}</h2><p class=dim>The fewest bytes whose release makes room.</p><table><thead>"
      "<tr><th>address</th><th class=n>bytes</th><th>your code</th></tr></thead><tbody>",
      text_from_count_of(place->blocks.size(), "block"), text_from_bytes(place->in_use_bytes));
  std::vector<LiveBlock> blocks = place->blocks;
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const LiveBlock& a, const LiveBlock& b) { return a.size > b.size; });
  for (std::size_t i = 0; i < std::min(blockers_max, blocks.size()); ++i)
    html += fmt::format("<tr><td><code>{:#x}</code></td>", blocks[i].address) + bytes_cell(blocks[i].size) +
            fmt::format("<td><code>{}</code></td></tr>", xml_escaped(user_code_text(definitions, blocks[i].stack)));
  html += "</tbody></table>";
  if (blocks.size() > blockers_max)
    html += fmt::format("<p class=dim>and {} more</p>", text_from_count(blocks.size() - blockers_max));
  return html;
}

}  // namespace

std::string html_from_diagnosis(const Trace& trace, const Diagnosis& first, const std::vector<std::string>& others) {
  std::string files;
  for (const std::string& file : trace.files) files += (files.empty() ? "" : ", ") + file;
  const std::string heap = first.facts.heap_name.empty() ? std::string() : " on " + first.facts.heap_name;
  std::string html = html_head("Out of memory: " + files);
  html += fmt::format("<h1>Out of memory{}</h1><p class=dim>{}</p><p class=cause>{}</p>", xml_escaped(heap),
                      xml_escaped(files), xml_escaped(first.cause.sentence));
  html += why_html(first) + advice_html(first.advice) + holders_html(first.holders) + budget_html(first.budget) +
          costs_html(first.pool_costs) + blockers_html(trace, first);
  if (!first.cause.unknowns.empty())
    html += "<h2>Unknown</h2><p>" + xml_escaped(first.cause.unknowns) + "</p><p>" +
            xml_escaped(first.cause.how_to_know) + "</p>";
  if (!others.empty()) {
    html += "<h2>The other failures</h2><ul>";
    for (const std::string& other : others) html += "<li>" + xml_escaped(other) + "</li>";
    html += "</ul>";
  }
  return html + "</body></html>\n";
}

}  // namespace hbmscope
