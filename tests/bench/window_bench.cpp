// The cost of the window at scale, drawn by any OpenGL that works without a display (LIBGL_ALWAYS_SOFTWARE=1: the
// processor), 1920 x 1080: a training run of ten million events with a million live blocks, compared in the same run
// with two references, the heap map drawn as ImGui rectangles and one quad that fills the screen.
//
//   window_bench FILE [EVENTS] [LIVE]      FILE is a recording of that shape; it is written where it isn't there
//   window_bench --open FILE               only how long any file takes to be opened
//   HBMSCOPE_BENCH_SIZE=3840x2160          another size of the window
#include <GLFW/glfw3.h>
#include <glad/gl.h>
#include <imgui.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/span_text.h"
#include "app/gui/platform/frame_target.h"
#include "app/gui/platform/imgui_host.h"
#include "app/gui/platform/window_loop.h"
#include "tests/bench/scale_recording.h"

namespace {

using namespace hbmscope;
using namespace hbmscope::gui;
using Clock = std::chrono::steady_clock;

int width = 1920, height = 1080;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Times {
  double middle = 0, p99 = 0, most = 0;
};
Times times_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all[all.size() * 99 / 100], all.back()};
}

// A picture blended over the whole screen by a plain shader: the least that a window of this size costs to fill.
class Quad {
 public:
  Quad() {
    const auto compile = [&](GLenum kind, const char* text) {
      const GLuint shader = glCreateShader(kind);
      glShaderSource(shader, 1, &text, nullptr);
      glCompileShader(shader);
      glAttachShader(program_, shader);
      glDeleteShader(shader);
    };
    program_ = glCreateProgram();
    compile(GL_VERTEX_SHADER,
            "#version 330 core\nout vec2 at; void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1);"
            "gl_Position = vec4(at * 2 - 1, 0, 1); }");
    compile(GL_FRAGMENT_SHADER,
            "#version 330 core\nin vec2 at; out vec4 color; uniform sampler2D picture;"
            "void main() { color = texture(picture, at); }");
    glLinkProgram(program_);
    glGenVertexArrays(1, &array_);
    glGenTextures(1, &texture_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    const std::vector<Pixel> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0xFF806040U);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  }
  double draw_ms() const {
    const auto start = Clock::now();
    glViewport(0, 0, width, height);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDisable(GL_SCISSOR_TEST);
    glUseProgram(program_);
    glBindVertexArray(array_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glFinish();
    return ms_since(start);
  }

 private:
  GLuint program_ = 0, array_ = 0, texture_ = 0;
};

// Frames and quads by turns, so that whatever else the machine does takes from both.
struct SideBySideQuad {
  Times frame, quad;
};
SideBySideQuad measure(int frames, const Quad& quad, const std::function<void(int)>& draw) {
  std::vector<double> frame_ms, quad_ms;
  glFinish();  // Frames from before are none of these.
  for (int i = 0; i < frames; ++i) {
    const auto start = Clock::now();
    draw(i);
    glFinish();
    frame_ms.push_back(ms_since(start));
    quad_ms.push_back(quad.draw_ms());
  }
  return {times_of(frame_ms), times_of(quad_ms)};
}

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::printf("%s\n", result.error().text().c_str());
  std::exit(1);
}

void settle(WindowLoop& loop, Session& session) {
  using std::chrono::milliseconds;
  while (session.app().busy()) loop.run_once(milliseconds(20));
  while (loop.run_once(milliseconds(200))) {
  }
  if (session.app().busy()) settle(loop, session);
}

double processor_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print_opening(Session& session, WindowLoop& loop, const std::string& file) {
  const auto start = Clock::now();
  const double start_s = processor_s();
  session.app().commands().push(Command(command::open_paths, {file}));
  while (session.app().state().answers().heap_map.value == nullptr) loop.run_once(std::chrono::milliseconds(20));
  const double map_ms = ms_since(start), map_s = processor_s() - start_s;
  // Without the second in which the window then waits for the delays of tooltips.
  double all_ms = 0, all_s = 0;
  do {
    while (session.app().busy()) loop.run_once(std::chrono::milliseconds(20));
    loop.run_once(std::chrono::milliseconds(0));
    all_ms = ms_since(start), all_s = processor_s() - start_s;
    while (!session.app().busy() && loop.run_once(std::chrono::milliseconds(200))) {
    }
  } while (session.app().busy());
  const auto& map = *session.app().state().answers().heap_map.value;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "opened            %8.0f ms to the heap map (%.1f s of processors), %.0f ms to all that the first window shows "
      "(%.1f s, %llu frames); %s pieces, at most %s\n",
      map_ms, map_s, all_ms, all_s, static_cast<unsigned long long>(loop.frames()),
      text_from_count(static_cast<std::int64_t>(map.spans.spans.size())).c_str(),
      text_from_bytes(std::int64_t{usage.ru_maxrss} * 1024).c_str());
}

void maximise(Session& session, WindowLoop& loop, const char* view) {
  session.app().commands().push(command::set_view_named, view);
  session.app().commands().push(CommandId::maximise);
  settle(loop, session);
}

struct MapTimes {
  SideBySideQuad zoomed, dragged;
};

// Frames in which the picture is another one: the wheel turned once before each; then, zoomed in, the picture dragged
// by some pixels before each.
MapTimes measure_map(Session& session, WindowLoop& loop, const Quad& quad) {
  maximise(session, loop, "heap-map");
  auto* handle = static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle);
  glfwFocusWindow(handle);
  ImGuiIO& io = ImGui::GetIO();
  const auto point_at = [&](double x, double y) {
    glfwSetCursorPos(handle, x, y);
    io.AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
  };
  const auto draw = [&] {
    session.update();
    session.draw();
  };
  point_at(width / 2.0, height / 2.0);
  for (int i = 0; i < 3; ++i) draw();
  MapTimes times;
  times.zoomed = measure(120, quad, [&](int frame) {
    io.AddMouseWheelEvent(0, frame % 40 < 20 ? 0.25F : -0.25F);
    draw();
  });
  io.AddMouseWheelEvent(0, 1);
  draw();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  draw();
  times.dragged = measure(120, quad, [&](int frame) {
    const double by = frame % 40 < 20 ? frame % 20 : 20 - frame % 20;
    point_at(width / 2.0 + 7 * by, height / 2.0 + 5 * by);
    draw();
  });
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  session.app().commands().push(CommandId::maximise);
  settle(loop, session);
  return times;
}

SideBySideQuad measure_timeline(Session& session, WindowLoop& loop, const Quad& quad) {
  const TimelineSpan whole = session.app().state().answers().timeline.value->whole;
  double begin = 0, length = static_cast<double>(whole.end);
  const SideBySideQuad times = measure(120, quad, [&](int frame) {
    const double by = frame % 60 < 20 ? 1.25 : frame % 60 < 40 ? 1 : 0.8;
    begin += by == 1 ? length / 60 : length * (1 - 1 / by) / 2;
    length /= by;
    begin = std::clamp(begin, 0.0, static_cast<double>(whole.end) - length);
    session.app().commands().push(command::show_span, {std::llround(begin), std::llround(begin + length)});
    session.update();
    session.draw();
  });
  session.app().commands().push(command::show_span, {});
  settle(loop, session);
  return times;
}

// Until every view shows it, and until also all that the address ever held is known, which is a pass over the stream.
struct SelectionTimes {
  Times shown, known;
};
SelectionTimes measure_selections(Session& session, WindowLoop& loop) {
  const Answers& answers = session.app().state().answers();
  const auto map = answers.heap_map.value;
  std::mt19937_64 random(3);
  std::vector<double> shown, known;
  while (shown.size() < 15) {
    const HeapSpan& span = map->spans.spans[random() % map->spans.spans.size()];
    if (span.kind != SpanKind::block) continue;
    glFinish();  // Frames from before are not this selection's.
    const auto start = Clock::now();
    session.app().commands().push(command::select_address, {span.begin});
    do {
      loop.run_once(std::chrono::milliseconds(5));
    } while (!session.app().commands().empty() || answers.detail.pending() || answers.heap_map.pending());
    glFinish();
    shown.push_back(ms_since(start));
    while (session.app().busy()) loop.run_once(std::chrono::milliseconds(5));
    glFinish();
    known.push_back(ms_since(start));
  }
  settle(loop, session);
  return {times_of(shown), times_of(known)};
}

std::uint64_t count_idle_frames(Session& session, WindowLoop& loop) {
  settle(loop, session);
  const std::uint64_t before = loop.frames();
  const auto start = Clock::now();
  while (ms_since(start) < 3000) loop.run_once(std::chrono::milliseconds(100));
  return loop.frames() - before;
}

SideBySideQuad measure_rectangles(const HeapSpans& spans) {
  const auto window = must(GlWindow::open(Surface::offscreen, width, height, "window_bench"));
  const auto host = must(ImGuiHost::start(*window));
  const FrameTarget target = must(FrameTarget::make(width, height));
  const Quad quad;
  const HeapMapView view = fit_heap_map(spans, width, height);
  const HeapLine line(spans, view.bytes_per_px);
  return measure(7, quad, [&](int) {
    host->begin_frame();
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    for (const HeapSpan& span : spans.spans) {
      const double begin = line.px_of(span.begin), end = std::max(begin + 1, line.px_of_end(span.end()));
      const auto row = static_cast<std::int64_t>(begin) / view.width;
      const auto x = static_cast<float>(begin - static_cast<double>(row * view.width));
      const auto y = static_cast<float>(row * view.pitch);
      list.AddRectFilled({x, y}, {x + static_cast<float>(end - begin), y + static_cast<float>(view.pitch - 1)},
                         0xFF000000U | (span.shade * 0x1F2F3FU));
    }
    target.bind();
    glViewport(0, 0, width, height);
    host->forget_frame();
    host->end_frame({});
  });
}

std::unique_ptr<Session> open_session() {
  auto session = must(Session::open({.surface = Surface::offscreen,
                                     .width = width,
                                     .height = height,
                                     .scale = 1,
                                     .remember_layout = false,
                                     .leaves_no_trace = true}));
  std::printf("drawn by          %s\n", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
  return session;
}

void run(const std::string& file) {
  std::shared_ptr<const HeapMapAnswer> map;
  MapTimes map_times;
  SideBySideQuad timeline;
  SelectionTimes selection;
  std::uint64_t idle_frames = 0;
  {
    const auto session = open_session();
    WindowLoop loop(*session);
    print_opening(*session, loop, file);
    idle_frames = count_idle_frames(*session, loop);
    selection = measure_selections(*session, loop);
    const Quad quad;
    timeline = measure_timeline(*session, loop, quad);
    map_times = measure_map(*session, loop, quad);
    map = session->app().state().answers().heap_map.value;
  }
  const SideBySideQuad rectangles = measure_rectangles(map->spans);
  const SideBySideQuad& zoomed = map_times.zoomed;
  std::printf("full-screen quad  %8.1f ms, at most %.1f, between the frames of the heap map\n", zoomed.quad.middle,
              zoomed.quad.most);
  std::printf("map as rectangles %8.1f ms a frame, %.1f quads\n", rectangles.frame.middle,
              rectangles.frame.middle / rectangles.quad.middle);
  const auto print_map = [&](const char* what, const SideBySideQuad& times) {
    std::printf(
        "%-17s %8.1f ms a frame, p99 %.1f, at most %.1f: 1/%.0f of the rectangles, %.1f quads (target: 25 ms, p99 "
        "50)\n",
        what, times.frame.middle, times.frame.p99, times.frame.most, rectangles.frame.middle / times.frame.middle,
        times.frame.middle / times.quad.middle);
  };
  print_map("heap map, zoomed", zoomed);
  print_map("heap map, dragged", map_times.dragged);
  std::printf(
      "timeline moved    %8.1f ms a frame, at most %.1f: %.1f quads, the longest %.1f of the longest (target: at most "
      "50 ms or 2 quads)\n",
      timeline.frame.middle, timeline.frame.most, timeline.frame.middle / timeline.quad.middle,
      timeline.frame.most / timeline.quad.most);
  std::printf(
      "a block selected  %8.1f ms until all views show it, at most %.1f (target: 100 ms); its address's past %.0f ms\n",
      selection.shown.middle, selection.shown.most, selection.known.middle);
  std::printf("idle for 3 s      %8llu frames (target: 0)\n", static_cast<unsigned long long>(idle_frames));
}

}  // namespace

int main(int argc, char** argv) {
  bench::ScaleShape shape;
  if (argc > 2) shape.events = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) shape.live_most = std::strtoull(argv[3], nullptr, 10);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (const char* size = std::getenv("HBMSCOPE_BENCH_SIZE"); size != nullptr)
    if (std::sscanf(size, "%dx%d", &width, &height) != 2 || width < 200 || height < 150) {
      std::fprintf(stderr, "HBMSCOPE_BENCH_SIZE=%s: not like 3840x2160\n", size);
      return 2;
    }
  if (argc == 3 && std::string_view(argv[1]) == "--open") {
    const auto session = open_session();
    WindowLoop loop(*session);
    print_opening(*session, loop, argv[2]);
    return 0;
  }
  if (argc < 2 || shape.events == 0 || shape.live_most < 100) {
    std::fprintf(stderr, "window_bench FILE [EVENTS] [LIVE] | --open FILE\n");
    return 2;
  }
  if (!std::filesystem::exists(argv[1]))
    if (const auto failure = bench::write_scale_recording(argv[1], shape)) {
      std::fprintf(stderr, "%s: %s\n", argv[1], failure->c_str());
      return 1;
    }
  run(argv[1]);
}
