// Connects the commands and the window, which must not know each other.
#include "app/cli/parser/parser.h"
#include "app/heap_pages.h"

#ifdef HBMSCOPE_GUI
#include <utility>

#include "app/cli/version.h"
#include "app/gui/platform/window.h"

namespace {

hbmscope::Result<int> open_window(const hbmscope::cli::OpenRequest& request) {
  hbmscope::gui::WindowRequest window;
  window.files = request.files;
  window.as_one_job = request.as_one_job;
  window.baseline = request.baseline;
  window.other_side = request.other_side;
  window.other_at = request.other_at;
  window.other_pin = request.other_pin;
  window.other_heap = request.other_heap;
  window.what_if = request.what_if;
  window.other_what_if = request.other_what_if;
  window.tiles = request.tiles;
  window.lock = request.lock;
  window.heap = request.heap;
  window.view = request.view;
  window.select = request.select;
  window.where = request.where;
  window.from = request.from;
  window.find = request.find;
  window.pin = request.pin;
  window.color = request.color;
  window.rows = request.rows;
  window.all_devices = request.all_devices;
  window.addresses = request.addresses;
  window.at = request.at;
  window.theme = request.theme;
  window.scale = request.scale;
  window.demo = request.demo;
  window.second_demo = request.second_demo;
  window.screenshot = request.screenshot;
  window.width = request.width;
  window.height = request.height;
  window.live = {request.live_memory_max, request.live_from_now};
  window.about = hbmscope::cli::about_text(true);
  return hbmscope::gui::run_window(window);
}

}  // namespace

int main(int argc, char** argv) {
  hbmscope::use_large_heap_pages();
  return hbmscope::cli::run(argc, argv, {open_window, hbmscope::gui::view_names(), hbmscope::gui::coloring_names()});
}
#else
int main(int argc, char** argv) {
  hbmscope::use_large_heap_pages();
  return hbmscope::cli::run(argc, argv, {});
}
#endif
