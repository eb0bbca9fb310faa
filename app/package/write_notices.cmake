# Writes FILE: our licence, and those of all that is linked into the programs. PACKAGES: Debian's, whose notices are in
# /usr/share/doc; BUNDLE: the folder of Dear ImGui's source archive.
file(READ ${LICENCE} text)
string(PREPEND text "hbmscope is licensed as follows. Below are the notices of the software that is a part of it.\n\n")
separate_arguments(PACKAGES UNIX_COMMAND "${PACKAGES}")
foreach(package IN LISTS PACKAGES)
  set(file /usr/share/doc/${package}/copyright)
  if(EXISTS ${file})
    file(READ ${file} notice)
    string(APPEND text "\n--- ${package}\n\n${notice}")
  endif()
endforeach()
if(BUNDLE)
  file(GLOB notices ${BUNDLE}/imgui/imgui/LICENSE.txt ${BUNDLE}/implot/implot/LICENSE ${BUNDLE}/glfw/glfw/LICENSE.md ${BUNDLE}/imgui-command-palette/imgui-command-palette/LICENSE*)
  foreach(file IN LISTS notices)
    file(READ ${file} notice)
    file(RELATIVE_PATH name ${BUNDLE} ${file})
    string(APPEND text "\n--- ${name}\n\n${notice}")
  endforeach()
  string(APPEND text "\n--- Noto Sans (Apache License 2.0, as above) and Inconsolata (SIL Open Font License 1.1: https://openfontlicense.org)\n")
endif()
string(APPEND text "\n--- Replacing a library\n\n"
  "lib/hbmscope/hbmscope_source_lines contains libdw of elfutils, and the programs for servers the GNU C library, both unmodified and under "
  "the LGPL. Debian has their sources (apt source elfutils, apt source glibc; https://snapshot.debian.org); hbmscope's own are under the Apache "
  "License. To use another version of either, install it and build hbmscope from source.\n")
# On other distributions there is no such folder.
foreach(licence Apache-2.0 CC0-1.0 GPL-2 GPL-3 LGPL-2 LGPL-2.1 LGPL-3)
  if(text MATCHES "common-licenses/${licence}[^0-9.]" AND EXISTS /usr/share/common-licenses/${licence})
    file(READ /usr/share/common-licenses/${licence} licence_text)
    string(APPEND text "\n--- ${licence}, as /usr/share/common-licenses/${licence} of Debian\n\n${licence_text}")
  endif()
endforeach()
file(WRITE ${FILE} "${text}")
