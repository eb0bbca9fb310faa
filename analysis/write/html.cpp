// One self-contained page: no network, no fonts, no library. A short script at the end makes the table sort and filter
// and the flame graph zoom; without script everything is still readable.
#include <fmt/format.h>

#include "analysis/answers/top.h"
#include "analysis/document/html.h"
#include "analysis/query/summary.h"
#include "analysis/units/format.h"
#include "analysis/write/flame_svg.h"
#include "analysis/write/write.h"

namespace hbmscope {
namespace {

constexpr std::size_t top_rows_as_text = 125;  // A page has four times as many.

constexpr std::string_view script = R"(<script>
const table=document.getElementById('top'),body=table.tBodies[0];
table.tHead.addEventListener('click',e=>{
 const i=e.target.cellIndex;if(i===undefined)return;
 const number=e.target.classList.contains('n'),key=r=>number?Number(r.cells[i].dataset.v):r.cells[i].textContent;
 const before=(x,y)=>number?y-x:x<y?-1:x>y?1:0;
 body.append(...[...body.rows].sort((a,b)=>before(key(a),key(b))))});
const boxes=[...document.querySelectorAll('.box')],W=1200;
const find=document.getElementById('find');
find.addEventListener('input',()=>{
 const t=find.value.toLowerCase(),misses=e=>!!t&&!e.textContent.toLowerCase().includes(t);
 for(const r of body.rows)r.hidden=misses(r);
 for(const g of boxes)g.classList.toggle('dimmed',misses(g))});
function zoom(x,w,d){for(const g of boxes){
 const bx=+g.dataset.x,bw=+g.dataset.w,bd=+g.dataset.d;
 let l=(bx-x)/w*W,r=(bx+bw-x)/w*W;
 if(bd<d&&bx<=x+1e-9&&bx+bw>=x+w-1e-9){l=0;r=W}
 const hide=r<=0.2||l>=W-0.2||r-l<0.2;
 g.style.display=hide?'none':'';if(hide)continue;
 l=Math.max(0,l);r=Math.min(W,r);
 const rect=g.querySelector('rect'),text=g.querySelector('text');
 rect.setAttribute('x',l);rect.setAttribute('width',Math.max(.3,r-l-.5));text.setAttribute('x',l+3);
 const room=Math.floor((r-l-6)/6.6),name=text.dataset.n;
 text.textContent=name.length<=room?name:room<3?'':name.slice(0,room-1)+'…'}}
for(const g of boxes)g.addEventListener('click',()=>zoom(+g.dataset.x,+g.dataset.w,+g.dataset.d));
</script>)";

// A value with its unit; the unit comes from the file, so it is escaped.
std::string value_html(std::int64_t value, const std::string& unit) {
  return xml_escaped(text_from_value(value, unit));
}

std::string group_table(const std::vector<GroupRow>& rows, const char* head, const std::string& unit,
                        std::int64_t whole) {
  std::string html = fmt::format(
      "<table><thead><tr><th>{}</th><th class=n>{}</th><th class=n>share</th><th class=n>count</th><th "
      "style=\"width:40%\"></th></tr></thead><tbody>",
      head, xml_escaped(unit));
  for (const GroupRow& group : rows) {
    const double share = whole > 0 ? 100.0 * static_cast<double>(group.weight.bytes) / static_cast<double>(whole) : 0;
    html += fmt::format(
        "<tr><td>{}</td><td class=n title=\"{}\">{}</td><td class=n>{}</td><td class=n>{}{}</td><td><span class=share "
        "style=\"width:{:.1f}%\"></span></td></tr>",
        group.name ? xml_escaped(*group.name) : "<span class=dim>unknown</span>",
        exact_text_from_count(group.weight.bytes), value_html(group.weight.bytes, unit),
        text_from_share(group.weight.bytes, whole), text_from_count(group.weight.count),
        group.weight.unknown > 0 ? fmt::format(" + {} of unknown size", text_from_count(group.weight.unknown)) : "",
        std::max(0.0, share));
  }
  return html + "</tbody></table>";
}

std::string top_table(const ProfileView& view) {
  Table table = describe_top(view, shared(compute_top(view)), whole_of(view));
  table.shown = top_rows_as_text;
  return html_from_table(table, "top");
}

std::string import_table(const ImportStatistics& import) {
  std::string html =
      "<h2>Import</h2><table><thead><tr><th>name</th><th>severity</th><th class=n>count</th><th>what it "
      "means</th></tr></thead><tbody>";
  for (const ImportStatistic& s : import.rows())
    html += fmt::format("<tr><td>{}</td><td>{}</td><td class=n>{}</td><td>{}</td></tr>", xml_escaped(s.name),
                        text_from_severity(s.severity), text_from_count(s.count), xml_escaped(s.remedy));
  return html + "</tbody></table>";
}

}  // namespace

std::string write_html(const ProfileView& view) {
  const ProfileSummary summary = compute_summary(view);
  std::string files;
  for (const std::string& file : view.profile->files) files += (files.empty() ? "" : ", ") + file;
  std::string html = html_head(files);
  html += fmt::format("<h1>{}</h1><p class=dim>{}</p>", xml_escaped(summary.headline), xml_escaped(files));
  for (const std::string& note : summary.notes) html += fmt::format("<p class=dim>{}</p>", xml_escaped(note));
  if (view.is_filtered)
    html += fmt::format("<p>Filtered: showing {} of {}.</p>", value_html(view.selected.bytes, summary.unit),
                        value_html(view.total.bytes, summary.unit));
  html += "<h2>By device</h2>" + group_table(summary.by_device, "device", summary.unit, view.selected.bytes);
  html += "<h2>By kind</h2>" + group_table(summary.by_kind, "kind", summary.unit, view.selected.bytes);
  html +=
      "<h2>Flame graph</h2><p><input id=find placeholder=\"Find a function or file\"></p><p class=dim>From the "
      "outermost frame down; the width is the memory held. Click a box to zoom in, the topmost box to zoom out.</p>";
  html += write_flame_svg(view, {1200, false, 1e-4});
  html += top_table(view) + import_table(view.profile->import);
  return html + std::string(script) + "</body></html>\n";
}

}  // namespace hbmscope
