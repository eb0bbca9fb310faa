#!/usr/bin/env python3
"""The checker on small trees that break one rule each: a check that cannot fail checks nothing."""

import pathlib
import tempfile
import unittest

import check_house

README = "# a folder\n\nWhat it is.\nWhat it owns.\n"


class CheckHouse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("analysis/model/profile.h", "#pragma once\n")
        self.write("app/gui/core/app.h", '#include "analysis/model/profile.h"\n')

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text, readme=True):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        for folder in [file.parent, *file.parent.parents]:
            if readme and folder != self.root and self.root in folder.parents and not (folder / "README.md").exists():
                (folder / "README.md").write_text(README)

    def expect(self, *parts):
        """Exactly one breach, and it says all of this."""
        breaches = check_house.check(self.root)
        self.assertEqual(len(breaches), 1, breaches)
        for part in parts:
            self.assertIn(part, breaches[0])

    def expect_clean(self):
        self.assertEqual(check_house.check(self.root), [])

    def test_a_tree_that_keeps_the_rules(self):
        self.write("app/gui/views/top/draw_top.cpp", '#include <imgui.h>\n#include "app/gui/core/app.h"\n')
        self.write("app/gui/platform/window.h", "#pragma once\n")
        self.write("app/gui/platform/window.cpp", '#include <GLFW/glfw3.h>\n#include "app/gui/platform/window.h"\n')
        self.write("app/main.cpp", '#include "app/gui/platform/window.h"\n')
        self.write("tests/profiles/oracle.cpp", '#include <pprof.pb.h>\n#include "analysis/model/profile.h"\n')
        self.expect_clean()

    def test_analysis_knows_no_window(self):
        self.write("analysis/query/top.cpp", '\n#include "app/gui/core/app.h"\n')
        self.expect("analysis/query/top.cpp:2", "analysis/query may not include", "app/gui/core/app.h")

    def test_the_model_is_below_the_queries(self):
        self.write("analysis/query/top.h", "#pragma once\n")
        self.write("analysis/model/profile.cpp", '#include "analysis/query/top.h"\n')
        self.expect("analysis/model may not include")

    def test_readers_are_hidden_from_views(self):
        self.write("analysis/read/read.h", "#pragma once\n")
        self.write("app/gui/views/open.cpp", '#include "analysis/read/read.h"\n')
        self.expect("app/gui/views may not include")

    def test_core_knows_no_imgui(self):
        self.write("app/gui/core/state.cpp", "#include <imgui.h>\n")
        self.expect("app/gui/core may not include Dear ImGui")

    def test_core_knows_no_implot(self):
        self.write("app/gui/core/state.cpp", "#  include <implot.h>\n")
        self.expect("app/gui/core may not include ImPlot")

    def test_views_know_no_glfw(self):
        self.write("app/gui/views/top.cpp", "#include <GLFW/glfw3.h>\n")
        self.expect("app/gui/views may not include GLFW")

    def test_only_files_that_draw_know_imgui(self):
        self.write("app/gui/views/top/row.h", "#include <imgui.h>\n")
        self.expect("app/gui/views/top/row.h:1", "only draw_* files may include Dear ImGui")

    def test_views_know_no_opengl(self):
        self.write("app/gui/views/top.cpp", "#include <GL/gl.h>\n")
        self.expect("app/gui/views may not include OpenGL")

    def test_commands_know_no_window(self):
        self.write("app/cli/open.cpp", '#include "app/gui/core/app.h"\n')
        self.expect("app/cli may not include")

    def test_main_goes_through_the_platform(self):
        self.write("app/main.cpp", '#include "app/gui/core/app.h"\n')
        self.expect("app may not include")

    def test_readers_know_no_protobuf(self):
        self.write("analysis/read/read.cpp", "#include <google/protobuf/message.h>\n")
        self.expect("analysis/read may not include protobuf")

    def test_readers_know_no_generated_message(self):
        self.write("analysis/read/read.cpp", '#include "pprof.pb.h"\n')
        self.expect("analysis/read may not include protobuf")

    def test_analysis_calls_nothing_that_only_linux_has(self):
        self.write("analysis/read/read.cpp", "#include <sys/epoll.h>\n")
        self.expect("which only Linux has")

    def test_nobody_includes_tests(self):
        self.write("tests/profiles/oracle.h", "#pragma once\n")
        self.write("app/cli/report/report.cpp", '#include "tests/profiles/oracle.h"\n')
        self.expect("app/cli may not include")

    def test_includes_are_written_from_the_root(self):
        self.write("analysis/model/profile.cpp", '#include "profile.h"\n')
        self.expect("not written from the root")

    def test_our_own_headers_take_quotes(self):
        self.write("app/gui/core/state.cpp", "#include <analysis/model/profile.h>\n")
        self.expect("takes quotes")

    def test_an_include_of_nothing(self):
        self.write("app/gui/core/state.cpp", '#include "analysis/model/gone.h"\n')
        self.expect("does not exist")

    def test_a_folder_that_the_table_does_not_know(self):
        self.write("analysis/magic/spell.cpp", '#include "analysis/model/profile.h"\n')
        self.expect("in no row of the table")

    def test_what_a_compiler_cannot_compile(self):
        self.write("analysis/model/sort.cpp", "void f(auto& v) { std::ranges::sort(v); }\n")
        self.expect("analysis/model/sort.cpp:1", "std::ranges::", "clang 14")

    def test_calls_that_throw_at_a_path(self):
        fs, error = "#include <filesystem>\nnamespace fs = std::filesystem;\n", "std::error_code error;\n"
        for line in (
            "bool b = std::filesystem::exists(path);",
            "bool b = ::std::filesystem::is_directory(path / \"a, error\");",
            "bool b = fs::exists(path);  // error",
            "auto p = fs::absolute(given).parent_path();",
            "auto p = fs::current_path();",
            "fs::remove(\n    path);",
            "fs::rename(from, to(error));",
            "fs::create_directories(path, ignored);",
            "auto t = fs::last_write_time(entry.path() / fs::path(name, error));",
            "bool b = is_regular_file(path);",
            "bool f(const fs::directory_entry& entry) { return entry.exists(); }",
            "bool f(auto& one) { return one.is_regular_file(); }",
            "auto f(auto one) { return one->last_write_time(); }",
            "void f() { for (const auto& one : fs::directory_iterator(path, error)) use(one); }",
            "void f() { for (const auto& one : std::filesystem::recursive_directory_iterator(path, error)) use(one); }",
            "void f() { fs::directory_iterator all(path, error); for (const auto& one : all) use(one); }",
            "void f() { for (fs::directory_iterator one(path, error), end; one != end; ++one) use(*one); }",
            "void f() { for (fs::directory_iterator one(path, error), end; one != end; one.increment(error)) one->refresh(); }",
            "std::vector<fs::directory_entry> all{fs::directory_iterator(path), {}};",
            "fs::directory_iterator all{path};",
            "using namespace std::filesystem;",
            "using std::filesystem::exists;",
            "bool b = fs::is_directory(fs::status(path));",
            "bool b = fs::is_directory(fs::status(path, error)) && fs::is_empty(path);",
        ):
            with self.subTest(line):
                self.write("app/cli/look.cpp", fs + error + line + "\n")
                self.expect("app/cli/look.cpp:4: ", "std::error_code")

    def test_calls_that_throw_nothing(self):
        self.write("tests/cli/look.cpp", "bool b = std::filesystem::exists(path);\n")
        self.write(
            "app/cli/look.cpp",
            """
            namespace fs = std::filesystem;
            // fs::exists(path) throws, and so does
            const char* text = "fs::exists(path)"; const char* program = R"(os.path.exists(file) and fs::exists(path))";
            bool f(const fs::path& path, std::error_code& error) {
              std::error_code one, ignored;
              const fs::file_status found = fs::symlink_status(path, error);
              const auto other = fs::status(path, one);
              if (fs::exists(found) || fs::is_directory(other) || fs::exists(fs::status(path / name(1, 2), ignored))) return true;
              for (fs::directory_iterator entry(path, error), end; entry != end; entry.increment(error))
                if (entry->is_regular_file(one) && entry->file_size(one) > 0) return true;
              for (const std::string& name : list(fs::path(path))) use(name);
              fs::copy(path, path / "copy", fs::copy_options::recursive, error);
              status.remove(path), remove(path.c_str()), model.exists(name), fs::path("a").is_absolute();
              return fs::current_path(error) == path && found != fs::file_status() && 1'000 < fs::file_size(path, ignored);
            }
            """,
        )
        self.write("app/cli/own.cpp", "#include <filesystem>\nbool is_directory(const Row& row) { return row.n > 0; }\nbool b = is_directory(rows[0]);\n")
        self.expect_clean()

    def test_a_file_that_is_too_long(self):
        self.write("analysis/model/long.cpp", "int x;\n" * 501)
        self.expect("analysis/model/long.cpp", "501 lines")

    def test_a_file_of_just_the_length(self):
        self.write("analysis/model/long.cpp", "int x;\n" * 500)
        self.expect_clean()

    def test_a_folder_of_folders_without_readme(self):
        self.write("analysis/read/pprof/read_pprof.cpp", "int x;\n", readme=False)
        self.expect("analysis/read:", "no README.md")

    def test_a_top_folder_without_readme(self):
        self.write("samples/arrays.py", "", readme=False)
        self.expect("samples:", "no README.md")

    def test_a_leaf_needs_no_readme(self):
        self.write("analysis/units/format.cpp", "int x;\n", readme=False)
        self.expect_clean()

    def test_a_readme_that_says_nothing(self):
        (self.root / "analysis/model/README.md").write_text("# model\n")
        self.expect("says too little")

    def test_a_folder_for_everything(self):
        self.write("analysis/model/util/strings.h", "#pragma once\n")
        self.expect("no folder is called util")


if __name__ == "__main__":
    unittest.main()
