#include "app/gui/platform/session.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <sys/utsname.h>

#include <algorithm>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/core/settings.h"
#include "app/gui/look/theme.h"
#include "app/gui/platform/frame_pacer.h"
#include "app/gui/platform/frame_target.h"
#include "app/gui/platform/gl.h"
#include "app/gui/platform/imgui_host.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/layout_file.h"
#include "app/gui/platform/start_program.h"
#include "app/gui/platform/system_theme.h"
#include "app/gui/platform/wake_signal.h"
#include "app/gui/shell/shell.h"

namespace hbmscope::gui {

namespace {

#ifdef __EMSCRIPTEN__
constexpr auto how_to_write = std::launch::deferred;  // The page has one thread.
#else
constexpr auto how_to_write = std::launch::async;
#endif

std::filesystem::path layout_path() {
  return state_folder() / "layout.ini";
}

std::string graphics_text() {
  const auto text = [](GLenum name) {
    const auto* const found = reinterpret_cast<const char*>(glGetString(name));
    return std::string(found != nullptr ? found : "?");
  };
  utsname system{};
  const bool is_known = ::uname(&system) == 0;
  return (is_known ? std::string(system.sysname) + " " + system.release + " " + system.machine + "; " : std::string()) +
         "OpenGL " + text(GL_VERSION) + ", " + text(GL_RENDERER) + "; GLFW " + glfwGetVersionString();
}

std::string title_of(const AppState& state) {
  const Source* source = state.source();
  return source == nullptr ? "hbmscope" : source->name() + " - hbmscope";
}

}  // namespace

// Members are in the order of their dependencies: the App's threads use the signal, which uses GLFW, and the shell may
// hold ImGui objects.
class Session::Impl {
 public:
  Impl(const SessionOptions& options, std::unique_ptr<GlWindow> window, std::unique_ptr<ImGuiHost> host,
       std::optional<FrameTarget> target)
      : options_(options),
        window_(std::move(window)),
        host_(std::move(host)),
        target_(std::move(target)),
        signal_(options.surface),
        shell_(std::make_unique<ShellState>()),
        app_(std::make_unique<App>([this] { signal_.wake(); }, options.leaves_no_trace, options.host)) {
    GLFWwindow* handle = window_->handle();
    glfwSetWindowUserPointer(handle, this);
    glfwSetDropCallback(handle, [](GLFWwindow* from, int count, const char** paths) {
      push_open(self(from).app_->commands(), std::vector<std::string>(paths, paths + count));
    });
    glfwSetWindowRefreshCallback(handle, [](GLFWwindow* from) { self(from).redraw_ = true; });
    glfwSetFramebufferSizeCallback(handle, [](GLFWwindow* from, int, int) { self(from).redraw_ = true; });
    if (options_.remember_layout) read_layout(layout_path());
    if (options_.lists_jobs) app_->list_jobs();
    app_->commands().push(command::note_graphics, graphics_text());
  }

  ~Impl() {
    if (!options_.remember_layout) return;
    app_->keep_layout(layout_text());
    app_->save_settings();
  }

  static Impl& self(GLFWwindow* handle) { return *static_cast<Impl*>(glfwGetWindowUserPointer(handle)); }

  // The layout is kept a second after it changed, not only at the end.
  void follow_layout() {
    ImGuiContext& imgui = *ImGui::GetCurrentContext();
    const bool has_changed = imgui.SettingsDirtyTimer > 0 || imgui.IO.WantSaveIniSettings;
    imgui.SettingsDirtyTimer = 0;
    imgui.IO.WantSaveIniSettings = false;
    if (has_changed && options_.remember_layout && !layout_due_)
      layout_due_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  }

  void wait(std::optional<std::chrono::steady_clock::duration> time) {
    if (app_->follows_files())
      time = std::min<std::chrono::steady_clock::duration>(time.value_or(std::chrono::seconds(1)),
                                                           std::chrono::seconds(1));
    if (layout_due_) {
      const auto rest = *layout_due_ - std::chrono::steady_clock::now();
      time = std::min(time.value_or(rest), std::max(rest, std::chrono::steady_clock::duration::zero()));
    }
    if (window_->surface() == Surface::offscreen) {
      signal_.wait(time.value_or(std::chrono::hours(1)));
      glfwPollEvents();
    } else if (!time) {
      glfwWaitEvents();
    } else if (*time <= std::chrono::steady_clock::duration::zero()) {
      glfwPollEvents();
    } else {
      glfwWaitEventsTimeout(std::chrono::duration<double>(*time).count());
    }
  }

  bool update() {
    bool changed = std::exchange(redraw_, false);
    must_show_ |= changed;
    if (layout_due_ && std::chrono::steady_clock::now() >= *layout_due_) {
      layout_due_.reset();
      app_->keep_layout(layout_text());
    }
    if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout)
      app_->commands().push(command::say, writing_.get());
    changed |= ImGui::GetCurrentContext()->InputEventsQueue.Size > 0;
    by_user_ = changed;
    if (by_user_) last_by_user_ = FramePacer::Clock::now();
    changed |= !app_->commands().empty();
    changed |= app_->update();
    follow_system_theme();
    if (!changed) return false;
    if (picture_seen_ != app_->state().window.picture_serial) {
      picture_seen_ = app_->state().window.picture_serial;
      picture_due_ = FramePacer::frames_after_change;  // By then the dialog in which the file name was typed is closed.
    }
    if (program_seen_ != app_->state().window.program_serial) {
      program_seen_ = app_->state().window.program_serial;
      if (const std::string why = start_program(app_->state().window.program); !why.empty())
        app_->commands().push(command::say, why);
    }
    if (std::string title = title_of(app_->state()); title != title_) {
      title_ = std::move(title);
      glfwSetWindowTitle(window_->handle(), title_.c_str());
    }
    return true;
  }

  // Asked when the settings say so: at the start, or from then on.
  void follow_system_theme() {
    const bool follows = app_->state().settings.follows_system && window_->surface() != Surface::offscreen;
    if (follows && !std::exchange(has_asked_theme_, true))
      theme_ = std::async(how_to_write, [this] {
        const auto theme = find_system_theme();
        signal_.wake();
        return theme;
      });
    if (!follows) has_asked_theme_ = false;
    if (!theme_.valid() || theme_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) return;
    if (const auto theme = theme_.get())
      app_->commands().push(command::note_system_theme, *theme);
    else
      app_->commands().push(command::say, "This desktop does not say whether it is dark or light.");
  }

  void draw() {
    apply_theme(app_->state(), options_.scale > 0 ? static_cast<float>(options_.scale) : window_->content_scale());
    host_->begin_frame();
    draw_shell(app_->state(), *shell_, app_->commands());
    follow_layout();
    fit_target();
    drawn_pixels_ = host_->end_frame(ImGui::GetStyle().Colors[ImGuiCol_WindowBg]);
    if (picture_due_ > 0 && --picture_due_ == 0) export_picture();
    const bool is_shown = drawn_pixels_ == 0 && !std::exchange(must_show_, false);
    // Swapping would flush. Without it frames pile up, and one that adds a glyph waits for all of them.
    if (window_->surface() == Surface::offscreen || is_shown) {
      glFlush();
      return;
    }
    if (target_) target_->copy_to_surface();
    glfwSwapBuffers(window_->handle());
  }

  // Makes a target of the window's size and binds it. If the driver refuses, every frame is drawn completely, directly
  // onto the window.
  void fit_target() {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_->handle(), &width, &height);
    const bool has_size = target_ && target_->width() == width && target_->height() == height;
    const bool is_refused = refused_ == std::pair(width, height);  // Don't try the same size again.
    if (window_->surface() != Surface::offscreen && !has_size && !is_refused) {
      target_.reset();
      if (auto made = FrameTarget::make(width, height))
        target_.emplace(std::move(*made));
      else
        refused_ = {width, height};
      host_->forget_frame();
    }
    if (target_)
      target_->bind();
    else
      host_->forget_frame();
    glViewport(0, 0, width, height);
  }

  // The whole window, or the view in front alone, if it is visible. Compressing and writing run outside the frame.
  void export_picture() {
    if (!target_) {
      app_->commands().push(command::say, "The picture can't be exported: the graphics driver can't draw into memory.");
      return;
    }
    const AppState& state = app_->state();
    if (writing_.valid()) writing_.wait();
    Picture picture = target_->read();
    const ImGuiWindow* view = ImGui::FindWindowByName(row_of(state.position().view).title);
    if (state.window.picture_is_of_view && view != nullptr && view->WasActive && !state.window.maximised)
      picture = part_of(picture, static_cast<int>(view->Pos.x), static_cast<int>(view->Pos.y),
                        static_cast<int>(view->Pos.x + view->Size.x), static_cast<int>(view->Pos.y + view->Size.y));
    writing_ = std::async(how_to_write, [this, picture = std::move(picture), file = state.window.picture_file] {
      const auto written = write_png(picture, file);
      signal_.wake();
      return written ? "Wrote " + file + "." : written.error().text();
    });
  }

  SessionOptions options_;
  std::unique_ptr<GlWindow> window_;
  std::unique_ptr<ImGuiHost> host_;
  std::optional<FrameTarget> target_;
  WakeSignal signal_;
  std::unique_ptr<ShellState> shell_;
  std::unique_ptr<App> app_;
  std::string title_;
  bool by_user_ = true;  // The last update had input, or the window asked to be drawn anew.
  FramePacer::Clock::time_point last_by_user_;
  bool redraw_ = true;
  bool must_show_ = true;           // The window system has lost what it showed.
  std::uint64_t drawn_pixels_ = 0;  // By the last frame.
  std::optional<std::chrono::steady_clock::time_point> layout_due_;
  std::pair<int, int> refused_;  // A size for which the driver has no framebuffer.
  std::uint64_t picture_seen_ = 0, program_seen_ = 0;
  int picture_due_ = 0;  // In frames.
  bool has_asked_theme_ = false;
  std::future<std::optional<Theme>> theme_;
  std::future<std::string> writing_;  // The message for when the picture is written. The destructor waits for it.
};

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options) {
  auto window = GlWindow::open(options.surface, options.width, options.height, "hbmscope");
  if (!window) return Failure(window.error());
  auto host = ImGuiHost::start(**window);
  if (!host) return Failure(host.error());
  std::optional<FrameTarget> target;
  if (options.surface == Surface::offscreen) {
    auto made = FrameTarget::make(options.width, options.height);
    if (!made) return Failure(made.error());
    target.emplace(std::move(*made));
  }
  return std::unique_ptr<Session>(
      new Session(std::make_unique<Impl>(options, std::move(*window), std::move(*host), std::move(target))));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

App& Session::app() {
  return *impl_->app_;
}
void Session::wait(std::optional<std::chrono::steady_clock::duration> time) {
  impl_->wait(time);
}
bool Session::update() {
  return impl_->update();
}
bool Session::is_renewal() const {
  const AppState& state = impl_->app_->state();
  if (impl_->by_user_) return false;
  // Somebody who waits for a large file isn't helped by twenty pictures a second, which a processor draws at the
  // expense of the answers.
  bool is_renewal = impl_->app_->busy() && FramePacer::Clock::now() - impl_->last_by_user_ > FramePacer::afterglow;
  for (const Context& context : state.contexts) {
    if (context.is_playing) return false;
    const Source* source = state.find_source(context.position.source);
    is_renewal |= source != nullptr && source->live.has_value();
  }
  return is_renewal;
}
void Session::draw() {
  impl_->draw();
}
std::uint64_t Session::drawn_pixels() const {
  return impl_->drawn_pixels_;
}
void Session::draw_all_anew() {
  impl_->host_->forget_frame();
}
Picture Session::picture() const {
  return impl_->target_->read();
}
bool Session::close_wanted() const {
  return impl_->app_->state().window.quit || glfwWindowShouldClose(impl_->window_->handle());
}

bool Session::input_held() const {
  if (ImGui::IsAnyMouseDown()) return true;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_GamepadStart; ++key)
    if (ImGui::IsKeyDown(static_cast<ImGuiKey>(key))) return true;
  return false;
}

}  // namespace hbmscope::gui
