// Connects the commands and the window, which must not know each other.
#include "app/cli/parser/parser.h"
#include "app/heap_pages.h"

#ifdef HBMSCOPE_GUI
#include <utility>

#include "app/gui/platform/window.h"

namespace {

hbmscope::Result<int> open_window(const hbmscope::cli::OpenRequest& request) {
  hbmscope::gui::WindowRequest window;
  window.files = request.files;
  window.baseline = request.baseline;
  window.beside = request.beside;
  window.beside_at = request.beside_at;
  window.beside_pin = request.beside_pin;
  window.beside_heap = request.beside_heap;
  window.what_if = request.what_if;
  window.beside_what_if = request.beside_what_if;
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
  window.at = request.at;
  window.theme = request.theme;
  window.scale = request.scale;
  window.demo = request.demo;
  window.demo_beside = request.demo_beside;
  window.screenshot = request.screenshot;
  window.width = request.width;
  window.height = request.height;
  window.live = {request.live_memory_max, request.live_from_now};
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
